package operation

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// The server is killed, and started again at once. No leftover file prevents the start, and all
// accepted changes are there, including the last one.
func TestStartsAgainAfterACrash(t *testing.T) {
	t.Parallel()
	server := launch.StandaloneIn(t, t.TempDir(), shortTimeouts)
	api := scenario.API{Target: server.Target(t)}
	crew, assigned := working(t, api, 200)
	for _, next := range []struct {
		pattern scenario.Object
		starts  string
	}{{late, day + "T14:00:00"}, {early, day + "T06:00:00"}} {
		applied, err := crew.Recreate(t.Context(), api, assigned.ID, next.pattern, day)
		require.NoError(t, err)
		server.Kill(t)
		credentials := server.Credentials
		server = launch.StandaloneIn(t, server.StateDir, shortTimeouts)
		require.Equal(t, credentials, server.Credentials)
		require.True(t, launch.LoginWorks(t, server.Client, server.Ready))

		api.BaseURL, api.Client = server.BaseURL, server.Client // The token is from before the crash.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		p, err := scenario.Finish(ctx, api, applied.Propagation)
		require.NoError(t, err)
		require.EqualValues(t, 200, p.EmployeesDone)
		shifts, err := scenario.ReadShifts(t.Context(), api, crew.Persons, day, day)
		require.NoError(t, err)
		require.Len(t, shifts, 200)
		require.False(t, slices.ContainsFunc(shifts, func(s scenario.ShiftOf) bool { return s.StartDateTime != next.starts }))
	}
}

// The demonstration is completed after a crash, and created once.
func TestDemonstrationIsCreatedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	crashing := launch.Start(t, launch.Build(t, program), nil,
		"serve", "--demo", "--listen", "127.0.0.1:0", "--admin-address", "", "--state-dir", dir)
	launch.Await(t, 2*time.Minute, "some persons are there", func() bool {
		return strings.Count(crashing.Output(), "/v1/commons/persons/multi_create") >= 3
	})
	crashing.Kill(t)

	server := launch.StandaloneIn(t, dir, nil, "--demo")
	created := countDemoRows(t, server)
	require.NotZero(t, created["terms"])
	require.Equal(t, created["terms"], created["assignments"])
	require.Equal(t, 1, created["the last person"])
	stop(t, server)

	server = launch.StandaloneIn(t, dir, nil, "--demo", "--log-level", "info")
	require.Equal(t, created, countDemoRows(t, server))
	require.NotContains(t, server.Output(), "demonstration created")
}

// countDemoRows counts the objects of the demonstration.
func countDemoRows(t *testing.T, server *launch.Server) map[string]int {
	t.Helper()
	api := scenario.API{Target: server.Target(t)}
	counts := map[string]int{}
	var terms []struct{ ID int64 }
	for name, path := range map[string]string{
		"shift templates":   "/v1/scheduling/shift_templates",
		"pattern templates": "/v1/scheduling/schedule_pattern_templates",
		"terms":             "/v1/timekeeping/setup/employment_terms",
	} {
		var list []struct{ ID int64 }
		_, err := api.Call(t.Context(), http.MethodGet, path, nil, &list)
		require.NoError(t, err)
		counts[name] = len(list)
		if name == "terms" {
			terms = list
		}
	}
	var refs []scenario.Object
	for _, term := range terms {
		refs = append(refs, scenario.Object{"id": term.ID})
	}
	var found struct{ GroupSchedulePatterns []struct{ ID int64 } }
	_, err := api.Call(t.Context(), http.MethodPost, "/v1/scheduling/employment_term_schedule_patterns/multi_read", scenario.Object{
		"select": "gsp", "where": scenario.Object{"groups": scenario.Object{"groupRefs": refs}},
	}, &found)
	require.NoError(t, err)
	counts["assignments"] = len(found.GroupSchedulePatterns)
	_, err = api.Call(t.Context(), http.MethodPost, "/v1/scheduling/schedule/multi_read", scenario.Object{
		"select": []string{"SHIFTS"}, "where": scenario.Object{"employees": scenario.Object{
			"employeeRefs": scenario.Object{"qualifiers": []string{"D-2000"}}, "startDate": day, "endDate": day,
		}},
	}, nil)
	require.NoError(t, err)
	counts["the last person"] = 1
	return counts
}
