package timecard

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// actualShifts describes worked shifts by the clock of Berlin.
func actualShifts(t *testing.T, list []*schedulingv1.WorkedShift) [][]string {
	t.Helper()
	zone, err := civil.LoadZone("Europe/Berlin")
	require.NoError(t, err)
	var out [][]string
	local := func(at int64) string {
		p := worktime.Punch{Zone: zone}
		return p.Local(at).String()[5:16]
	}
	for _, s := range list {
		line := []string{local(s.GetStart()), local(s.GetEnd())}
		if s.ScheduledStart != nil {
			line = append(line, "of "+local(s.GetScheduledStart()))
		}
		for _, at := range s.GetWork() {
			line = append(line, local(at))
		}
		out = append(out, line)
	}
	return out
}

// The worked time equals the time on timecards, also on signed-off days, and has no other
// employees.
func TestWorkedShifts(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	march := func(day int) civil.Date { return civil.Of(2026, 3, 1).AddDays(day - 1) }
	// Nothing is known of the employee, whose clock is UTC then.
	planned := func(day int, from, to int32) *schedulingv1.EmployeeShift {
		return &schedulingv1.EmployeeShift{Day: int32(march(day)), Segments: []*schedulingv1.EmployeeShiftSegment{{StartSecond: from * 3600, EndSecond: to * 3600}}}
	}
	timecards := timecardtest.New(pool, timecardtest.Known{7: {
		Pay:      &commonsv1.PersonPay{PayRules: []*commonsv1.PersonDayText{{From: int32(march(1)), To: int32(march(31)), Text: "breaks"}}},
		Schedule: &schedulingv1.EmployeeDays{Shifts: []*schedulingv1.EmployeeShift{planned(2, 7, 15), planned(3, 7, 15), planned(12, 5, 14)}},
	}}, timecardtest.Noon(t, "2026-03-12"))
	_, err := payrule.New(paycodetest.Names(pool)).CreatePayRule(ctx, &timekeepingv1.PayRule{Name: "Breaks", EffectiveVersions: []*timekeepingv1.PayRuleVersion{{
		EffectiveDate: "2020-01-01", Breaks: []*timekeepingv1.PayRuleBreak{{After: proto.Int32(360), Length: proto.Int32(30)}},
	}}})
	require.NoError(t, err)
	timecards.Punch(ctx, t, 7,
		"2026-03-02T07:55", "2026-03-02T16:10", // with a break that is taken out
		"2026-03-03T08:30", // without a punch out
		"2026-03-05T22:00", "2026-03-06T01:00", "2026-03-06T01:30", "2026-03-06T04:00",
		"2026-03-12T06:00") // still at work
	timecards.Punch(tenant.With(t.Context(), 2), t, 7, "2026-03-02T01:00", "2026-03-02T23:00")
	timecards.SignOff(ctx, t, 7, civil.Range{From: march(1), To: march(6)})

	read := func(from, to civil.Date) [][]string {
		found, err := timecards.Reader.WorkedShifts(ctx, []int64{8, 7}, civil.Range{From: from, To: to})
		require.NoError(t, err)
		require.LessOrEqual(t, len(found), 1)
		if len(found) == 0 {
			return nil
		}
		assert.Equal(t, int64(7), found[0].GetEmployeeId())
		return actualShifts(t, found[0].GetShifts())
	}
	monday := []string{"03-02T07:55", "03-02T16:10", "of 03-02T08:00", "03-02T07:55", "03-02T13:55", "03-02T14:25", "03-02T16:10"}
	night := []string{"03-05T22:00", "03-06T04:00", "03-05T22:00", "03-06T01:00", "03-06T01:30", "03-06T04:00"}
	now := []string{"03-12T06:00", "03-12T15:00", "of 03-12T06:00", "03-12T06:00", "03-12T15:00"}
	assert.Equal(t, [][]string{monday, night, now}, read(march(1), march(31)), "of signed days and open ones")
	assert.Equal(t, [][]string{night}, read(march(4), march(6)), "which begin on the days")
	assert.Nil(t, read(march(6), march(12)), "and not those that reach into them")
}

func TestWorkedShiftsAreBounded(t *testing.T) {
	t.Parallel()
	timecards := calculation.NewReader(nil, nil, nil)
	for name, c := range map[string]struct{ employees, days int }{
		"employees": {501, 1}, "days": {1, 367}, "no days": {1, 0}, "employees and days": {301, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := timecards.WorkedShifts(tenant.With(t.Context(), 1), make([]int64, c.employees), civil.Range{To: civil.Date(c.days)})
			assert.Equal(t, fault.CodeBadRequest, fault.FromError(err).Code)
		})
	}
}
