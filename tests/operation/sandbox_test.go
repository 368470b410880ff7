package operation

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	sandboxHost  = "sandbox.example.org"
	clockPath    = "/v1/platform/sandbox/clock"
	userPassword = "Correct-horse-27"
)

// sandboxClock is the clock of a sandbox in responses.
type sandboxClock struct {
	DateTime, LatestDateTime time.Time
	AheadSeconds             *int64
	DueWork                  []struct {
		DateTime time.Time
		Action   string
		Person   struct{ ID int64 }
	}
}

// hosted sends requests to the host name of a tenant.
type hosted struct {
	host string
	http.RoundTripper
}

func (h hosted) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = h.host
	return h.RoundTripper.RoundTrip(r)
}

// sandboxTenant is a sandbox with a logged-in administrator.
type sandboxTenant struct {
	scenario.API
	values map[string]string
}

// newSandbox returns the sandbox that an operator's command has created, from its output.
func newSandbox(t *testing.T, ready launch.Ready, client *http.Client, created string) *sandboxTenant {
	t.Helper()
	s := &sandboxTenant{values: map[string]string{}}
	for line := range strings.Lines(created) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		s.values[key] = value
	}
	require.Equal(t, "true", s.values["sandbox"], created)
	s.Target = contract.Target{
		BaseURL: ready.BaseURL, Values: s.values,
		Client: &http.Client{Transport: hosted{sandboxHost, client.Transport}, Timeout: time.Minute},
	}
	launch.Await(t, time.Minute, "the edge knows the host name of the tenant", func() bool {
		var err error
		s.Token, err = contract.Login(t.Context(), s.Target)
		return err == nil
	})
	return s
}

// do sends a request that must succeed.
func (s *sandboxTenant) do(t *testing.T, method, path string, body, reply any) {
	t.Helper()
	_, err := s.Call(t.Context(), method, path, body, reply)
	require.NoError(t, err)
}

// advance advances the clock and returns it.
func (s *sandboxTenant) advance(t *testing.T, to scenario.Object) sandboxClock {
	t.Helper()
	var c sandboxClock
	s.do(t, http.MethodPost, clockPath, to, &c)
	return c
}

// canLogIn reports whether the user of an employee can log in.
func (s *sandboxTenant) canLogIn(t *testing.T, name string) bool {
	t.Helper()
	target := s.Target
	target.Values = map[string]string{"username": name, "password": userPassword, "client_id": s.values["client_id"], "client_secret": s.values["client_secret"]}
	_, err := contract.Login(t.Context(), target)
	return err == nil
}

// balance returns the days of vacation of an employee today.
func (s *sandboxTenant) balance(t *testing.T, employee int64) float64 {
	t.Helper()
	var found []struct {
		Balances []struct {
			DayBalances []struct{ AvailableBalanceInDays float64 }
		}
	}
	s.do(t, http.MethodGet, fmt.Sprintf("/v1/scheduling/timeoff/accruals?employee_id=%d&subtype_name=Vacation", employee), nil, &found)
	require.Len(t, found, 1)
	require.Len(t, found[0].Balances, 1)
	return found[0].Balances[0].DayBalances[0].AvailableBalanceInDays
}

// worksToday reports whether an employee has a shift today.
func (s *sandboxTenant) worksToday(t *testing.T, employee int64) bool {
	t.Helper()
	var found struct{ Shifts []scenario.Object }
	s.do(t, http.MethodPost, "/v1/scheduling/schedule/multi_read", scenario.Object{"select": []string{"SHIFTS"}, "where": scenario.Object{
		"employees": scenario.Object{"employees": scenario.Object{"ids": []int64{employee}}, "dateRange": scenario.Object{"symbolicPeriod": scenario.Object{"qualifier": "Today"}}},
	}}, &found)
	return len(found.Shifts) > 0
}

