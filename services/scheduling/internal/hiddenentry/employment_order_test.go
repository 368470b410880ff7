package hiddenentry_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeeschedulepattern"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulepatterntemplate"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/shifttemplate"
)

const (
	editedDay, emptiedDay = "2025-03-10", "2025-03-12"
	terminatedFrom        = "2025-03-05"
	elsewhere             = "2025-09-01" // the unrelated pattern begins here
)

// career is the history of one employee, who begins with a pattern of a term and one of their own.
type career struct {
	employee int64
	rest     []string // the events that are still to come, in any order that is possible
	done     []string
	fixed    bool // the events come in the order of rest

	ownPattern, unrelated      int64 // 0 for none
	member, terminated         bool
	editedOwn, editedTerm, cut bool
}

// allEvents are the names of events. Each happens once.
var allEvents = []string{"edit own", "edit term", "delete entry", "terminate", "rehire", "delete pattern", "create other", "delete other", "leave term", "join term"}

// possible reports whether an event may come next: people change entries that they see, and only
// existing things end.
func (c *career) possible(event string) bool {
	generated := c.ownPattern != 0 && !c.terminated
	switch event {
	case "edit own", "delete entry":
		return generated
	case "edit term":
		return c.member
	case "delete pattern":
		return c.editedOwn && c.cut
	case "terminate":
		return c.editedOwn && c.cut || slices.Contains(c.rest, "rehire")
	case "rehire":
		return c.terminated
	case "delete other":
		return c.unrelated != 0
	case "leave term":
		return c.editedTerm
	case "join term":
		return !c.member
	default:
		return true
	}
}

