package operation

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// companySeconds is the time in which a quiet machine with two processors creates the demonstration.
	companySeconds = 15
	// companyProcessor is the processor time of the server and its database for it. Other processes slow a machine down
	// without adding to it, except that two threads share a core: then the same work needs up to half as much again.
	companyProcessor = 15 * time.Second * 3 / 2
)

// company is a server with the demonstration.
type company struct {
	*launch.Server
	admin scenario.API
}

// read calls an operation as the administrator.
func (c company) read(t *testing.T, method, path string, body, reply any) {
	t.Helper()
	_, err := c.admin.Call(t.Context(), method, path, body, reply)
	require.NoError(t, err)
}

// The demonstration has every kind of content of a company, and is created in time.
func TestTheDemonstrationIsACompany(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t, "--demo", "--admin-address", "127.0.0.1:0")
	c := company{server, scenario.API{Target: server.Target(t)}}
	for name, check := range map[string]func(*testing.T){
		"time":       c.checkTime,
		"setup":      c.checkSetup,
		"persons":    c.checkPersons,
		"everybody":  c.checkEverybody,
		"managers":   c.checkManagers,
		"log-ins":    c.checkLogins,
		"exceptions": c.checkExceptions,
		"balances":   c.checkBalances,
		"time off":   c.checkTimeOff,
		"payroll":    c.checkPayroll,
		"messages":   c.checkMessages,
		"metrics":    c.checkSeries,
		"holidays":   c.checkHolidays,
	} {
		t.Run(name, check)
	}
}

func (c company) checkTime(t *testing.T) {
	found := regexp.MustCompile(`complete after ([0-9.]+) s`).FindStringSubmatch(c.Output())
	require.NotNil(t, found, c.Output())
	seconds, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	postmaster, err := harness.FirstNumber(filepath.Join(c.StateDir, "postgresql", "data", "postmaster.pid"))
	require.NoError(t, err)
	used, err := harness.ProcessorTimes(c.Process.Process.Pid, postmaster)
	require.NoError(t, err)
	t.Logf("the demonstration took %.1f s, and the server and its database %s of processor time", seconds, used)
	if seconds > companySeconds {
		assert.LessOrEqual(t, used, companyProcessor, "a loaded machine explains no more than this processor time")
	}
}

func (c company) checkSetup(t *testing.T) {
	for path, names := range map[string][]string{
		"commons/location_types":             {"Company", "Job", "Site"},
		"timekeeping/setup/pay_codes":        {"Regular", "Overtime", "Vacation", "Sick", "Training", "Bonus"},
		"timekeeping/setup/pay_rules":        {"Hourly, 40-hour week", "Hourly, 44-hour week", "Hourly, 45-hour week", "Salaried", "Recorded elsewhere"},
		"timekeeping/setup/work_rules":       {"Production", "Instruction"},
		"timekeeping/setup/accrual_codes":    {"Vacation", "Sick leave"},
		"timekeeping/setup/accrual_profiles": {"Operators", "Staff"},
	} {
		var list []struct{ Name string }
		c.read(t, http.MethodGet, "/v1/"+path, nil, &list)
		var found []string
		for _, item := range list {
			found = append(found, item.Name)
		}
		assert.ElementsMatch(t, names, found, path)
	}
}

func (c company) checkHolidays(t *testing.T) {
	var list []struct {
		Rule struct{ PublicHoliday struct{ Region string } }
	}
	c.read(t, http.MethodGet, "/v1/commons/setup/holidays", nil, &list)
	regions := map[string]int{}
	for _, holiday := range list {
		regions[holiday.Rule.PublicHoliday.Region]++
	}
	assert.GreaterOrEqual(t, regions["CH"], 5)
	assert.GreaterOrEqual(t, regions["US"], 5)
}