// hire creates an employee with a log-in, whose status is Terminated from a day on.
func (s *sandboxTenant) hire(t *testing.T, name string, from, leaves time.Time, person scenario.Object) int64 {
	t.Helper()
	person["personNumber"], person["firstName"], person["lastName"], person["hireDate"] = name, name, "Sand", from.Format(time.DateOnly)
	information := scenario.Object{"person": person, "accessAssignment": scenario.Object{"accessProfileName": "Employee"}}
	if !leaves.IsZero() {
		information["employmentStatusList"] = []scenario.Object{
			{"employmentStatusName": "Active", "effectiveDate": from.Format(time.DateOnly)},
			{"employmentStatusName": "Terminated", "effectiveDate": leaves.Format(time.DateOnly)},
		}
	}
	var created struct{ PersonIdentity struct{ PersonKey int64 } }
	s.do(t, http.MethodPost, "/v1/commons/persons", scenario.Object{
		"personInformation": information,
		"jobAssignment":     scenario.Object{"jobAssignmentDetails": scenario.Object{"timeZoneName": "UTC"}},
		"user":              scenario.Object{"userAccount": scenario.Object{"userName": name, "userPassword": userPassword}},
	}, &created)
	return created.PersonIdentity.PersonKey
}

// requireRefused requires a refusal with a status and an error code.
func requireRefused(t *testing.T, api scenario.API, body scenario.Object, status int, code string) {
	t.Helper()
	_, err := api.Call(t.Context(), http.MethodPost, clockPath, body, nil)
	var refused *scenario.Refused
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, status, refused.Status)
	assert.Contains(t, string(refused.Body), code)
}

// An operator creates a sandbox, and its administrator tests a year in it: in one process, and in
// separate ones.
func TestAYearPassesInASandbox(t *testing.T) {
	t.Parallel()
	create := []string{"tenant", "create", "Tests", "--host", sandboxHost, "--sandbox"}
	t.Run("one process", func(t *testing.T) {
		t.Parallel()
		server := launch.Standalone(t)
		o := newOperator(t)
		testYear(t, newSandbox(t, server.Ready, server.Client, o.run(append(create, "--state-dir", server.StateDir)...)), scenario.API{Target: server.Target(t)})
		assert.Regexp(t, `(?m)^1 .* real time .*\n2 .* sandbox at \S+Z +Tests$`, o.run("tenant", "list", "--state-dir", server.StateDir))
	})
	t.Run("separate processes", func(t *testing.T) {
		t.Parallel()
		d := launch.Deployed(t)
		testYear(t, newSandbox(t, d.Ready, d.Client, d.Operate(t, "auth", create...)), scenario.API{Target: launch.Login(t, d.Client, d.Ready)})
	})
}

