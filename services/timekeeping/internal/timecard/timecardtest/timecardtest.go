// Package timecardtest helps tests of timecards.
package timecardtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/punch"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// Known is the data of other services, by employee.
type Known map[int64]employeeday.Days

// Read returns the data of employees.
func (k Known) Read(_ context.Context, ids []int64, _ civil.Range, _ bool) (map[int64]employeeday.Days, error) {
	out := map[int64]employeeday.Days{}
	for _, id := range ids {
		out[id] = k[id]
	}
	return out, nil
}

// ReadEdited returns the data of the days of an employee that have a pay code edit.
func (k Known) ReadEdited(_ context.Context, id int64, days civil.Range) (employeeday.Days, error) {
	of := &schedulingv1.EmployeeDays{EmployeeId: id}
	edited := map[int32]bool{}
	for _, e := range k[id].Schedule.GetPayCodeEdits() {
		if days.Contains(civil.Date(e.GetDay())) {
			of.PayCodeEdits, edited[e.GetDay()] = append(of.PayCodeEdits, e), true
		}
	}
	for _, s := range k[id].Schedule.GetShifts() {
		if edited[s.GetDay()] {
			of.Shifts = append(of.Shifts, s)
		}
	}
	return employeeday.Days{Schedule: of}, nil
}

// Timecards gives tests access to the timecards in a database.
type Timecards struct {
	Reader   *calculation.Reader
	Signoffs *signoff.Store
}

// New returns the timecards in the database of the pool.
func New(pool *pg.Pool, days employeeday.Source, now func() time.Time) *Timecards {
	timecards := calculation.NewReader(pool, days, now)
	return &Timecards{Reader: timecards, Signoffs: signoff.NewStore(pool, timecards)}
}

// Noon returns a clock that always shows noon of a day.
func Noon(t testing.TB, day string) func() time.Time {
	t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	require.NoError(t, err)
	return func() time.Time { return at.Add(12 * time.Hour) }
}

// Entries returns punches of an employee at times in Berlin.
func Entries(t testing.TB, employee int64, local ...string) []*punch.Entry {
	t.Helper()
	zone, err := civil.LoadZone("Europe/Berlin")
	require.NoError(t, err)
	list := make([]*punch.Entry, len(local))
	for i, text := range local {
		at, err := civil.ParseDateTime(text + ":00")
		require.NoError(t, err)
		list[i] = &punch.Entry{Employee: person.Person{ID: employee}, Punch: punch.Punch{Body: []byte{}, Punch: worktime.Punch{At: zone.Unix(at), Zone: zone}}}
	}
	return list
}

// Punch stores punches of an employee at times in Berlin.
func (c *Timecards) Punch(ctx context.Context, t testing.TB, employee int64, local ...string) {
	t.Helper()
	require.NoError(t, c.Signoffs.AddPunches(ctx, Entries(t, employee, local...)))
}

// SignOff signs off the timecard of an employee of tenant 1 through the last of the given days.
func (c *Timecards) SignOff(ctx context.Context, t testing.TB, employee int64, days civil.Range) {
	t.Helper()
	require.NoError(t, c.Signoffs.SignOff(ctx, person.Person{ID: employee, TimeZone: "Europe/Berlin"}, days))
}

// Worked returns the totals of the timecards of employees, for the tenant of the context.
func (c *Timecards) Worked(ctx context.Context, t testing.TB, from, to string, ids ...int64) []*timekeepingv1.EmployeeWorkedTime {
	t.Helper()
	first, err := civil.ParseDate(from)
	require.NoError(t, err)
	last, err := civil.ParseDate(to)
	require.NoError(t, err)
	list, err := c.Reader.WorkedTime(ctx, ids, civil.Through(first, last))
	require.NoError(t, err)
	return list
}

// Totals describes the totals of one employee, one line each.
func (c *Timecards) Totals(ctx context.Context, t testing.TB, from, to string, employee int64) []string {
	t.Helper()
	return Describe(c.Worked(ctx, t, from, to, employee)[0].GetTotals())
}

// Describe formats totals, one line each.
func Describe(list []*timekeepingv1.WorkedTimeTotal) []string {
	var out []string
	for _, w := range list {
		out = append(out, fmt.Sprintf("%s %s %s %s %d%s%s", w.GetDate(), w.GetKind().String()[11:], w.GetPayCode().GetQualifier(), w.GetOrgJob().GetQualifier(), w.GetSeconds(), w.GetDays(), w.GetMoney()))
	}
	return out
}