// next takes the event that comes next; "" when there is none.
func (c *career) next(random *rand.Rand) string {
	var list []int
	for i, event := range c.rest {
		if c.possible(event) {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return ""
	}
	at := list[0]
	if !c.fixed {
		at = list[random.IntN(len(list))]
	}
	event := c.rest[at]
	c.rest, c.done = slices.Delete(c.rest, at, at+1), append(c.done, event)
	return event
}

// expectedEntries returns the entries of the days as a function of the current state.
func (c *career) expectedEntries() []string {
	var out []string
	shows := func(day, name string) { out = append(out, day+" "+name) }
	generated := c.ownPattern != 0 && !c.terminated
	switch {
	case c.editedOwn && !c.terminated:
		shows(editedDay, "LATE*")
	case !c.editedOwn && generated:
		shows(editedDay, "LATE")
	}
	if c.member {
		shows(emptiedDay, "EARLY")
		if c.editedTerm {
			shows(editedDay, "EARLY*")
		} else {
			shows(editedDay, "EARLY")
		}
	}
	if generated && !c.cut {
		shows(emptiedDay, "LATE")
	}
	slices.Sort(out)
	return out
}

// The shown edited and deleted entries follow from the current state, independently of the order of
// the events that led to it.
func TestShownEntriesDoNotDependOnTheOrderOfEvents(t *testing.T) {
	t.Parallel()
	w := newCareers(t)
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	w.assign(warehouse, "2025-01-01", "", false, "EARLY")
	people := []*career{
		{fixed: true, rest: []string{"edit own", "delete entry", "terminate", "delete pattern", "rehire"}},
		{fixed: true, rest: []string{"edit own", "delete entry", "delete pattern", "terminate"}},
		{fixed: true, rest: []string{"create other", "edit own", "delete entry", "terminate", "delete pattern", "rehire"}},
		{fixed: true, rest: []string{"create other", "edit own", "delete entry", "delete pattern", "terminate"}},
	}
	for range 76 {
		c := &career{rest: slices.Clone(allEvents)}
		for _, last := range []string{"rehire", "join term", "delete other"} {
			if random.IntN(4) == 0 {
				c.rest = slices.DeleteFunc(c.rest, func(event string) bool { return event == last })
			}
		}
		people = append(people, c)
	}
	var states []*commonsv1.PersonState
	for i, c := range people {
		c.employee, c.member = int64(1000+i), true
		states = append(states, w.state(c, 1))
		w.Exec(t, `INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date) VALUES (1, $1, 55, '2025-01-01', '3000-01-01')`, c.employee)
	}
	w.putStates(states...)
	for _, c := range people {
		c.ownPattern = w.assignOwn(c.employee, "2025-01-01", "LATE")
	}
	w.settle()
	for step := 2; ; step++ {
		happened := false
		for _, c := range people {
			event := c.next(random)
			if event == "" {
				continue
			}
			happened = true
			w.apply(c, event, int64(step))
		}
		if !happened {
			break
		}
		w.settle()
		shown := w.shownEntries(people)
		for _, c := range people {
			require.Equal(t, c.expectedEntries(), shown[c.employee], "employee %d after %s", c.employee, strings.Join(c.done, ", "))
		}
	}
	for _, c := range people {
		require.Empty(t, c.rest, "employee %d after %s", c.employee, strings.Join(c.done, ", "))
	}
}

// The operators' check finds an entry that is stored otherwise than it follows from what holds.
func TestVerifyComparesEditedEntries(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.assign(warehouse, "2025-01-01", "", false, "EARLY")
	id := w.edit(anna, editedDay, "EARLY")
	gone := w.delete(colleague, editedDay, "EARLY")
	w.settle()
	for name, test := range map[string]struct {
		id       int64
		employee int64
		set      string
	}{
		"withdrawn":                {id, anna, "withdrawn = true"},
		"hides nothing":            {id, anna, "hidden_lane = NULL, hidden_ordinal = NULL"},
		"deleted, hides another":   {gone, colleague, "hidden_ordinal = 3"},
		"deleted, in another lane": {gone, colleague, "hidden_lane = 5"},
	} {
		t.Run(name, func(t *testing.T) {
			var before [3]any
			require.NoError(t, w.Pool.QueryRow(w.Ctx, "SELECT withdrawn, hidden_lane, hidden_ordinal FROM schedule_item WHERE id = $1", test.id).Scan(&before[0], &before[1], &before[2]))
			w.Exec(t, "UPDATE schedule_item SET "+test.set+" WHERE id = $1", test.id)
			report, err := reconcile.Verify(w.Ctx, w.Pool, nil)
			require.NoError(t, err)
			require.Equal(t, []reconcile.Difference{{EmployeeID: test.employee, Entries: []int64{test.id}}}, report.Differences)
			require.Equal(t, 2, report.Entries)
			w.Exec(t, "UPDATE schedule_item SET withdrawn = $2, hidden_lane = $3, hidden_ordinal = $4 WHERE id = $1", test.id, before[0], before[1], before[2])
		})
	}
	w.settle()
}

// careers is the fixture with patterns of employees, and with the events of commons about them.
type careers struct {
	*fixture

	patterns schedulingv1.EmployeeSchedulePatternServiceClient
	persons  *replica.Replica
}

func newCareers(t *testing.T) *careers {
	w := newFixture(t)
	definitions := patterndefinition.New(patterndefinition.Settings{}, shifttemplate.Kind(), schedulepatterntemplate.Kind())
	resolver := projection.NewResolver(w.Pool, nil, nil)
	schedulingv1.RegisterEmployeeSchedulePatternServiceServer(w.Local, employeeschedulepattern.New(employeeschedulepattern.Deps{
		Pool: w.Pool, Definitions: definitions, Directory: resolver,
	}))
	c := &careers{fixture: w, patterns: schedulingv1.NewEmployeeSchedulePatternServiceClient(w.Conn())}
	for _, r := range projection.NewCopies(w.Pool, nil).All() {
		if r.Contract().Topic == "persons" {
			c.persons = r
		}
	}
	require.NotNil(t, c.persons)
	return c
}

func (w *careers) state(c *career, version int64) *commonsv1.PersonState {
	state := &commonsv1.PersonState{
		PersonId: c.employee, PersonNumber: fmt.Sprint("P", c.employee), FullName: "P", TimeZone: "UTC", Version: version, HireDate: "2020-01-01",
	}
	if c.terminated {
		state.Terminated = []*commonsv1.PersonDays{{From: terminatedFrom, To: "3000-01-01"}}
	}
	return state
}

// putStates applies the states that commons publishes of persons.
func (w *careers) putStates(states ...*commonsv1.PersonState) {
	w.t.Helper()
	require.NoError(w.t, pg.InTx(w.Ctx, w.Pool, func(ctx context.Context, tx pgx.Tx) error {
		return replica.Put(ctx, tx, w.persons, states)
	}))
}

// assignOwn puts a pattern on an employee and returns the assignment's id.
func (w *careers) assignOwn(employee int64, from, name string) int64 {
	w.t.Helper()
	response, err := w.patterns.ApplyCreateEmployeeSchedulePatterns(w.Ctx, &schedulingv1.ApplyCreateEmployeeSchedulePatternsRequest{
		Body: &schedulingv1.ApplyCreateEmployeeSchedulePatterns{EmployeeSchedulePatterns: &schedulingv1.EmployeeSchedulePatternCreation{
			Do: &schedulingv1.EmployeeSchedulePatternCreates{EmployeeSchedulePatternCreates: []*schedulingv1.EmployeeSchedulePatternCreate{{
				Override: proto.Bool(false), AllowDuplicate: proto.Bool(true), EmployeeSchedulePattern: &schedulingv1.EmployeeSchedulePattern{
					EmployeeRef: &commonv1.Ref{Id: &employee}, StartDate: from, SchedulePattern: pattern(name),
				},
			}}},
		}},
	})
	require.NoError(w.t, err)
	return response.GetResults()[0].GetEmployeeSchedulePattern().GetId()
}

// apply makes an event happen.
func (w *careers) apply(c *career, event string, version int64) {
	w.t.Helper()
	switch event {
	case "edit own":
		w.edit(c.employee, editedDay, "LATE")
		c.editedOwn = true
	case "edit term":
		w.edit(c.employee, editedDay, "EARLY")
		c.editedTerm = true
	case "delete entry":
		w.delete(c.employee, emptiedDay, "LATE")
		c.cut = true
	case "terminate", "rehire":
		c.terminated = event == "terminate"
		w.putStates(w.state(c, version))
	case "delete pattern":
		w.unassign(&c.ownPattern)
	case "create other":
		c.unrelated = w.assignOwn(c.employee, elsewhere, "NIGHT")
	case "delete other":
		w.unassign(&c.unrelated)
	case "leave term":
		c.member = false
		w.setMember(c.employee)
	case "join term":
		c.member = true
		w.setMember(c.employee, "55 2025-01-01 3000-01-01")
	}
}

func (w *careers) unassign(id *int64) {
	w.t.Helper()
	_, err := w.patterns.DeleteEmployeeSchedulePattern(w.Ctx, &schedulingv1.DeleteEmployeeSchedulePatternRequest{Id: *id})
	require.NoError(w.t, err)
	*id = 0
}

// shownEntries reads both days of all employees.
func (w *careers) shownEntries(people []*career) map[int64][]string {
	w.t.Helper()
	var ids []int64
	for _, c := range people {
		ids = append(ids, c.employee)
	}
	out := map[int64][]string{}
	for _, id := range ids {
		out[id] = nil
	}
	for _, day := range []string{editedDay, emptiedDay} {
		for _, shift := range w.readAll(ids, day).GetShifts().GetShifts() {
			name := shiftNames[shift.GetStartDateTime()[11:16]]
			if !shift.GetGenerated() {
				name += "*"
			}
			id := shift.GetEmployee().GetId()
			out[id] = append(out[id], day+" "+name)
		}
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}
