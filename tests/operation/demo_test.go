package operation

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// As soon as the server is ready, callers can read schedules of the demonstration.
func TestAReadyServerHasTheDemonstration(t *testing.T) {
	t.Parallel()
	api := scenario.API{Target: launch.Standalone(t, "--demo").Target(t)}
	var page struct {
		Propagations []struct{ Cause, State string }
	}
	_, err := api.Call(t.Context(), http.MethodPost, "/v1/scheduling/propagations/multi_read", scenario.Object{"count": 1000}, &page)
	require.NoError(t, err)
	patterns := 0
	for _, p := range page.Propagations {
		if p.Cause == "PATTERN" {
			patterns++
			assert.Equal(t, "FINISHED", p.State)
		}
	}
	assert.Positive(t, patterns)
}

// The demonstration has applications at every step. The candidate that is hired works by the rotation of the
// employment term.
func TestTheDemonstrationRecruits(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t, "--demo")
	api := scenario.API{Target: server.Target(t)}
	count := func(list string, key func(scenario.Object) any) map[any]int {
		var items []scenario.Object
		_, err := api.Call(t.Context(), http.MethodGet, "/v1/recruiting/"+list+"?limit=500", nil, &items)
		require.NoError(t, err)
		counts := map[any]int{}
		for _, item := range items {
			counts[key(item)]++
		}
		return counts
	}
	statuses := count("opportunities", func(o scenario.Object) any { return o["status"] })
	assert.Equal(t, map[any]int{"Published": 4, "Draft": 1}, statuses)
	assert.Equal(t, map[any]int{true: 40}, count("candidates", func(o scenario.Object) any { return o["is_active"] }))
	steps := count("applications", func(o scenario.Object) any { return o["step"].(map[string]any)["name"] })
	for _, step := range []string{"Applied", "Screening", "Interview", "Offer"} {
		assert.GreaterOrEqual(t, steps[step], 7, step)
	}
	assert.Equal(t, 1, steps["Hired"])
	assert.Equal(t, map[any]int{false: 39, true: 1}, count("applications", func(o scenario.Object) any { return o["is_processed"] }))

	var persons []struct {
		PersonInformation struct{ Person struct{ HireDate string } }
	}
	_, err := api.Call(t.Context(), http.MethodPost, "/v1/commons/persons/multi_read", scenario.Object{
		"where": scenario.Object{"employees": scenario.Object{"key": "personnumber", "values": []string{"D-2001"}}},
	}, &persons)
	require.NoError(t, err)
	require.Len(t, persons, 1)
	hired, err := time.Parse(time.DateOnly, persons[0].PersonInformation.Person.HireDate)
	require.NoError(t, err)
	var schedule struct {
		Shifts []struct{ StartDateTime string }
	}
	_, err = api.Call(t.Context(), http.MethodPost, "/v1/scheduling/schedule/multi_read", scenario.Object{
		"select": []string{"SHIFTS"}, "where": scenario.Object{"employees": scenario.Object{
			"employeeRefs": scenario.Object{"qualifiers": []string{"D-2001"}}, "startDate": hired.Format(time.DateOnly), "endDate": hired.AddDate(0, 0, 27).Format(time.DateOnly),
		}},
	}, &schedule)
	require.NoError(t, err)
	assert.Len(t, schedule.Shifts, 14, "the rotation Panama 2-2-3 has 14 shifts in 28 days")
}
