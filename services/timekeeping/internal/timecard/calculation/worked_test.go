package calculation_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestReadWorkedTime(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	day := func(text string) int32 {
		d, err := civil.ParseDate(text)
		require.NoError(t, err)
		return int32(d)
	}
	pay := &commonsv1.PersonPay{
		PrimaryJobs: []*commonsv1.PersonDayText{
			{From: day("2026-01-01"), To: day("2026-03-04"), Text: "A/Clerk"}, {From: day("2026-03-04"), To: day("3000-01-01"), Text: "A/Cook"},
		},
		PayRules: []*commonsv1.PersonDayText{{From: day("2026-01-01"), To: day("3000-01-01"), Text: "hourly"}},
	}
	timecards := timecardtest.New(pool, timecardtest.Known{7: {Pay: pay}}, timecardtest.Noon(t, "2026-04-01"))
	codes, rules := paycode.New(pool, paycodetest.Terms{}), payrule.New(paycodetest.Names(pool))
	overtime, err := codes.CreatePayCode(ctx, &timekeepingv1.PayCode{Name: "Overtime"})
	require.NoError(t, err)
	_, err = rules.CreatePayRule(ctx, &timekeepingv1.PayRule{Name: "Hourly", EffectiveVersions: []*timekeepingv1.PayRuleVersion{{
		EffectiveDate: "2026-03-03", DailyOvertime: []*timekeepingv1.PayRuleTier{{After: proto.Int32(480), PayCode: &commonv1.Ref{Id: overtime.Id}}},
	}}})
	require.NoError(t, err)
	timecards.Punch(ctx, t, 7, "2026-03-02T08:00", "2026-03-02T18:00", "2026-03-03T22:00", "2026-03-04T08:00", "2026-03-04T20:00", "2026-03-05T01:00",
		"2026-03-28T22:00", "2026-03-29T06:00", "2026-03-31T08:00")
	timecards.Punch(tenant.With(t.Context(), 2), t, 7, "2026-03-02T01:00", "2026-03-02T23:00")

	got := timecards.Worked(ctx, t, "2026-03-01", "2026-03-31", 8, 7)
	require.Len(t, got, 2)
	assert.Empty(t, got[0].GetTotals())
	assert.Equal(t, []string{
		"2026-03-02 WORKED Regular A/Clerk 36000", // The rule does not hold yet.
		"2026-03-03 WORKED Overtime A/Clerk 7200",
		"2026-03-03 WORKED Regular A/Clerk 28800",
		"2026-03-04 WORKED Regular A/Cook 18000",
		"2026-03-28 WORKED Regular A/Cook 25200", // In this night the clock goes forward.
	}, timecardtest.Describe(got[1].GetTotals()))
	assert.Equal(t, "Hourly", got[1].GetPayRule())
	assert.Equal(t, int32(1), got[1].GetMissedPunches())
	assert.Equal(t, overtime.GetId(), got[1].GetTotals()[1].GetPayCode().GetId())

	// A part of the range is the same as the whole.
	got = timecards.Worked(ctx, t, "2026-03-04", "2026-03-04", 7)
	assert.Equal(t, []string{"2026-03-04 WORKED Regular A/Cook 18000"}, timecardtest.Describe(got[0].GetTotals()))
}

