package payrule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
)

const (
	maxList = 10

	defaultLongestShift = 960
	// defaultRepeatedPunchSeconds is the default period within which a repeated punch is ignored.
	defaultRepeatedPunchSeconds = 60
	// defaultFullDay is the default maximum leave, in minutes, of a day without scheduled work.
	defaultFullDay      = 480
	defaultLongestBreak = 240
)

func invalid(format string, args ...any) error {
	return fault.Invalid(paycode.CodeInvalid, fmt.Sprintf(format, args...)+".")
}

// prepare validates a pay rule and sets the defaults. It keeps the order of the lists, because
// errors name elements by their position in the request; see order.
func prepare(_ string, r *timekeepingv1.PayRule) (*timekeepingv1.PayRule, error) {
	dates := make(map[string]bool, len(r.GetEffectiveVersions()))
	for i, v := range r.GetEffectiveVersions() {
		if err := check(fmt.Sprintf("effectiveVersions[%d]", i), v); err != nil {
			return nil, err
		}
		if dates[v.GetEffectiveDate()] {
			return nil, invalid("effectiveVersions must not have the effectiveDate %s twice", v.GetEffectiveDate())
		}
		dates[v.GetEffectiveDate()] = true
	}
	r.EffectivePayRules = nil // calculated when the rule is read
	return r, nil
}

// order sorts the versions of a pay rule by date, and the lists of each version by after.
func order(r *timekeepingv1.PayRule) {
	slices.SortStableFunc(r.EffectiveVersions, func(a, b *timekeepingv1.PayRuleVersion) int {
		return cmp.Compare(a.GetEffectiveDate(), b.GetEffectiveDate())
	})
	for _, v := range r.GetEffectiveVersions() {
		slices.SortStableFunc(v.Breaks, func(a, b *timekeepingv1.PayRuleBreak) int { return cmp.Compare(a.GetAfter(), b.GetAfter()) })
		for _, t := range overtimeTiers(v) {
			slices.SortStableFunc(t.list, func(a, b *timekeepingv1.PayRuleTier) int { return cmp.Compare(a.GetAfter(), b.GetAfter()) })
		}
	}
}

func check(path string, v *timekeepingv1.PayRuleVersion) error {
	if _, err := civil.ParseDate(v.GetEffectiveDate()); err != nil {
		return fault.Invalid(paycode.CodeMissing, path+".effectiveDate is missing.")
	}
	if v.LongestShift == nil {
		v.LongestShift = proto.Int32(defaultLongestShift)
	}
	if v.LongestBreak == nil {
		v.LongestBreak = proto.Int32(defaultLongestBreak)
	}
	if v.RepeatedPunchSeconds == nil {
		v.RepeatedPunchSeconds = proto.Int32(defaultRepeatedPunchSeconds)
	}
	if v.FlagAbsence == nil {
		v.FlagAbsence = proto.Bool(true)
	}
	if v.WeekStart = strings.ToUpper(cmp.Or(v.GetWeekStart(), "MONDAY")); weekday(v.GetWeekStart()) < 0 {
		return invalid("%s.weekStart must be one of MONDAY to SUNDAY", path)
	}
	for _, r := range []struct {
		name string
		of   *timekeepingv1.PayRuleRounding
	}{{"inRounding", v.GetInRounding()}, {"outRounding", v.GetOutRounding()}} {
		if r.of == nil {
			continue
		}
		if n := r.of.GetInterval(); n <= 0 || 60%n != 0 {
			return invalid("%s.%s.interval must be a divisor of 60", path, r.name)
		}
		if g := r.of.GetGrace(); g < 0 || g > r.of.GetInterval() {
			return invalid("%s.%s.grace must be from 0 to %d", path, r.name, r.of.GetInterval())
		}
	}
	tooMany := len(v.GetBreaks()) > maxList
	for _, t := range overtimeTiers(v) {
		tooMany = tooMany || len(t.list) > maxList
	}
	if tooMany {
		return invalid("%s must have at most %d breaks and tiers of each kind", path, maxList)
	}
	for _, t := range overtimeTiers(v) {
		for i, tier := range t.list {
			if tier.GetPayCode() == nil {
				return fault.Invalid(paycode.CodeMissing, fmt.Sprintf("%s.%s[%d].payCode is missing.", path, t.name, i))
			}
		}
	}
	return checkBoundaries(path, v)
}

// The values of weekSplit.
const (
	splitByShiftStart = "SHIFT_START"
	splitAtBoundary   = "BOUNDARY"
)

// checkBoundaries validates the starts of days and weeks, and the credits for holidays.
func checkBoundaries(path string, v *timekeepingv1.PayRuleVersion) error {
	v.WeekSplit = strings.ToUpper(cmp.Or(v.GetWeekSplit(), splitByShiftStart))
	if w := v.GetWeekSplit(); w != splitByShiftStart && w != splitAtBoundary {
		return invalid("%s.weekSplit must be %s or %s", path, splitByShiftStart, splitAtBoundary)
	}
	if divide := v.GetDayDivide(); divide != nil {
		at, err := civil.ParseTimeOfDay(cmp.Or(divide.GetTime(), "00:00"))
		if err != nil || at%minute != 0 {
			return invalid("%s.dayDivide.time must be a time of day in whole minutes, such as 05:00", path)
		}
		divide.Time = at.String()[:len("05:00")]
	}
	if credit := v.GetHolidayCredit(); credit != nil && credit.GetPayCode() == nil {
		return fault.Invalid(paycode.CodeMissing, path+".holidayCredit.payCode is missing.")
	}
	return nil
}

type tiers struct {
	name string
	list []*timekeepingv1.PayRuleTier
}

func overtimeTiers(v *timekeepingv1.PayRuleVersion) []tiers {
	return []tiers{
		{"dailyOvertime", v.GetDailyOvertime()},
		{"weeklyOvertime", v.GetWeeklyOvertime()},
		{"seventhDayOvertime", v.GetSeventhDayOvertime()},
		{"holidayPremium", v.GetHolidayPremium()},
	}
}

// weekday returns the day with a name in capitals, or -1 if the name is unknown.
func weekday(name string) time.Weekday {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.ToUpper(day.String()) == name {
			return day
		}
	}
	return -1
}
