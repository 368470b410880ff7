package model

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	shifts   = "/v1/scheduling/schedule/shifts"
	payCodes = "/v1/scheduling/schedule/pay_code_edits"
	forever  = "3000-01-01"
	// waitTimeout bounds how long the product may take to become consistent.
	waitTimeout = 90 * time.Second
	// betweenReads is the pause between two reads while the product is not yet consistent.
	betweenReads = 20 * time.Millisecond
)

// firstMonday is the first Monday of a month whose clock goes forward.
var firstMonday = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

func (d day) date() string {
	if d >= latest {
		return forever
	}
	return firstMonday.AddDate(0, 0, int(d)).Format(time.DateOnly)
}

func clock(d day, minutes int) string {
	return (d + day(minutes/1440)).date() + fmt.Sprintf("T%02d:%02d:00", minutes/60%24, minutes%60)
}

// parseMinutes is the inverse of clock.
func parseMinutes(d day, text string) int {
	at, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		return -1
	}
	return int(at.Sub(firstMonday.AddDate(0, 0, int(d))) / time.Minute)
}

func parseDay(text string) day {
	at, err := time.Parse(time.DateOnly, text[:10])
	if err != nil {
		return never
	}
	return day(at.Sub(firstMonday).Hours() / 24)
}

// call calls the product, and repeats the call while a process is away. Processes are killed only
// between two calls, so a process that is away has done nothing.
func (w *fixture) call(method, path string, body, response any) (http.Header, error) {
	w.t.Helper()
	var header http.Header
	var err error
	launch.Await(w.t, waitTimeout, method+" "+path, func() bool {
		header, err = w.api.Call(w.t.Context(), method, path, body, response)
		return status(err) != http.StatusServiceUnavailable
	})
	return header, err
}

func status(err error) int {
	var refused *scenario.Refused
	if errors.As(err, &refused) {
		return refused.Status
	}
	return 0
}

func (w *fixture) must(method, path string, body, response any) {
	w.t.Helper()
	header, err := w.call(method, path, body, response)
	require.NoError(w.t, err)
	w.follow(header)
}

// follow remembers the propagation that a response names.
func (w *fixture) follow(header http.Header) {
	if location := header.Get("Content-Location"); strings.Contains(location, "/propagations/") {
		w.open = append(w.open, location)
	}
}

func (c cycle) object() scenario.Object {
	var items []scenario.Object
	for i, entries := range c {
		for _, e := range entries {
			item := scenario.Object{"day": i + 1}
			if e.payCode {
				item["payCodeEditTemplate"] = scenario.Object{"payCode": scenario.Object{"qualifier": e.label}, "durationInTime": 3600}
			} else {
				item["shiftTemplate"] = scenario.Object{
					"label": e.label, "startDateTime": template(e.start), "endDateTime": template(e.end),
				}
			}
			items = append(items, item)
		}
	}
	return scenario.Object{"dayCount": len(c), "timePeriodType": scenario.Object{"name": "Daily"}, "items": items}
}

type cycle [][]entry

func template(minutes int) string {
	return fmt.Sprintf("1900-01-%02dT%02d:%02d:00", 1+minutes/1440, minutes/60%24, minutes%60)
}

// words are the names that requests use for an assignment: those on a term and those on an employee
// differ.
type words struct{ path, pattern, patterns, owner, owners, selected string }

func (a *assignment) words() words {
	if a.of != nil {
		return words{"/v1/scheduling/employee_schedule_patterns", "employeeSchedulePattern", "employeeSchedulePatterns", "employeeRef", "employees", "ESP"}
	}
	return words{"/v1/scheduling/employment_term_schedule_patterns", "groupSchedulePattern", "groupSchedulePatterns", "groupRef", "groups", "gsp"}
}

func (w *fixture) ownerReference(a *assignment) scenario.Object {
	if a.of != nil {
		return scenario.Object{"id": a.of.id}
	}
	return scenario.Object{"id": w.terms[a.term]}
}

// patternResponse is the response to changes of assignments.
type patternResponse []struct {
	GroupSchedulePattern, EmployeeSchedulePattern struct {
		ID                 int64
		StartDate, EndDate string
	}
}

// id returns the id of the one assignment in the response.
func (p patternResponse) id() int64 {
	return p[0].GroupSchedulePattern.ID + p[0].EmployeeSchedulePattern.ID
}

func (w *fixture) assign(a *assignment) {
	w.t.Helper()
	given := scenario.Object{
		a.words().owner: w.ownerReference(a), "startDate": a.from.date(), "startDateOffset": a.offset,
		"schedulePattern": cycle(a.cycle).object(),
	}
	if a.to < never {
		given["endDate"] = (a.to - 1).date()
	}
	var response patternResponse
	w.changePatterns(a, "/apply_create", "applyCreate", scenario.Object{a.words().patterns: scenario.Object{"do": scenario.Object{
		a.words().pattern + "Creates": []scenario.Object{{"override": a.override, "allowDuplicate": true, a.words().pattern: given}},
	}}}, &response)
	a.id = response.id()
}

