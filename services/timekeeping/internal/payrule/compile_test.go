package payrule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// payCodes is how a pay code is known: by the name of a ref, or else by its id.
func payCodes(ref *commonv1.Ref) worktime.PayCode {
	return worktime.PayCode{ID: ref.GetId(), Name: ref.GetQualifier()}
}

func compiledRules(t *testing.T, list ...*timekeepingv1.PayRule) *Rules {
	t.Helper()
	stored := make([]*timekeepingv1.PayRule, len(list))
	for i, r := range list {
		var err error
		stored[i], err = New(&setupname.Names{}).resource.Validate("payRule", r)
		require.NoError(t, err)
		order(stored[i])
	}
	rules, err := Compile(stored, map[string]int64{"former": 1, "empty": 1, "of nothing": 77}, payCodes)
	require.NoError(t, err)
	return rules
}

func TestHowARuleIsOnADay(t *testing.T) {
	t.Parallel()
	rules := compiledRules(t, &timekeepingv1.PayRule{Id: proto.Int64(1), Name: "Hourly", EffectiveVersions: []*dated{
		{EffectiveDate: "2026-03-01", LongestShift: minutes(600)}, {EffectiveDate: "2026-01-01", LongestShift: minutes(480)},
	}}, &timekeepingv1.PayRule{Id: proto.Int64(2), Name: "Empty"})
	none := rules.none.MaxShift / minute
	for _, c := range []struct {
		name, day string
		ref       *commonv1.Ref
		rule      string
		longest   int64 // of shifts, which tells the versions apart
	}{
		{"before the first version", "2025-12-31", refByName("Hourly"), "Hourly", none},
		{"the first day of a version", "2026-01-01", refByName("Hourly"), "Hourly", 480},
		{"the day before the next version", "2026-02-28", refByName("Hourly"), "Hourly", 480},
		{"the first day of the next version", "2026-03-01", refByName("Hourly"), "Hourly", 600},
		{"long after", "2999-12-31", refByName("Hourly"), "Hourly", 600},
		{"by name, without case", "2026-01-01", refByName("hOURLY"), "Hourly", 480},
		{"by id, which wins", "2026-01-01", &commonv1.Ref{Id: proto.Int64(1), Qualifier: proto.String("Empty")}, "Hourly", 480},
		{"an id that is not there", "2026-01-01", &commonv1.Ref{Id: proto.Int64(3), Qualifier: proto.String("Hourly")}, "", none},
		{"a name that is not there", "2026-01-01", refByName("Weekly"), "", none},
		{"a former name", "2026-01-01", refByName("Former"), "Hourly", 480},
		{"a former name of no rule", "2026-01-01", refByName("Of nothing"), "", none},
		{"no rule", "2026-01-01", nil, "", none},
		{"a rule without versions", "2026-01-01", refByName("Empty"), "Empty", none},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			day, err := civil.ParseDate(c.day)
			require.NoError(t, err)
			name, rule := rules.On(c.ref, day)
			assert.Equal(t, c.rule, name)
			assert.Equal(t, c.longest*minute, rule.MaxShift)
		})
	}
}

// The longest shift of all rules bounds how far back the beginning of a shift is looked for.
func TestLongestShiftOfAllRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		of   []int32
		want int64
	}{
		{"no rule", nil, 960},
		{"shorter than without a rule", []int32{480}, 960},
		{"the longest of several", []int32{480, 1440, 1000}, 1440},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rule := &timekeepingv1.PayRule{Name: "Hourly"}
			for i, n := range c.of {
				rule.EffectiveVersions = append(rule.EffectiveVersions, &dated{EffectiveDate: civil.Date(i).String(), LongestShift: &n})
			}
			assert.Equal(t, c.want*minute, compiledRules(t, rule).MaxShift())
		})
	}
}

