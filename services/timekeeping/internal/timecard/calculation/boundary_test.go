package calculation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// timecardsWithRule returns the timecards of an employee in Berlin, 7, with the given pay rule.
func timecardsWithRule(t *testing.T, v *timekeepingv1.PayRuleVersion, holidays ...civil.Date) *timecardtest.Timecards {
	t.Helper()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	for _, code := range []*timekeepingv1.PayCode{
		{Name: "Over", WageMultiplier: proto.Float64(1.5)}, {Name: "Holiday"}, {Name: "Bonus", Unit: "MONEY"},
	} {
		_, err := paycode.New(pool, paycodetest.Terms{}).CreatePayCode(ctx, code)
		require.NoError(t, err)
	}
	v.EffectiveDate = "1900-01-01"
	_, err := payrule.New(paycodetest.Names(pool)).CreatePayRule(ctx, &timekeepingv1.PayRule{Name: "Ruled", EffectiveVersions: []*timekeepingv1.PayRuleVersion{v}})
	require.NoError(t, err)
	_, err = pool.Exec(ctx, `INSERT INTO person (tenant_id, id, person_number, version, time_zone, hire_date, terminated)
		VALUES (1, 7, '7', 1, 'Europe/Berlin', '2026-02-01', '{[2026-05-01,3000-01-01)}')`)
	require.NoError(t, err)
	pay := &commonsv1.PersonPay{
		PayRules: []*commonsv1.PersonDayText{{From: 0, To: int32(civil.Of(3000, time.January, 1)), Text: "Ruled"}},
		Wages:    []*commonsv1.PersonWage{{From: 0, To: int32(civil.Of(3000, time.January, 1)), HourlyRate: 6}},
	}
	return timecardtest.New(pool, timecardtest.Known{7: {Pay: pay, Holidays: holidays}}, timecardtest.Noon(t, "2026-06-01"))
}

func ref(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &name} }

// A part of a shift that counts on the day after the signed ones stays there.
func TestSplitShiftsAcrossASignOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rule *timekeepingv1.PayRuleVersion
	}{
		{"weeks", &timekeepingv1.PayRuleVersion{WeekSplit: "BOUNDARY"}},
		{"days", &timekeepingv1.PayRuleVersion{DayDivide: &timekeepingv1.PayRuleDayDivide{Split: proto.Bool(true)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			timecards := timecardsWithRule(t, c.rule)
			ctx := tenant.With(t.Context(), 1)
			timecards.Punch(ctx, t, 7, "2026-03-06T08:00", "2026-03-06T16:00", "2026-03-08T20:00", "2026-03-09T08:00", "2026-03-09T20:00", "2026-03-09T23:00")
			want := []string{
				"2026-03-06 WORKED Regular  28800", "2026-03-08 WORKED Regular  14400", "2026-03-09 WORKED Regular  39600",
			}
			require.Equal(t, want, timecards.Totals(ctx, t, "2026-03-01", "2026-03-10", 7))
			require.Equal(t, want[2:], timecards.Totals(ctx, t, "2026-03-09", "2026-03-09", 7))
			timecards.SignOff(ctx, t, 7, civil.Through(civil.Of(2026, 3, 2), civil.Of(2026, 3, 8)))
			assert.Equal(t, want, timecards.Totals(ctx, t, "2026-03-01", "2026-03-10", 7))
			assert.Equal(t, want[2:], timecards.Totals(ctx, t, "2026-03-09", "2026-03-09", 7))
			timecards.SignOff(ctx, t, 7, civil.Through(civil.Of(2026, 3, 9), civil.Of(2026, 3, 9)))
			assert.Equal(t, want, timecards.Totals(ctx, t, "2026-03-01", "2026-03-10", 7))
		})
	}
}

func TestHolidayCredits(t *testing.T) {
	t.Parallel()
	day := civil.Of(2026, 3, 2)
	holidays := []civil.Date{civil.Of(2026, 1, 1), day, day + 1, civil.Of(2026, 5, 1)}
	for _, c := range []struct {
		name         string
		unlessWorked bool
		want         []string
	}{
		{"beside work", false, []string{"2026-03-02 WORKED Regular  14400", "2026-03-02 PAY_CODE_EDIT Holiday  28800", "2026-03-03 PAY_CODE_EDIT Holiday  28800"}},
		{"instead of work", true, []string{"2026-03-02 WORKED Regular  14400", "2026-03-03 PAY_CODE_EDIT Holiday  28800"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			timecards := timecardsWithRule(t, &timekeepingv1.PayRuleVersion{HolidayCredit: &timekeepingv1.PayRuleHolidayCredit{
				PayCode: ref("Holiday"), Length: proto.Int32(480), UnlessWorked: &c.unlessWorked,
			}}, holidays...)
			ctx := tenant.With(t.Context(), 1)
			timecards.Punch(ctx, t, 7, "2026-03-02T08:00", "2026-03-02T12:00")
			assert.Equal(t, c.want, timecards.Totals(ctx, t, "2026-01-01", "2026-05-31", 7), "nothing before the hire date and after the termination")
			timecards.SignOff(ctx, t, 7, civil.Through(day, day))
			assert.Equal(t, c.want, timecards.Totals(ctx, t, "2026-01-01", "2026-05-31", 7))
		})
	}
}

// The regular rate is the rate of the whole week, whichever days are read or signed off.
func TestTheRegularRateDoesNotDependOnTheRange(t *testing.T) {
	t.Parallel()
	timecards := timecardsWithRule(t, &timekeepingv1.PayRuleVersion{
		WeeklyOvertime: []*timekeepingv1.PayRuleTier{{After: proto.Int32(2400), PayCode: ref("Over")}},
		RegularRate:    &timekeepingv1.PayRuleRegularRate{Bonuses: []*commonv1.Ref{ref("Bonus")}},
	})
	ctx := tenant.With(t.Context(), 1)
	for _, day := range []string{"02", "03", "04", "05"} {
		timecards.Punch(ctx, t, 7, "2026-03-"+day+"T08:00", "2026-03-"+day+"T17:00")
	}
	timecards.Punch(ctx, t, 7, "2026-03-06T08:00", "2026-03-06T18:00")
	wages := func(from, to int) (out []string) {
		timecards, err := timecards.Reader.Views(ctx, []int64{7}, civil.Through(civil.Of(2026, 3, from), civil.Of(2026, 3, to)), true)
		require.NoError(t, err)
		for _, d := range timecards[0].Days {
			for _, total := range d.GetTotals() {
				out = append(out, total.GetPayCode().GetQualifier()+" "+total.GetWages())
			}
		}
		return out
	}
	all := []string{"Regular 54", "Regular 54", "Regular 54", "Regular 54", "Over 54", "Regular 24"}
	require.Equal(t, all, wages(2, 8), "without a bonus, overtime pays time and a half")
	require.Equal(t, all[4:], wages(6, 6))
	timecards.SignOff(ctx, t, 7, civil.Through(civil.Of(2026, 3, 2), civil.Of(2026, 3, 5)))
	assert.Equal(t, all[4:], wages(6, 6))
	assert.True(t, slices.Equal(all, wages(1, 8)))
}