// change applies one block of apply_update to an assignment, and returns the assignment that the
// response shows.
func (w *fixture) change(a *assignment, block string, do scenario.Object) int64 {
	w.t.Helper()
	var response patternResponse
	w.changePatterns(a, "/apply_update", "applyUpdate", scenario.Object{block: scenario.Object{
		"where": scenario.Object{a.words().pattern + "Ids": []int64{a.id}}, "do": do,
	}}, &response)
	return response.id()
}

// assignmentFrom returns the id of the assignment with the same owner that begins on a day and that
// the model does not know.
func (w *fixture) assignmentFrom(of *assignment, from day) int64 {
	w.t.Helper()
	var response []struct {
		ID        int64
		StartDate string
	}
	w.must(http.MethodPost, of.words().path+"/multi_read", scenario.Object{"select": []string{of.words().selected}, "where": scenario.Object{
		of.words().owners: scenario.Object{of.words().owner + "s": []scenario.Object{w.ownerReference(of)}},
	}}, &struct{ GroupSchedulePatterns, EmployeeSchedulePatterns any }{&response, &response})
	for _, found := range response {
		known := false
		for _, a := range w.assignments {
			known = known || a.id == found.ID
		}
		if !known && found.StartDate == from.date() {
			return found.ID
		}
	}
	require.Fail(w.t, "the part that goes on is not there", "%+v", response)
	return 0
}

// seen is the content of the window for all employees.
type seen struct {
	entries []shown
	locks   []dayLock
	leave   map[leaveDay]int
}

// leaveDay is one day of an employee's leave.
type leaveDay struct {
	employee int
	day      day
}

// read reads the window of all employees, as of an instant if it is not "".
func (w *fixture) read(asOf string) (seen, error) {
	type ref struct{ ID int64 }
	var response struct {
		Shifts []struct {
			ID                                int64
			Employee                          ref
			StartDateTime, EndDateTime, Label string
			Generated, Locked                 bool
			Relations                         []struct{ From ref }
		}
		PayCodeEdits []struct {
			ID                int64
			Employee          ref
			StartDate         string
			PayCodeRef        struct{ Qualifier string }
			Generated, Locked bool
			Relations         []struct{ From ref }
		}
		LeaveEdits []struct {
			Employee  ref
			StartDate string
		}
		DayLocks []struct {
			ID                         int64
			Employee                   ref
			StartDateTime, EndDateTime string
		}
	}
	index, ids := map[int64]int{}, []int64{}
	for i, e := range w.employees {
		index[e.id], ids = i, append(ids, e.id)
	}
	request := scenario.ReadRequest(ids, day(0).date(), (window - 1).date())
	if asOf != "" {
		request["multiReadOptions"] = scenario.Object{"asOfDateTime": asOf}
	}
	request["select"] = []string{"SHIFTS", "PAYCODEEDITS", "LEAVEEDITS", "DAYLOCKS"}
	if _, err := w.api.Call(w.t.Context(), http.MethodPost, "/v1/scheduling/schedule/multi_read", request, &response); err != nil {
		return seen{}, err
	}
	var list []shown
	of := func(relations []struct{ From ref }) int64 {
		if len(relations) == 1 {
			return relations[0].From.ID
		}
		return 0
	}
	for _, s := range response.Shifts {
		d := parseDay(s.StartDateTime)
		if d < 0 {
			continue // The entry only reaches into the window.
		}
		list = append(list, shown{index[s.Employee.ID], d, false, s.Label, parseMinutes(d, s.StartDateTime), parseMinutes(d, s.EndDateTime), s.Generated, s.Locked, of(s.Relations), s.ID})
	}
	for _, p := range response.PayCodeEdits {
		list = append(list, shown{index[p.Employee.ID], parseDay(p.StartDate), true, p.PayCodeRef.Qualifier, 0, 1440, p.Generated, p.Locked, of(p.Relations), p.ID})
	}
	var locks []dayLock
	for _, l := range response.DayLocks {
		locks = append(locks, dayLock{l.ID, index[l.Employee.ID], parseDay(l.StartDateTime), parseDay(l.EndDateTime)})
	}
	leave := map[leaveDay]int{}
	for _, l := range response.LeaveEdits {
		leave[leaveDay{index[l.Employee.ID], parseDay(l.StartDate)}]++
	}
	return seen{list, locks, leave}, nil
}

// find runs a hyperfind for the employees who are scheduled on a day.
func (w *fixture) find(d day) (map[int64]bool, error) {
	var response struct {
		Result struct{ Refs []struct{ ID int64 } }
	}
	_, err := w.api.Call(w.t.Context(), http.MethodPost, "/v1/commons/hyperfind/test", scenario.Object{
		"dateRange":   scenario.Object{"startDate": d.date(), "endDate": d.date()},
		"constraints": scenario.Object{"filters": []scenario.Object{{"key": "SCHEDULED", "operator": "IS_NOT_NULL"}}},
	}, &response)
	found := map[int64]bool{}
	for _, ref := range response.Result.Refs {
		found[ref.ID] = true
	}
	return found, err
}

func path(base string, id int64) string { return base + "/" + strconv.FormatInt(id, 10) }