// Pay code edits of the schedule count as hours, excuse absences, and stay on days that are signed
// off.
func TestPayCodeEditsOfTheSchedule(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	night := civil.Of(2026, time.March, 28) // On which the clock goes forward.
	shift := func(day civil.Date, taken bool) *schedulingv1.EmployeeShift {
		return &schedulingv1.EmployeeShift{Day: int32(day), Segments: []*schedulingv1.EmployeeShiftSegment{{StartSecond: 22 * 3600, EndSecond: 30 * 3600, Taken: taken}}}
	}
	edit := func(day civil.Date, a *schedulingv1.PayCodeAmount) *schedulingv1.EmployeePayCodeEdit {
		return &schedulingv1.EmployeePayCodeEdit{Day: int32(day), Amount: a}
	}
	known := timecardtest.Known{7: {
		Pay: &commonsv1.PersonPay{PayRules: []*commonsv1.PersonDayText{{From: int32(night - 100), To: int32(night + 100), Text: "Watched"}}},
		Schedule: &schedulingv1.EmployeeDays{Shifts: []*schedulingv1.EmployeeShift{shift(night, true), shift(night+1, false), shift(night+2, false)}, PayCodeEdits: []*schedulingv1.EmployeePayCodeEdit{
			edit(night-1, &schedulingv1.PayCodeAmount{PayCode: "Off", Seconds: 60}), edit(night, &schedulingv1.PayCodeAmount{PayCode: "off", Halves: 2, Job: "A/B"}),
			edit(night+1, &schedulingv1.PayCodeAmount{PayCode: "Day", Halves: 1}), edit(night+2, &schedulingv1.PayCodeAmount{PayCode: "Gone", Money: 5, StartSecond: 1}),
		}},
	}}
	timecards := timecardtest.New(pool, known, timecardtest.Noon(t, "2026-04-02"))
	for i, code := range []*timekeepingv1.PayCode{{Name: "Off"}, {Name: "Day", Unit: "DAY", ExcusedAbsence: proto.Bool(true)}} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := paycode.New(pool, paycodetest.Terms{}).CreatePayCode(ctx, code)
			require.NoError(t, err)
		})
	}
	_, err := payrule.New(paycodetest.Names(pool)).CreatePayRule(ctx, &timekeepingv1.PayRule{Name: "Watched", EffectiveVersions: []*timekeepingv1.PayRuleVersion{{
		EffectiveDate: "1900-01-01", FlagAbsence: proto.Bool(true),
	}}})
	require.NoError(t, err)
	_, err = pool.Exec(ctx, `INSERT INTO person (tenant_id, id, person_number, version, time_zone) VALUES (1, 7, '7', 1, 'Europe/Berlin')`)
	require.NoError(t, err)
	want := []string{
		"2026-03-28 PAY_CODE_EDIT Off A/B 25200", "2026-03-29 PAY_CODE_EDIT Day  00.5", "2026-03-30 PAY_CODE_EDIT Gone  00.0005",
	}
	assert.Equal(t, want, timecards.Totals(ctx, t, "2026-03-28", "2026-03-31", 7))
	views, err := timecards.Reader.Views(ctx, []int64{7}, civil.Through(night, night+3), false)
	require.NoError(t, err)
	var absent []string
	for _, d := range views[0].Days {
		for _, e := range d.GetExceptions() {
			absent = append(absent, e.GetApplyDate())
		}
	}
	assert.Equal(t, []string{"2026-03-30"}, absent, "time off takes one, and another is excused")

	timecards.SignOff(ctx, t, 7, civil.Through(night, night+1))
	known[7].Schedule.PayCodeEdits = nil
	assert.Equal(t, want[:2], timecards.Totals(ctx, t, "2026-03-28", "2026-03-31", 7))
}

// The totals of each day are the same, whether it is read alone or with others.
func TestADayAloneIsTheSameAsWithOthers(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	timecards := timecardtest.New(pool, timecardtest.Known{}, timecardtest.Noon(t, "2026-04-01"))
	at := time.Date(2026, 3, 1, 7, 0, 0, 0, time.UTC)
	var local []string
	for i := range 60 {
		// Pauses of less than the longest shift, a missing punch now and then.
		local = append(local, at.Format("2006-01-02T15:04"))
		at = at.Add(time.Duration(3+(i*7)%13) * time.Hour)
	}
	timecards.Punch(ctx, t, 7, local...)
	var each []string
	for day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC); day.Before(time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC)); day = day.AddDate(0, 0, 1) {
		each = append(each, timecards.Totals(ctx, t, day.Format(time.DateOnly), day.Format(time.DateOnly), 7)...)
	}
	assert.Equal(t, timecards.Totals(ctx, t, "2026-03-01", "2026-03-30", 7), each)
	assert.NotEmpty(t, each)
}

func BenchmarkReadWorkedTime(b *testing.B) {
	pool := pooltest.New(b)
	ctx := tenant.With(b.Context(), 1)
	timecards := timecardtest.New(pool, timecardtest.Known{}, timecardtest.Noon(b, "2026-04-01"))
	ids := make([]int64, calculation.MaxEmployees)
	for i := range ids {
		ids[i] = int64(i + 1)
		var local []string
		for day := 1; day <= 31; day++ {
			for _, hour := range []string{"08:00", "12:00", "12:30", "17:00"} {
				local = append(local, fmt.Sprintf("2026-03-%02dT%s", day, hour))
			}
		}
		timecards.Punch(ctx, b, ids[i], local...)
	}
	for b.Loop() {
		_, err := timecards.Reader.WorkedTime(ctx, ids, civil.Through(civil.Of(2026, 3, 1), civil.Of(2026, 3, 31)))
		require.NoError(b, err)
	}
}
