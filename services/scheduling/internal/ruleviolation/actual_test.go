package ruleviolation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleevaluation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

func usingActualHours(actual bool, rules ...ruleevaluation.Rule) *plan {
	return &plan{forAllEmployees: 1, sets: []set{{ref: &commonv1.Ref{Id: proto.Int64(1), Qualifier: proto.String("Real")}, rules: rules, actual: actual}}}
}

func employeesIn(t *testing.T, zone string, count int) []projection.Employee {
	t.Helper()
	known, err := civil.LoadZone(zone)
	require.NoError(t, err)
	out := make([]projection.Employee, count)
	for i := range out {
		out[i] = projection.Employee{ID: int64(i + 1), Zone: known}
	}
	return out
}

func TestWorkedShiftsAreNeededUpToToday(t *testing.T) {
	t.Parallel()
	// It is the third on Kiritimati, and the second elsewhere.
	now := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	hours := ruleevaluation.Rule{ID: schedulerule.MaxHoursDay, Limit: 8}
	inRow := ruleevaluation.Rule{ID: schedulerule.MaxDaysInRow, Limit: 6}
	day := func(month time.Month, day int) civil.Date { return civil.Of(2026, month, day) }
	planned := usingActualHours(false, inRow)
	planned.sets = append(planned.sets, usingActualHours(true, hours).sets...)
	for name, c := range map[string]struct {
		plan     *plan
		days     civil.Range
		from, to civil.Date
		ruleSet  string
	}{
		"past days":                      {usingActualHours(true, hours), civil.Range{From: day(2, 1), To: day(2, 8)}, day(1, 30), day(2, 10), "Real"},
		"up to today":                    {usingActualHours(true, hours), civil.Range{From: day(3, 1), To: day(4, 1)}, day(2, 27), day(3, 5), "Real"},
		"a row of days":                  {usingActualHours(true, hours, inRow), civil.Range{From: day(2, 1), To: day(2, 8)}, day(2, 1) - 33, day(3, 5), "Real"},
		"no days of the future":          {usingActualHours(true, hours), civil.Range{From: day(5, 1), To: day(5, 8)}, day(4, 29), day(3, 5), "Real"},
		"days of sets on actual hours":   {planned, civil.Range{From: day(2, 1), To: day(2, 8)}, day(1, 30), day(2, 10), "Real"},
		"nothing for what is planned":    {usingActualHours(false, hours), civil.Range{From: day(2, 1), To: day(2, 8)}, 0, 0, ""},
		"nothing without rules":          {usingActualHours(true), civil.Range{From: day(2, 1), To: day(2, 8)}, 0, 0, ""},
		"nothing before the first day":   {usingActualHours(true, hours), civil.Range{From: civil.Beginning + 1, To: civil.Beginning + 2}, civil.Beginning, civil.Beginning + 4, "Real"},
		"all days of a year as one need": {usingActualHours(true, hours), civil.Range{From: civil.Of(2020, time.January, 1), To: day(2, 8)}, civil.Of(2019, time.December, 30), day(2, 10), "Real"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need := neededShifts(c.plan, c.days, employeesIn(t, "Pacific/Kiritimati", 3), now)
			if c.ruleSet == "" {
				require.Nil(t, need)
				return
			}
			want := &schedulingv1.WorkedShiftsNeeded{From: int32(c.from), To: int32(c.to), EmployeeIds: []int64{1, 2, 3}, RuleSet: c.ruleSet}
			assert.True(t, proto.Equal(want, need), "%v\n%v", want, need)
		})
	}
}

// The worked shifts of a request are used only if they cover all needed days.
func TestWorkedShiftsCoverWhatIsNeeded(t *testing.T) {
	t.Parallel()
	need, future := &schedulingv1.WorkedShiftsNeeded{From: 10, To: 20}, &schedulingv1.WorkedShiftsNeeded{From: 30, To: 20}
	of := func(from, to int32) *schedulingv1.WorkedShifts { return &schedulingv1.WorkedShifts{From: from, To: to} }
	assert.True(t, covers(of(10, 20), need))
	assert.True(t, covers(of(9, 21), need))
	assert.True(t, covers(of(30, 20), future))
	for name, given := range map[string]*schedulingv1.WorkedShifts{"nothing": nil, "a later first day": of(11, 20), "an earlier last day": of(10, 19)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.False(t, covers(given, need))
		})
	}
	assert.False(t, covers(nil, future))
}

// Each employee has a today of their own, and the worked shifts of the request.
func TestActualHoursAreThoseOfTheRequest(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	employees := employeesIn(t, "Pacific/Kiritimati", 2)
	begin := employees[0].Zone.Unix(civil.Of(2026, time.March, 3).At(0))
	worked := newActual(&schedulingv1.WorkedShifts{Employees: []*schedulingv1.EmployeeWorkedShifts{{EmployeeId: 2, Shifts: []*schedulingv1.WorkedShift{
		{StartPunchId: 7, Start: begin - 9000, End: begin + 100, Work: []int64{begin - 9000, begin - 5000, begin - 4000, begin + 100}, ScheduledStart: proto.Int64(begin - 9100)},
		{Start: begin, End: begin + 3600, Work: []int64{begin, begin + 3600}},
	}}}}, employees, now)
	scheduled := []ruleevaluation.Shift{
		{ID: 1, Interval: ruleevaluation.Interval{Start: begin - 9100, End: begin}}, {ID: 2, Interval: ruleevaluation.Interval{Start: begin + 7200, End: begin + 9000}},
	}
	assert.Equal(t, []ruleevaluation.Shift{
		{ID: 7, Worked: true, Interval: ruleevaluation.Interval{Start: begin - 9000, End: begin + 100}, Work: []ruleevaluation.Interval{{Start: begin - 9000, End: begin - 5000}, {Start: begin - 4000, End: begin + 100}}},
		scheduled[1],
	}, worked.shifts(2, scheduled))
	assert.Equal(t, scheduled[1:], worked.shifts(1, scheduled), "of somebody who worked nothing")
}