func TestRulesCompiledFromVersions(t *testing.T) {
	t.Parallel()
	limit := func(seconds int64) *int64 { return &seconds }
	plain := worktime.Rule{
		Regular: worktime.PayCode{Name: "Regular"}, MaxShift: 16 * 3600, ShiftGap: 4 * 3600, RepeatWithin: 60, WeekStart: time.Monday, FlagAbsence: true,
	}
	with := func(change func(*worktime.Rule)) worktime.Rule {
		rule := plain
		change(&rule)
		return rule
	}
	for _, c := range []struct {
		name  string
		given *dated
		want  worktime.Rule
	}{
		{"nothing", &dated{}, plain},
		{"another regular pay code", &dated{RegularPayCode: refByName("Salary")}, with(func(r *worktime.Rule) { r.Regular.Name = "Salary" })},
		{"another week", &dated{WeekStart: "Saturday"}, with(func(r *worktime.Rule) { r.WeekStart = time.Saturday })},
		{"other flags", &dated{FlagAbsence: proto.Bool(false), FlagUnscheduled: proto.Bool(true)}, with(func(r *worktime.Rule) { r.FlagAbsence, r.FlagUnscheduled = false, true })},
		{"every touch counts", &dated{RepeatedPunchSeconds: proto.Int32(0)}, with(func(r *worktime.Rule) { r.RepeatWithin = 0 })},
		{"cut seconds", &dated{CutSeconds: proto.Bool(true)}, with(func(r *worktime.Rule) { r.CutSeconds = true })},
		{"long shifts", &dated{LongShift: minutes(600)}, with(func(r *worktime.Rule) { r.LongShift = 36000 })},
		{"rounding", &dated{InRounding: &rounding{Interval: minutes(15), Grace: minutes(7)}, OutRounding: &rounding{Interval: minutes(6)}}, with(func(r *worktime.Rule) {
			r.In, r.Out = worktime.Rounding{Interval: 900, Grace: 420}, worktime.Rounding{Interval: 360}
		})},
		{"the schedule", &dated{ScheduleRounding: &window{EarlyIn: minutes(1), LateIn: minutes(2), EarlyOut: minutes(3), LateOut: minutes(4)}}, with(func(r *worktime.Rule) {
			r.Snap = worktime.Snap{EarlyIn: 60, LateIn: 120, EarlyOut: 180, LateOut: 240}
		})},
		{"exceptions, of which 0 is one and nothing is none", &dated{Exceptions: &window{EarlyIn: minutes(0), LateOut: minutes(5)}}, with(func(r *worktime.Rule) {
			r.Tolerance = worktime.Tolerance{EarlyIn: limit(0), LateOut: limit(300)}
		})},
		{"a break", &dated{Breaks: []*breakTime{{After: minutes(360), Length: minutes(30)}}}, with(func(r *worktime.Rule) {
			r.Breaks = []worktime.Break{{After: 21600, Length: 1800}}
		})},
		{"overtime", &dated{DailyOvertime: []*tier{{After: minutes(480), PayCode: refByName("A")}}, WeeklyOvertime: []*tier{{After: minutes(3000), PayCode: refByName("C")}, {After: minutes(2400), PayCode: refByName("B")}}}, with(func(r *worktime.Rule) {
			r.Daily = []worktime.Tier{{After: 28800, PayCode: worktime.PayCode{Name: "A"}}}
			r.Weekly = []worktime.Tier{{After: 144000, PayCode: worktime.PayCode{Name: "B"}}, {After: 180000, PayCode: worktime.PayCode{Name: "C"}}}
		})},
		{"a week that splits", &dated{WeekSplit: "boundary"}, with(func(r *worktime.Rule) { r.SplitWeeks = true })},
		{"a day that begins in the morning", &dated{DayDivide: &divide{Time: "05:30", Split: proto.Bool(true)}}, with(func(r *worktime.Rule) { r.DayStart, r.SplitDays = 19800, true })},
		{"a day that begins at noon", &dated{DayDivide: &divide{Time: "12:00:00"}}, with(func(r *worktime.Rule) { r.DayStart = 43200 })},
		{"a day that begins in the evening", &dated{DayDivide: &divide{Time: "22:00"}}, with(func(r *worktime.Rule) { r.DayStart = -7200 })},
		{"a day that begins at midnight", &dated{DayDivide: &divide{}}, plain},
		{"a seventh day and a holiday", &dated{SeventhDayOvertime: []*tier{{After: minutes(0), PayCode: refByName("A")}}, HolidayPremium: []*tier{{After: minutes(480), PayCode: refByName("B")}}}, with(func(r *worktime.Rule) {
			r.SeventhDay = []worktime.Tier{{PayCode: worktime.PayCode{Name: "A"}}}
			r.Holiday = []worktime.Tier{{After: 28800, PayCode: worktime.PayCode{Name: "B"}}}
		})},
		{"a credit", &dated{HolidayCredit: &credit{PayCode: refByName("A"), Length: minutes(480), UnlessWorked: proto.Bool(true)}}, with(func(r *worktime.Rule) {
			r.Credit = &worktime.Credit{PayCode: worktime.PayCode{Name: "A"}, Length: 28800, UnlessWorked: true}
		})},
		{"a regular rate", &dated{RegularRate: &regularRate{Bonuses: []*commonv1.Ref{refByName("A")}}}, with(func(r *worktime.Rule) {
			r.RegularRate = &worktime.RegularRate{Bonuses: []worktime.PayCode{{Name: "A"}}}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, got := compiledRules(t, newRule(c.given)).On(refByName("Hourly"), civil.Of(2026, 1, 1))
			assert.Equal(t, c.want, *got)
		})
	}
}