func (c company) checkPersons(t *testing.T) {
	var persons []struct {
		PersonInformation struct {
			Person struct {
				FullTimeEquivalencies []struct{ FullTimePercentage float64 }
			}
			BadgeAssignments   []struct{ BadgeNumber string }
			PersonLicenseTypes []struct{ LicenseTypeName string }
		}
		JobAssignment struct {
			JobAssignmentDetails struct{ PayRuleName, SupervisorPersonNumber string }
			BaseWageRates        []struct{ HourlyRate float64 }
		}
	}
	c.read(t, http.MethodPost, "/v1/commons/persons/multi_read", scenario.Object{
		"where": scenario.Object{"employees": scenario.Object{"key": "personnumber", "values": []string{"D-0001", "D-1500", "D-2000", "D-2001"}}},
	}, &persons)
	require.Len(t, persons, 4)
	for _, p := range persons {
		require.Len(t, p.PersonInformation.Person.FullTimeEquivalencies, 1)
		assert.Contains(t, []float64{80, 100}, p.PersonInformation.Person.FullTimeEquivalencies[0].FullTimePercentage)
		assert.Len(t, p.PersonInformation.BadgeAssignments, 1)
		assert.Len(t, p.PersonInformation.PersonLicenseTypes, 4)
		assert.NotEmpty(t, p.JobAssignment.JobAssignmentDetails.PayRuleName)
		assert.NotEmpty(t, p.JobAssignment.JobAssignmentDetails.SupervisorPersonNumber)
		require.Len(t, p.JobAssignment.BaseWageRates, 1)
		assert.Positive(t, p.JobAssignment.BaseWageRates[0].HourlyRate)
	}
}

// checkEverybody checks that each person is an employee, and that the extension of one tells it.
func (c company) checkEverybody(t *testing.T) {
	today := time.Now().UTC().Format(time.DateOnly)
	count := func(employees bool) int {
		var found struct{ Count int }
		c.read(t, http.MethodPost, "/v1/commons/hyperfind/execute", scenario.Object{
			"dateRange": scenario.Object{"startDate": today, "endDate": today}, "hyperfind": scenario.Object{"qualifier": "All Home"},
			"isEmployee": employees, "threshold": 10000,
		}, &found)
		return found.Count
	}
	all := count(false)
	assert.Equal(t, 2008, all, "2000 operators, a new hire and seven members of the staff")
	assert.Equal(t, all, count(true))
	for number, manager := range map[string]bool{"D-0001": false, "D-2001": false, "M-0001": true, "A-0001": false} {
		var person struct {
			EmployeeExtension struct{ IsEmployee, IsManager bool }
		}
		c.read(t, http.MethodGet, "/v1/commons/persons/employee?person_number="+number, nil, &person)
		assert.True(t, person.EmployeeExtension.IsEmployee, number)
		assert.Equal(t, manager, person.EmployeeExtension.IsManager, number)
	}
}