func testYear(t *testing.T, s *sandboxTenant, other scenario.API) {
	t.Helper()
	var began sandboxClock
	s.do(t, http.MethodGet, clockPath, nil, &began)
	require.NotNil(t, began.AheadSeconds)
	assert.Zero(t, *began.AheadSeconds)
	assert.WithinDuration(t, time.Now(), began.DateTime, time.Minute)
	// Noon, so that the test does not pass midnight.
	noon := began.DateTime.Truncate(24 * time.Hour).Add(36 * time.Hour)
	s.advance(t, scenario.Object{"dateTime": noon.Format(time.RFC3339)})

	s.do(t, http.MethodPost, "/v1/timekeeping/setup/pay_codes", scenario.Object{"name": "Vacation"}, nil)
	s.do(t, http.MethodPost, "/v1/timekeeping/setup/accrual_codes", scenario.Object{"name": "Vacation", "unit": "DAY", "payCodes": []scenario.Object{{"qualifier": "Vacation"}}}, nil)
	s.do(t, http.MethodPost, "/v1/timekeeping/setup/accrual_profiles", scenario.Object{"name": "Staff", "accrualPolicies": []scenario.Object{
		{"accrualCode": scenario.Object{"qualifier": "Vacation"}, "grantAmount": 24, "carryOverLimit": 5},
	}}, nil)
	s.do(t, http.MethodPost, "/v1/scheduling/setup/request_subtypes", scenario.Object{"timeOffRequest": scenario.Object{
		"name": "Vacation", "defaultPayCode": scenario.Object{"qualifier": "Vacation"},
	}}, nil)
	january := time.Date(noon.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	stays := s.hire(t, "stays", january, time.Time{}, scenario.Object{"accrualProfileName": "Staff", "accrualProfileEffectiveDate": january.Format(time.DateOnly)})
	earlier := january.AddDate(-1, 0, 0)
	later := s.hire(t, "later", earlier, noon.AddDate(0, 0, 200), scenario.Object{})
	sooner := s.hire(t, "sooner", earlier, noon.AddDate(0, 0, 100), scenario.Object{})
	// A rotation of 52 weeks with one shift, on its first day.
	s.do(t, http.MethodPost, "/v1/scheduling/employee_schedule_patterns/apply_create", scenario.Object{"employeeSchedulePatterns": scenario.Object{
		"do": scenario.Object{"employeeSchedulePatternCreates": []scenario.Object{{"employeeSchedulePattern": scenario.Object{
			"employeeRef": scenario.Object{"id": stays}, "startDate": noon.Format(time.DateOnly),
			"schedulePattern": scenario.Pattern("E"+strings.Repeat("-", 52*7-1), map[string]scenario.Object{"E": scenario.Shift("E", "06:00", "14:00", false)}),
		}}}},
	}}, nil)
	launch.Await(t, time.Minute, "the rotation is applied", func() bool { return s.worksToday(t, stays) })
	assert.True(t, s.canLogIn(t, "later") && s.canLogIn(t, "sooner"))
	assert.InDelta(t, 24, s.balance(t, stays), 0)
	// Auth learns of terminations shortly after the change, in their order. This one has been.
	s.hire(t, "gone", earlier, noon.AddDate(0, 0, -1), scenario.Object{})
	launch.Await(t, time.Minute, "auth knows the terminations", func() bool { return !s.canLogIn(t, "gone") })

	s.advance(t, scenario.Object{"advance": "P1D"})
	assert.False(t, s.worksToday(t, stays), "the second day of the rotation")
	done := s.advance(t, scenario.Object{"dateTime": noon.AddDate(0, 0, 52*7).Format(time.RFC3339)})
	require.Len(t, done.DueWork, 2)
	for i, want := range []struct {
		person int64
		day    int
	}{{sooner, 100}, {later, 200}} {
		assert.Equal(t, "LOCK_OUT", done.DueWork[i].Action)
		assert.Equal(t, want.person, done.DueWork[i].Person.ID)
		assert.Equal(t, noon.AddDate(0, 0, want.day).Format(time.DateOnly), done.DueWork[i].DateTime.Format(time.DateOnly))
	}
	assert.True(t, s.worksToday(t, stays), "the rotation begins again")
	assert.False(t, s.canLogIn(t, "later") || s.canLogIn(t, "sooner"), "their employment is over")
	assert.True(t, s.canLogIn(t, "stays"))
	s.advance(t, scenario.Object{"dateTime": time.Date(noon.Year()+1, 12, 31, 12, 0, 0, 0, time.UTC).Format(time.RFC3339)})
	assert.InDelta(t, 29, s.balance(t, stays), 0, "a new accrual year, with what is carried over")

	requireRefused(t, s.API, scenario.Object{"dateTime": noon.Format(time.RFC3339)}, http.StatusConflict, "WRL-60902")
	requireRefused(t, s.API, scenario.Object{"advance": "P10Y"}, http.StatusBadRequest, "WRL-60903")
	requireRefused(t, other, scenario.Object{"advance": "P1D"}, http.StatusNotFound, "WRL-60901")
}
