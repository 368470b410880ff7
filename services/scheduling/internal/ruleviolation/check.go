package ruleviolation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rulesetassignment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// Checker checks the schedule rules of the employees that get shifts.
type Checker struct{ Deps }

// Written are the days of an employee with shifts that a request writes.
type Written struct {
	Employee *projection.Employee
	Days     civil.Range
}

// Check finds the violations that one change of schedules adds. A nil Check finds none.
type Check struct {
	deps   *Deps
	groups []group
	before []*schedulingv1.ScheduleRuleViolation
}

// group has employees that are evaluated on the same days.
type group struct {
	employees []projection.Employee
	plan      *plan
	births    map[int64]*civil.Date
	// days are the evaluated days, and window the days whose shifts are needed for them.
	days, window civil.Range
}

const (
	// maxGroupDays limits the employees multiplied by the written days of a group with several
	// employees.
	maxGroupDays = 20_000
	// edge is the number of days at both ends of the calendar that are not checked, because rows of
	// days and weeks reach beyond the written days.
	edge = 90
)

// Prepare returns the check of a change, or nil if no rule applies. Call it before the transaction:
// rules for minors need birth dates from commons.
func (c *Checker) Prepare(ctx context.Context, written []Written) (*Check, error) {
	written = join(written)
	if c == nil || len(written) == 0 {
		return nil, nil
	}
	found, err := c.RuleSets.All(ctx, c.Pool)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	out := &Check{deps: &c.Deps}
	for _, part := range split(written) {
		g, err := c.newGroup(ctx, found, part)
		if err != nil {
			return nil, err
		}
		if g != nil {
			out.groups = append(out.groups, *g)
		}
	}
	if len(out.groups) == 0 {
		return nil, nil
	}
	return out, nil
}

// join returns the days of each employee as one range, by their first day.
func join(written []Written) []Written {
	byID := make(map[int64]int, len(written))
	var out []Written
	for _, w := range written {
		w.Days = w.Days.Intersect(civil.Range{From: civil.Beginning.AddDays(edge), To: civil.Forever.AddDays(-edge)})
		if w.Employee == nil || w.Days.Empty() {
			continue
		}
		at, known := byID[w.Employee.ID]
		if !known {
			byID[w.Employee.ID] = len(out)
			out = append(out, w)
			continue
		}
		out[at].Days = cover(out[at].Days, w.Days)
	}
	slices.SortFunc(out, func(a, b Written) int {
		return cmp.Or(cmp.Compare(a.Days.From, b.Days.From), cmp.Compare(a.Employee.ID, b.Employee.ID))
	})
	return out
}

// cover returns the range from the first to the last day of two ranges.
func cover(a, b civil.Range) civil.Range {
	return civil.Range{From: min(a.From, b.From), To: max(a.To, b.To)}
}

// split divides employees so that each part reads a limited number of days.
func split(written []Written) [][]Written {
	days := written[0].Days
	for _, w := range written {
		days = cover(days, w.Days)
	}
	if len(written) == 1 || len(written)*days.Days() <= maxGroupDays {
		return [][]Written{written}
	}
	half := len(written) / 2
	return append(split(written[:half]), split(written[half:])...)
}

// newGroup returns the group of employees, or nil if no rule applies to them.
func (c *Checker) newGroup(ctx context.Context, found []*schedulingv1.ScheduleRuleSet, written []Written) (*group, error) {
	g := &group{plan: &plan{}, days: written[0].Days}
	ids := make([]int64, len(written))
	for i, w := range written {
		g.employees, ids[i] = append(g.employees, *w.Employee), w.Employee.ID
		g.days = cover(g.days, w.Days)
	}
	for _, s := range found {
		if !s.GetActive() || s.GetRuleType().GetId() != schedulerule.Organization {
			continue
		}
		compiled, err := newSet(s, schedulerule.Informational)
		if err != nil {
			return nil, err
		}
		g.plan.sets = append(g.plan.sets, compiled)
	}
	g.plan.forAllEmployees = len(g.plan.sets)
	g.days = findTouched(g.days, found)
	holdings, err := rulesetassignment.EffectiveByEmployee(ctx, c.Pool, ids, rulesetassignment.Default, g.days)
	if err == nil {
		err = g.plan.assign(found, holdings, schedulerule.Informational)
	}
	if err != nil {
		return nil, err
	}
	g.window = g.days
	rules := 0
	for i := range g.plan.sets {
		s := &g.plan.sets[i]
		s.actual = false // A write changes the schedule, and timekeeping is not asked.
		g.window, rules = cover(g.window, s.calendar.Window(g.days, s.rules)), rules+len(s.rules)
	}
	if rules == 0 || g.plan.forAllEmployees == 0 && len(g.plan.assigned) == 0 {
		return nil, nil
	}
	g.births, err = c.readBirthDates(ctx, g.plan.sets, g.employees)
	return g, err
}