// logIn returns the API for a user of the demonstration.
func (c company) logIn(t *testing.T, username string) scenario.API {
	t.Helper()
	var demo struct{ Password string }
	data, err := os.ReadFile(filepath.Join(c.StateDir, "demo.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &demo))
	ready := c.Ready
	ready.Credentials.Username, ready.Credentials.Password = username, demo.Password
	return scenario.API{Target: launch.Login(t, c.Client, ready)}
}

func (c company) checkLogins(t *testing.T) {
	for username, number := range map[string]string{
		"administrator": "A-0001", "planner": "A-0002", "payroll": "A-0003", "manager.newyork": "M-0002", "manager.saopaulo": "M-0003", "employee1": "D-0001", "employee8": "D-0008",
	} {
		var user struct{ PersonNumber string }
		_, err := c.logIn(t, username).Call(t.Context(), http.MethodGet, "/v1/commons/persons/current_user_info", nil, &user)
		require.NoError(t, err)
		assert.Equal(t, number, user.PersonNumber)
	}
}

// checkManagers checks that a manager sees the own site and no other.
func (c company) checkManagers(t *testing.T) {
	manager := c.logIn(t, "manager.zurich")
	for number, sees := range map[string]bool{"D-0001": true, "D-0005": true, "D-0002": false} {
		_, err := manager.Call(t.Context(), http.MethodGet, "/v1/commons/persons/employee?person_number="+number, nil, nil)
		assert.Equal(t, sees, err == nil, "%s: %v", number, err)
	}
}

// lastMonth returns a range that includes the days with punches in each time zone.
func lastMonth() scenario.Object {
	now := time.Now().UTC()
	return scenario.Object{"startDate": now.AddDate(0, 0, -31).Format(time.DateOnly), "endDate": now.AddDate(0, 0, 1).Format(time.DateOnly)}
}

func (c company) checkExceptions(t *testing.T) {
	var numbers []string
	for i := range 40 {
		numbers = append(numbers, fmt.Sprintf("D-%04d", i+1))
	}
	var cards []struct {
		Exceptions []struct{ ExceptionType struct{ Name string } }
		Totals     []struct{ Paycode struct{ Qualifier string } }
	}
	c.read(t, http.MethodPost, "/v1/timekeeping/timecard/multi_read", scenario.Object{
		"select": []string{"EXCEPTIONS", "TOTALS"}, "where": scenario.Object{"employees": scenario.Object{"qualifiers": numbers}, "dateRange": lastMonth()},
	}, &cards)
	found, paid := map[string]int{}, map[string]int{}
	for _, card := range cards {
		for _, e := range card.Exceptions {
			found[e.ExceptionType.Name]++
		}
		for _, total := range card.Totals {
			paid[total.Paycode.Qualifier]++
		}
	}
	for _, name := range []string{"MISSED_IN_PUNCH", "MISSED_OUT_PUNCH", "LATE_IN", "EARLY_OUT", "UNEXCUSED_ABSENCE"} {
		assert.Positive(t, found[name], name)
	}
	for _, name := range []string{"Regular", "Overtime", "Vacation"} {
		assert.Positive(t, paid[name], name)
	}
}

// checkBalances checks the balance of an employee on the approved day off, which costs one of thirty days: 25 of the
// year, and five of the year before.
func (c company) checkBalances(t *testing.T) {
	var requests []struct{ Periods []struct{ StartDate string } }
	c.read(t, http.MethodPost, "/v1/scheduling/timeoff/multi_read", scenario.Object{"where": scenario.Object{"states": scenario.Object{
		"completionState": "COMPLETE", "employeeRefs": scenario.Object{"qualifiers": []string{"D-0008"}}, "startDate": lastMonth()["startDate"], "endDate": lastMonth()["endDate"],
	}}}, &requests)
	require.Len(t, requests, 1)
	for number, want := range map[string]float64{"D-0001": 30, "D-0008": 29} {
		var codes []struct {
			Balances []struct {
				DayBalances []struct{ AvailableBalanceInDays float64 }
			}
		}
		c.read(t, http.MethodGet, "/v1/scheduling/timeoff/accruals?subtype_name=Vacation&person_number="+number+"&date="+requests[0].Periods[0].StartDate, nil, &codes)
		require.Len(t, codes, 1, number)
		assert.InDelta(t, want, codes[0].Balances[0].DayBalances[0].AvailableBalanceInDays, 0.01, number)
	}
}

func (c company) checkTimeOff(t *testing.T) {
	var numbers []string
	for i := range 8 {
		numbers = append(numbers, fmt.Sprintf("D-%04d", i+1))
	}
	now, states := time.Now().UTC(), map[string]int{}
	for _, completion := range []string{"INCOMPLETE", "COMPLETE"} {
		var requests []struct{ CurrentStatus struct{ SymbolicID string } }
		c.read(t, http.MethodPost, "/v1/scheduling/timeoff/multi_read", scenario.Object{"where": scenario.Object{"states": scenario.Object{
			"completionState": completion, "employeeRefs": scenario.Object{"qualifiers": numbers},
			"startDate": now.AddDate(0, 0, -31).Format(time.DateOnly), "endDate": now.AddDate(0, 0, 90).Format(time.DateOnly),
		}}}, &requests)
		for _, r := range requests {
			states[r.CurrentStatus.SymbolicID]++
		}
	}
	assert.Equal(t, map[string]int{
		"SUBMITTED": 1, "PENDING": 1, "APPROVED": 2, "REFUSED": 1, "CANCELSUBMITTED": 1, "CANCELLED": 1, "RETRACTED": 1,
	}, states)
}

func (c company) checkPayroll(t *testing.T) {
	var exports struct {
		Records []struct{ ExecutionKey, State string }
	}
	c.read(t, http.MethodGet, "/v1/commons/payroll/export/async", nil, &exports)
	require.Len(t, exports.Records, 1)
	require.Equal(t, "SUCCESSFUL", exports.Records[0].State)
	_, text, err := c.admin.Bytes(t.Context(), http.MethodGet, "/v1/commons/payroll/export/async/"+exports.Records[0].ExecutionKey+"/response", nil)
	require.NoError(t, err)
	lines := string(text)
	assert.Greater(t, strings.Count(lines, "\n"), 500*5)
	for _, code := range []string{",Regular,", ",Overtime,", ",Vacation,"} {
		assert.Contains(t, lines, code)
	}
}

func (c company) checkMessages(t *testing.T) {
	var log struct {
		Deliveries []struct{ Subject string }
	}
	c.read(t, http.MethodPost, "/v1/platform/messaging/deliveries/multi_read", scenario.Object{"count": 100}, &log)
	require.Len(t, log.Deliveries, 8)
	assert.Contains(t, log.Deliveries[0].Subject, "Your roster of ")
}
