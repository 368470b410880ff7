package signoff_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

var monday = civil.Of(2026, time.March, 2)

// shift returns a shift of the schedule by its hours in Berlin. Schedules use the clock of the
// employee: UTC, because the employee has no time zone here.
func shift(day civil.Date, start, end int32) *schedulingv1.EmployeeShift {
	return &schedulingv1.EmployeeShift{Day: int32(day), Segments: []*schedulingv1.EmployeeShiftSegment{{StartSecond: (start - 1) * 3600, EndSecond: (end - 1) * 3600}}}
}

// replan gives an employee other entries of the schedule.
func replan(known timecardtest.Known, employee int64, shifts []*schedulingv1.EmployeeShift, edits ...*schedulingv1.EmployeePayCodeEdit) {
	of := known[employee]
	of.Schedule = &schedulingv1.EmployeeDays{Shifts: shifts, PayCodeEdits: edits}
	known[employee] = of
}

// rounding moves punches up to half an hour to the start and the end of shifts.
func rounding() *timekeepingv1.PayRuleWindow {
	return &timekeepingv1.PayRuleWindow{EarlyIn: new(int32(30)), LateIn: new(int32(30)), EarlyOut: new(int32(30)), LateOut: new(int32(30))}
}

// compareMarch compares the signed-off days of March.
func compareMarch(ctx context.Context, t *testing.T, timecards *timecardtest.Timecards, ids ...int64) {
	t.Helper()
	require.NoError(t, timecards.Signoffs.Compare(ctx, ids, civil.Range{From: monday - 1, To: monday + 30}))
}

// marks lists the entries of the schedule on a timecard, with their marks.
func marks(ctx context.Context, t *testing.T, timecards *timecardtest.Timecards, employee int64, days civil.Range) (out []string) {
	t.Helper()
	list, err := timecards.Reader.Read(ctx, []int64{employee}, calculation.Window{Days: days, Bodies: true})
	require.NoError(t, err)
	for _, d := range list[0].NonEmptyDays() {
		for _, s := range d.GetScheduleShifts() {
			out = append(out, s.GetStartDateTime()+" "+s.GetSignOffChange())
		}
		for _, e := range d.GetSchedulePayCodeEdits() {
			out = append(out, e.GetApplyDate()+" "+e.GetPaycode().GetQualifier()+" "+e.GetSignOffChange())
		}
	}
	return out
}

// An edit that a planner enters on the schedule of a signed-off day is paid on the first open day
// and shown on its day. All is as before when it is removed.
func TestChangesOfTheScheduleArePaid(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	known := timecardtest.Known{7: daysWithEdits(training(monday+1, 2))}
	timecards := timecardtest.New(pooltest.New(t), known, timecardtest.Noon(t, "2026-05-01"))
	timecards.Punch(ctx, t, 7, "2026-03-02T08:00", "2026-03-02T16:00")
	timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
	signed := []string{"2026-03-02 WORKED Regular  28800", "2026-03-03 PAY_CODE_EDIT Training  7200"}
	read := func() []string { return timecards.Totals(ctx, t, "2026-03-01", "2026-03-31", 7) }
	require.Equal(t, signed, read())

	replan(known, 7, nil, training(monday+2, 3))
	require.Equal(t, signed, read(), "only a comparison pays a change of the schedule")
	for range 3 { // Events may come more than once.
		compareMarch(ctx, t, timecards, 7)
		assert.Equal(t, append(slices.Clone(signed), "2026-03-09 HISTORICAL_CORRECTION Training  -7200", "2026-03-09 HISTORICAL_CORRECTION Training  10800"), read())
		assert.Equal(t, []string{"2026-03-03 Training REMOVED", "2026-03-04 Training ADDED"}, marks(ctx, t, timecards, 7, civil.Range{From: monday, To: monday + 30}))
		assert.Equal(t, []string{"2026-03-04 Training ADDED"}, marks(ctx, t, timecards, 7, civil.Range{From: monday + 2, To: monday + 3}), "the day alone, which was signed off empty")
	}

	replan(known, 7, nil, training(monday+1, 2))
	compareMarch(ctx, t, timecards, 7)
	assert.Equal(t, map[string]int64{"Regular": 8 * 3600, "Training": 2 * 3600}, byCode(t, ctx, timecards, 7))
	assert.Equal(t, []string{"2026-03-03 Training "}, marks(ctx, t, timecards, 7, civil.Range{From: monday, To: monday + 30}))

	replan(known, 7, nil, training(monday+2, 3))
	compareMarch(ctx, t, timecards, 7)
	require.NoError(t, timecards.Signoffs.Reopen(ctx, 7, monday))
	assert.Equal(t, []string{"2026-03-02 WORKED Regular  28800", "2026-03-04 PAY_CODE_EDIT Training  10800"}, read())
}

