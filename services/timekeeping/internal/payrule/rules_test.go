package payrule

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
)

type (
	dated     = timekeepingv1.PayRuleVersion
	rounding  = timekeepingv1.PayRuleRounding
	window    = timekeepingv1.PayRuleWindow
	breakTime = timekeepingv1.PayRuleBreak
	tier      = timekeepingv1.PayRuleTier
	divide    = timekeepingv1.PayRuleDayDivide
	credit    = timekeepingv1.PayRuleHolidayCredit

	regularRate = timekeepingv1.PayRuleRegularRate
)

func minutes(n int32) *int32 { return &n }

func refByName(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &name} }

// newRule returns a rule with one version, which holds from 2026 on.
func newRule(v *dated) *timekeepingv1.PayRule {
	v.EffectiveDate = "2026-01-01"
	return &timekeepingv1.PayRule{Name: "Hourly", EffectiveVersions: []*dated{v}}
}

func TestPayRulesThatAreRefused(t *testing.T) {
	t.Parallel()
	eleven := make([]*breakTime, maxList+1)
	for i := range eleven {
		eleven[i] = &breakTime{After: minutes(0), Length: minutes(1)}
	}
	for _, c := range []struct {
		name, says string
		given      *timekeepingv1.PayRule
	}{
		{"no name", "payRule.name is missing", &timekeepingv1.PayRule{}},
		{"a version without a date", "effectiveVersions[0].effectiveDate is missing", &timekeepingv1.PayRule{Name: "A", EffectiveVersions: []*dated{{}}}},
		{"a date twice", "the effectiveDate 2026-01-01 twice", &timekeepingv1.PayRule{Name: "A", EffectiveVersions: []*dated{{EffectiveDate: "2026-01-01"}, {EffectiveDate: "2025-01-01"}, {EffectiveDate: "2026-01-01"}}}},
		{"no day of the week", "weekStart must be one of", newRule(&dated{WeekStart: "Someday"})},
		{"intervals of no length", "inRounding.interval must be a divisor of 60", newRule(&dated{InRounding: &rounding{}})},
		{"intervals that do not fill an hour", "outRounding.interval must be a divisor of 60", newRule(&dated{OutRounding: &rounding{Interval: minutes(7)}})},
		{"intervals of two hours", "inRounding.interval must be a divisor of 60", newRule(&dated{InRounding: &rounding{Interval: minutes(120)}})},
		{"negative intervals", "inRounding.interval must be a divisor of 60", newRule(&dated{InRounding: &rounding{Interval: minutes(-15)}})},
		{"more grace than the interval", "outRounding.grace must be from 0 to 15", newRule(&dated{OutRounding: &rounding{Interval: minutes(15), Grace: minutes(16)}})},
		{"too many breaks", "at most 10 breaks and tiers", newRule(&dated{Breaks: eleven})},
		{"an unknown split of weeks", "weekSplit must be SHIFT_START or BOUNDARY", newRule(&dated{WeekSplit: "MIDNIGHT"})},
		{"a divide within a minute", "dayDivide.time must be a time of day in whole minutes", newRule(&dated{DayDivide: &divide{Time: "05:00:30"}})},
		{"a credit without a pay code", "holidayCredit.payCode is missing", newRule(&dated{HolidayCredit: &credit{Length: minutes(480)}})},
		{"a seventh day without a pay code", "seventhDayOvertime[0].payCode is missing", newRule(&dated{SeventhDayOvertime: []*tier{{After: minutes(0)}}})},
		{"work on a holiday without a pay code", "holidayPremium[0].payCode is missing", newRule(&dated{HolidayPremium: []*tier{{After: minutes(0)}}})},
		{"too many tiers of a holiday", "at most 10 breaks and tiers", newRule(&dated{HolidayPremium: slices.Repeat([]*tier{{After: minutes(0), PayCode: refByName("A")}}, maxList+1)})},
		{"overtime without a pay code", "dailyOvertime[0].payCode is missing", newRule(&dated{DailyOvertime: []*tier{{After: minutes(480)}}})},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := New(&setupname.Names{}).resource.Validate("payRule", c.given)
			require.ErrorContains(t, err, c.says)
			code := paycode.CodeInvalid
			if strings.Contains(c.says, "missing") {
				code = paycode.CodeMissing
			}
			assert.True(t, fault.HasCode(err, code), "%v instead of %s", err, code)
		})
	}
}

func TestDefaultsOfVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		given, want *dated
	}{
		{"nothing", &dated{}, &dated{LongestShift: minutes(960), LongestBreak: minutes(240), RepeatedPunchSeconds: proto.Int32(60), FlagAbsence: proto.Bool(true), WeekStart: "MONDAY", WeekSplit: "SHIFT_START"}},
		{
			"what is given stays", &dated{RepeatedPunchSeconds: proto.Int32(0), LongestShift: minutes(1440), LongestBreak: minutes(0), FlagAbsence: proto.Bool(false), WeekStart: "sunday"},
			&dated{RepeatedPunchSeconds: proto.Int32(0), LongestShift: minutes(1440), LongestBreak: minutes(0), FlagAbsence: proto.Bool(false), WeekStart: "SUNDAY", WeekSplit: "SHIFT_START"},
		},
		{
			"breaks and tiers are in order", &dated{
				Breaks:        []*breakTime{{After: minutes(540), Length: minutes(15)}, {After: minutes(0), Length: minutes(240)}},
				DailyOvertime: []*tier{{After: minutes(600), PayCode: refByName("Double")}, {After: minutes(480), PayCode: refByName("Overtime")}},
			}, &dated{
				LongestShift: minutes(960), LongestBreak: minutes(240), RepeatedPunchSeconds: proto.Int32(60), FlagAbsence: proto.Bool(true), WeekStart: "MONDAY", WeekSplit: "SHIFT_START",
				Breaks:        []*breakTime{{After: minutes(0), Length: minutes(240)}, {After: minutes(540), Length: minutes(15)}},
				DailyOvertime: []*tier{{After: minutes(480), PayCode: refByName("Overtime")}, {After: minutes(600), PayCode: refByName("Double")}},
			},
		},
		{
			"the most there may be", &dated{InRounding: &rounding{Interval: minutes(60), Grace: minutes(60)}, Exceptions: &window{LateIn: minutes(720), EarlyOut: minutes(0)}, LongestShift: minutes(60)},
			&dated{
				InRounding: &rounding{Interval: minutes(60), Grace: minutes(60)}, Exceptions: &window{LateIn: minutes(720), EarlyOut: minutes(0)},
				LongestShift: minutes(60), LongestBreak: minutes(240), RepeatedPunchSeconds: proto.Int32(60), FlagAbsence: proto.Bool(true), WeekStart: "MONDAY", WeekSplit: "SHIFT_START",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := New(&setupname.Names{}).resource.Validate("payRule", newRule(c.given))
			require.NoError(t, err)
			order(got)
			c.want.EffectiveDate = "2026-01-01"
			assert.True(t, proto.Equal(c.want, got.GetEffectiveVersions()[0]), "%v", got)
		})
	}
	t.Run("versions are in the order of their dates", func(t *testing.T) {
		t.Parallel()
		got, err := New(&setupname.Names{}).resource.Validate("payRule", &timekeepingv1.PayRule{Name: "A", EffectiveVersions: []*dated{{EffectiveDate: "2026-01-01"}, {EffectiveDate: "1999-12-31"}, {EffectiveDate: "2025-06-01"}}})
		require.NoError(t, err)
		order(got)
		var dates []string
		for _, v := range got.GetEffectiveVersions() {
			dates = append(dates, v.GetEffectiveDate())
		}
		assert.Equal(t, []string{"1999-12-31", "2025-06-01", "2026-01-01"}, dates)
	})
}
