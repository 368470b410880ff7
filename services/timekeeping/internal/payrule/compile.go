package payrule

import (
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// regular is the pay code of time without another pay code.
const regular = "Regular"

// Rules are the pay rules of a tenant in the form of the calculation.
type Rules struct {
	byID   map[int64]*compiled
	byName map[string]*compiled
	// none is the rule of employees without a pay rule.
	none     *worktime.Rule
	maxShift int64
	// splits and regularRate report whether any rule has this setting.
	splits, regularRate bool
}

type compiled struct {
	name string
	days []version
}

type version struct {
	from civil.Date
	rule worktime.Rule
	// fullDay is the maximum leave, in seconds, of a day without scheduled work.
	fullDay int64
}

// Compile converts stored pay rules. former are the ids of pay rules by former names in lower case.
// payCode returns the pay code with an id or, without one, with a name; the pay code may not exist.
func Compile(list []*timekeepingv1.PayRule, former map[string]int64, payCode func(*commonv1.Ref) worktime.PayCode) (*Rules, error) {
	named := regular
	paid := payCode(&commonv1.Ref{Qualifier: &named})
	out := &Rules{byID: map[int64]*compiled{}, byName: map[string]*compiled{}}
	out.none = &worktime.Rule{Regular: paid, MaxShift: defaultLongestShift * minute, ShiftGap: defaultLongestBreak * minute, RepeatWithin: defaultRepeatedPunchSeconds, WeekStart: 1, FlagAbsence: true}
	out.maxShift = out.none.MaxShift
	for _, r := range list {
		c := &compiled{name: r.GetName()}
		for _, v := range r.GetEffectiveVersions() {
			from, err := civil.ParseDate(v.GetEffectiveDate())
			if err != nil {
				return nil, err
			}
			rule := compile(v, payCode, paid)
			out.maxShift, out.splits = max(out.maxShift, rule.MaxShift), out.splits || rule.Splits()
			out.regularRate = out.regularRate || rule.RegularRate != nil
			c.days = append(c.days, version{from, rule, fullDay(v)})
		}
		out.byID[r.GetId()], out.byName[strings.ToLower(r.GetName())] = c, c
	}
	for name, id := range former {
		if out.byName[name] == nil && out.byID[id] != nil {
			out.byName[name] = out.byID[id]
		}
	}
	return out, nil
}

const minute = 60

func compile(v *timekeepingv1.PayRuleVersion, payCode func(*commonv1.Ref) worktime.PayCode, paid worktime.PayCode) worktime.Rule {
	if v.GetRegularPayCode() != nil {
		paid = payCode(v.GetRegularPayCode())
	}
	seconds := func(n int32) int64 { return int64(n) * minute }
	tolerated := func(n *int32) *int64 {
		if n == nil {
			return nil
		}
		limit := seconds(*n)
		return &limit
	}
	snap, limits := v.GetScheduleRounding(), v.GetExceptions()
	if limits == nil {
		limits = &timekeepingv1.PayRuleWindow{}
	}
	rule := worktime.Rule{
		Regular: paid, MaxShift: seconds(v.GetLongestShift()), ShiftGap: seconds(v.GetLongestBreak()),
		RepeatWithin: repeatWithin(v), CutSeconds: v.GetCutSeconds(), LongShift: seconds(v.GetLongShift()),
		In:        worktime.Rounding{Interval: seconds(v.GetInRounding().GetInterval()), Grace: seconds(v.GetInRounding().GetGrace())},
		Out:       worktime.Rounding{Interval: seconds(v.GetOutRounding().GetInterval()), Grace: seconds(v.GetOutRounding().GetGrace())},
		Snap:      worktime.Snap{EarlyIn: seconds(snap.GetEarlyIn()), LateIn: seconds(snap.GetLateIn()), EarlyOut: seconds(snap.GetEarlyOut()), LateOut: seconds(snap.GetLateOut())},
		WeekStart: weekday(v.GetWeekStart()),
		Tolerance: worktime.Tolerance{EarlyIn: tolerated(limits.EarlyIn), LateIn: tolerated(limits.LateIn), EarlyOut: tolerated(limits.EarlyOut), LateOut: tolerated(limits.LateOut)},

		FlagUnscheduled: v.GetFlagUnscheduled(), FlagAbsence: v.GetFlagAbsence(),
	}
	for _, b := range v.GetBreaks() {
		rule.Breaks = append(rule.Breaks, worktime.Break{After: seconds(b.GetAfter()), Length: seconds(b.GetLength())})
	}
	for i, t := range overtimeTiers(v) {
		for _, tier := range t.list {
			to := []*[]worktime.Tier{&rule.Daily, &rule.Weekly, &rule.SeventhDay, &rule.Holiday}[i]
			*to = append(*to, worktime.Tier{After: seconds(tier.GetAfter()), PayCode: payCode(tier.GetPayCode())})
		}
	}
	rule.DayStart, rule.SplitDays, rule.SplitWeeks = dayStart(v), v.GetDayDivide().GetSplit(), v.GetWeekSplit() == splitAtBoundary
	if credit := v.GetHolidayCredit(); credit != nil {
		rule.Credit = &worktime.Credit{PayCode: payCode(credit.GetPayCode()), Length: seconds(credit.GetLength()), UnlessWorked: credit.GetUnlessWorked()}
	}
	if rate := v.GetRegularRate(); rate != nil {
		rule.RegularRate = &worktime.RegularRate{}
		for _, ref := range rate.GetBonuses() {
			rule.RegularRate.Bonuses = append(rule.RegularRate.Bonuses, payCode(ref))
		}
	}
	return rule
}

// dayStart returns the start of a day in seconds from its midnight. A time after noon belongs to
// the date before.
func dayStart(v *timekeepingv1.PayRuleVersion) int64 {
	at, err := civil.ParseTimeOfDay(v.GetDayDivide().GetTime())
	if err != nil {
		return 0 // Without a divide, the day starts at midnight.
	}
	if at > civil.SecondsPerDay/2 {
		return int64(at) - civil.SecondsPerDay
	}
	return int64(at)
}

// repeatWithin returns the setting, or the default for versions that were stored before the setting
// existed.
func repeatWithin(v *timekeepingv1.PayRuleVersion) int64 {
	if v.RepeatedPunchSeconds == nil {
		return defaultRepeatedPunchSeconds
	}
	return int64(v.GetRepeatedPunchSeconds())
}

// MaxShift returns the maximum length of a shift under any rule, in seconds.
func (r *Rules) MaxShift() int64 { return r.maxShift }

// Splits reports whether any rule divides shifts between days.
func (r *Rules) Splits() bool { return r.splits }

// HasRegularRate reports whether any rule pays overtime by a regular rate.
func (r *Rules) HasRegularRate() bool { return r.regularRate }

// fullDay returns the setting, or the default for versions that were stored before the setting
// existed.
func fullDay(v *timekeepingv1.PayRuleVersion) int64 {
	if v.FullDay == nil {
		return defaultFullDay * minute
	}
	return int64(v.GetFullDay()) * minute
}

// FullDay returns the maximum leave, in seconds, of a day without scheduled work, under the pay
// rule that a ref names.
func (r *Rules) FullDay(ref *commonv1.Ref, day civil.Date) int64 {
	if v := r.find(ref).on(day); v != nil {
		return v.fullDay
	}
	return defaultFullDay * minute
}

func (r *Rules) find(ref *commonv1.Ref) *compiled {
	if ref != nil && ref.Id != nil {
		return r.byID[ref.GetId()]
	}
	return r.byName[strings.ToLower(ref.GetQualifier())]
}

// on returns the version that applies on a day, or nil.
func (c *compiled) on(day civil.Date) *version {
	if c == nil {
		return nil
	}
	for i := len(c.days) - 1; i >= 0; i-- {
		if c.days[i].from <= day {
			return &c.days[i]
		}
	}
	return nil
}

// On returns the name of the pay rule that a ref names, and its version on a day. If the pay rule
// does not exist, it returns the rule of employees without one. The id of a ref has priority over
// its qualifier.
func (r *Rules) On(ref *commonv1.Ref, day civil.Date) (string, *worktime.Rule) {
	found := r.find(ref)
	if found == nil {
		return "", r.none
	}
	if v := found.on(day); v != nil {
		return found.name, &v.rule
	}
	return found.name, r.none
}