// A shift that is moved changes how punches are rounded, and with it the pay of its day and the
// overtime of the week.
func TestMovedShiftsRoundOtherwise(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	rule := &timekeepingv1.PayRuleVersion{
		WeeklyOvertime:   overtime(10 * 60),
		ScheduleRounding: rounding(),
	}
	known := addPayRule(t, ctx, pool, rule, 1, 2)
	timecards := timecardtest.New(pool, known, timecardtest.Noon(t, "2026-05-01"))
	shifts := []*schedulingv1.EmployeeShift{shift(monday, 8, 16)}
	punches := []string{"2026-03-02T07:45", "2026-03-02T16:00", "2026-03-05T08:00", "2026-03-05T12:00"}
	for _, id := range []int64{1, 2} {
		replan(known, id, shifts)
		timecards.Punch(ctx, t, id, punches...)
	}
	timecards.SignOff(ctx, t, 1, civil.Through(monday, monday+1))
	require.Equal(t, map[string]int64{"Regular": 10 * 3600, "Overtime": 2 * 3600}, byCode(t, ctx, timecards, 1))
	for _, id := range []int64{1, 2} {
		replan(known, id, nil)
	}
	compareMarch(ctx, t, timecards, 1)
	require.Equal(t, map[string]int64{"Regular": 10 * 3600, "Overtime": 2*3600 + 900}, byCode(t, ctx, timecards, 2))
	assert.Equal(t, byCode(t, ctx, timecards, 2), byCode(t, ctx, timecards, 1))
	assert.Equal(t, []string{"2026-03-02T07:00:00 REMOVED"}, marks(ctx, t, timecards, 1, civil.Through(monday, monday)))
}

// A rule that changed between the sign-off and a change of the schedule corrects no day whose schedule did
// not change.
func TestRulesAloneCorrectNothing(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	known := addPayRule(t, ctx, pool, &timekeepingv1.PayRuleVersion{}, 7)
	timecards := timecardtest.New(pool, known, timecardtest.Noon(t, "2026-05-01"))
	timecards.Punch(ctx, t, 7, "2026-03-02T08:00", "2026-03-02T16:00", "2026-03-04T08:00", "2026-03-04T16:00")
	timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
	rules := payrule.New(paycodetest.Names(pool))
	list, err := rules.ListPayRules(ctx, &timekeepingv1.ListPayRulesRequest{})
	require.NoError(t, err)
	rule := list.GetItems()[0]
	rule.EffectiveVersions[0].Breaks = []*timekeepingv1.PayRuleBreak{{After: proto.Int32(360), Length: proto.Int32(30)}}
	_, err = rules.UpdatePayRule(ctx, &timekeepingv1.UpdatePayRuleRequest{Id: rule.GetId(), Body: rule})
	require.NoError(t, err)

	compareMarch(ctx, t, timecards, 7)
	require.Equal(t, map[string]int64{"Regular": 16 * 3600}, byCode(t, ctx, timecards, 7))
	replan(known, 7, nil, training(monday+2, 1))
	compareMarch(ctx, t, timecards, 7)
	assert.Equal(t, map[string]int64{"Regular": 16*3600 - 1800, "Training": 3600}, byCode(t, ctx, timecards, 7),
		"the day whose schedule changed is paid by the present rule, and Monday stays as it was signed off")
}

// Days that a program without stored schedules signed off count as paid by the schedule of the first
// comparison. Later changes are paid.
func TestOlderSignOffsTakeTheScheduleOfTheFirstComparison(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	known := timecardtest.Known{7: daysWithEdits(training(monday+1, 2)), 8: daysWithEdits(training(monday+1, 2))}
	timecards := timecardtest.New(pool, known, timecardtest.Noon(t, "2026-05-01"))
	for _, id := range []int64{7, 8} {
		timecards.SignOff(ctx, t, id, civil.Range{From: monday, To: monday + 7})
	}
	forgetSchedules(ctx, t, pool)
	replan(known, 7, nil, training(monday+1, 2), training(monday+2, 1))
	compareMarch(ctx, t, timecards, 7)
	require.Equal(t, map[string]int64{"Training": 2 * 3600}, byCode(t, ctx, timecards, 7))
	require.Equal(t, []string{"2026-03-03 Training "}, marks(ctx, t, timecards, 7, civil.Range{From: monday, To: monday + 7}))
	replan(known, 7, nil, training(monday+1, 5), training(monday+2, 4))
	compareMarch(ctx, t, timecards, 7)
	assert.Equal(t, map[string]int64{"Training": 9 * 3600}, byCode(t, ctx, timecards, 7))

	// A late punch stores the schedule that determined its pay.
	timecards.Punch(ctx, t, 8, "2026-03-03T08:00", "2026-03-03T10:00")
	replan(known, 8, nil, training(monday+1, 5))
	compareMarch(ctx, t, timecards, 8)
	assert.Equal(t, map[string]int64{"Training": 5 * 3600, "Regular": 2 * 3600}, byCode(t, ctx, timecards, 8))
}

// forgetSchedules removes the schedules of all sign-offs, as if an older program had made them.
func forgetSchedules(ctx context.Context, t *testing.T, pool *pg.Pool) {
	t.Helper()
	const store pg.Unaudited = "a test"
	_, err := store.Exec(ctx, pool, `UPDATE signed_day SET schedule = NULL`)
	require.NoError(t, err)
	_, err = store.Exec(ctx, pool, `UPDATE timecard_signoff SET schedule_from = NULL`)
	require.NoError(t, err)
}