// findTouched returns the days whose rules a shift on the days can break: also the night before, and
// the rest that ends after the last day.
func findTouched(days civil.Range, found []*schedulingv1.ScheduleRuleSet) civil.Range {
	rest := 1
	for _, s := range found {
		for _, r := range s.GetRules() {
			if r.GetRule().GetId() != schedulerule.MinRestBetweenShifts {
				continue
			}
			for _, p := range r.GetRuleParameters() {
				rest = max(rest, int(math.Ceil(p.GetValue().GetNumberValue()/24))+1)
			}
		}
	}
	return civil.Range{From: days.From.AddDays(-1), To: days.To.AddDays(rest)}
}

// Before reads the present violations. Call it after the schedules of the employees are locked, and
// before the change.
func (c *Check) Before(ctx context.Context, tx pgx.Tx) (err error) {
	if c != nil {
		c.before, err = c.evaluate(ctx, tx)
	}
	return err
}

// After returns the violations that the change added. It returns an error if one of them has the
// severity Error.
func (c *Check) After(ctx context.Context, tx pgx.Tx) ([]*schedulingv1.ScheduleRuleViolation, error) {
	if c == nil {
		return nil, nil
	}
	after, err := c.evaluate(ctx, tx)
	if err != nil {
		return nil, err
	}
	added := findAdded(c.before, after)
	var forbidden []*schedulingv1.ScheduleRuleViolation
	for _, v := range added {
		if v.GetSeverity().GetId() == schedulerule.Error {
			forbidden = append(forbidden, v)
		}
	}
	if len(forbidden) > 0 {
		return nil, refusal(forbidden)
	}
	return added, nil
}

func (c *Check) evaluate(ctx context.Context, tx pgx.Tx) ([]*schedulingv1.ScheduleRuleViolation, error) {
	reader := c.deps.Reader.In(tx)
	var out []*schedulingv1.ScheduleRuleViolation
	for i := range c.groups {
		g := &c.groups[i]
		shifts, err := reader.ReadTimedShifts(ctx, g.employees, g.window)
		if err != nil {
			return nil, err
		}
		e := newEvaluation(g.plan, g.days, maxViolations-len(out))
		if err := e.addAll(ctx, g.employees, g.births, shifts, nil); err != nil {
			return nil, err
		}
		out = append(out, e.out.GetViolations()...)
	}
	return out, nil
}

// findAdded returns the violations that a change added or made worse. A violation that existed before
// excuses violations of the same rule on overlapping days that are not worse, such as the two remaining
// rows of days of a longer one. Two rests that end on one day are different violations.
func findAdded(before, after []*schedulingv1.ScheduleRuleViolation) []*schedulingv1.ScheduleRuleViolation {
	type key struct{ employee, ruleSet, rule int64 }
	keyOf := func(v *schedulingv1.ScheduleRuleViolation) key {
		return key{v.GetEmployee().GetId(), v.GetRuleSet().GetId(), v.GetRule().GetId()}
	}
	known := map[key][]*schedulingv1.ScheduleRuleViolation{}
	for _, v := range before {
		known[keyOf(v)] = append(known[keyOf(v)], v)
	}
	var out []*schedulingv1.ScheduleRuleViolation
	for _, v := range after {
		list := known[keyOf(v)]
		at := slices.IndexFunc(list, func(old *schedulingv1.ScheduleRuleViolation) bool { return excuses(old, v) })
		if at < 0 {
			out = append(out, v)
			continue
		}
		if v.GetRule().GetId() == schedulerule.MinRestBetweenShifts {
			known[keyOf(v)] = slices.Delete(list, at, at+1)
		}
	}
	return out
}

// excuses reports whether a violation that existed before is at least as bad as a present one of
// the same rule on overlapping days. Dates are texts whose order is the order of the days.
func excuses(old, v *schedulingv1.ScheduleRuleViolation) bool {
	if old.GetLimit() != v.GetLimit() || old.GetStartDate() > v.GetEndDate() || v.GetStartDate() > old.GetEndDate() {
		return false
	}
	switch v.GetRule().GetId() {
	case schedulerule.MinRestBetweenShifts, schedulerule.MinRestWeek:
		return old.GetMeasuredValue() <= v.GetMeasuredValue()
	default:
		return old.GetMeasuredValue() >= v.GetMeasuredValue()
	}
}

// refusal returns the error of forbidden violations. It describes a few of them.
func refusal(forbidden []*schedulingv1.ScheduleRuleViolation) error {
	const most = 5
	var texts []string
	for _, v := range forbidden[:min(most, len(forbidden))] {
		days := "on " + v.GetStartDate()
		if v.GetEndDate() != v.GetStartDate() {
			days = "from " + v.GetStartDate() + " to " + v.GetEndDate()
		}
		unit := strings.ToLower(v.GetUnit())
		texts = append(texts, fmt.Sprintf("%s of %q for employee %s %s (%.4g %s instead of %.4g)",
			v.GetRule().GetQualifier(), v.GetRuleSet().GetQualifier(), v.GetEmployee().GetQualifier(), days, v.GetMeasuredValue(), unit, v.GetLimit()))
	}
	if more := len(forbidden) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return fault.Invalid(CodeForbidden, fmt.Sprintf(
		"The shifts would break schedule rules that forbid it: %s. Change the shifts, or lower the severity of the rules.", strings.Join(texts, "; ")))
}
