package ruleviolation

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleevaluation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

const (
	// maxRules limits the rules of one evaluation.
	maxRules = 200
	// maxViolations limits the violations in one response.
	maxViolations = 20_000
)

// set is a rule set to evaluate. rules[i] is compiled from stored[i].
type set struct {
	ref      *commonv1.Ref
	calendar ruleevaluation.Calendar
	rules    []ruleevaluation.Rule
	stored   []*schedulingv1.ScheduleRuleSetRule
	// actual reports that days that are over are evaluated on worked hours.
	actual bool
}

func newSet(s *schedulingv1.ScheduleRuleSet, severity int64) (set, error) {
	out := set{ref: &commonv1.Ref{Id: s.Id, Qualifier: proto.String(s.GetName())}, actual: s.GetUseActualHours()}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.ToUpper(day.String()) == s.GetWeekStartDay() {
			out.calendar.WeekStart = day
		}
	}
	var err error
	if out.calendar.NightStart, err = civil.ParseTimeOfDay(s.GetNightStartTime()); err == nil {
		out.calendar.NightEnd, err = civil.ParseTimeOfDay(s.GetNightEndTime())
	}
	if err != nil {
		return set{}, fmt.Errorf("schedule rule set %d: %w", s.GetId(), err)
	}
	for _, r := range s.GetRules() {
		if r.GetSeverity().GetId() < severity {
			continue
		}
		rule := ruleevaluation.Rule{ID: r.GetRule().GetId()}
		for _, p := range r.GetRuleParameters() {
			value := p.GetValue().GetNumberValue()
			if p.GetRuleParameterType().GetId() == schedulerule.Age {
				rule.Age = int(value)
			} else {
				rule.Limit = value
			}
		}
		out.rules, out.stored = append(out.rules, rule), append(out.stored, r)
	}
	return out, nil
}

// evaluation evaluates the rule sets of a plan.
type evaluation struct {
	plan *plan
	days civil.Range
	// most is the limit of violations.
	most       int
	evaluators map[evaluatorKey]*ruleevaluation.Evaluator
	// list has the scheduled shifts of the employee. worked has the shifts for rules on actual
	// hours.
	list, worked []ruleevaluation.Shift
	out          *schedulingv1.ScheduleRuleViolations
}

// evaluatorKey identifies a reusable evaluator.
type evaluatorKey struct {
	zone *civil.Zone
	set  int
	days civil.Range
}

func newEvaluation(p *plan, days civil.Range, most int) *evaluation {
	return &evaluation{plan: p, days: days, most: most, evaluators: map[evaluatorKey]*ruleevaluation.Evaluator{}, out: &schedulingv1.ScheduleRuleViolations{}}
}

// addAll adds the violations of employees.
func (e *evaluation) addAll(ctx context.Context, employees []projection.Employee, births map[int64]*civil.Date,
	shifts map[int64][]reading.TimedShift, worked *actual,
) error {
	for i := range employees {
		if err := ctx.Err(); err != nil {
			return err
		}
		employee := &employees[i]
		e.list = e.list[:0]
		for _, s := range shifts[employee.ID] {
			e.list = append(e.list, ruleevaluation.Shift{ID: s.ID, Interval: s.Interval, Work: s.Work})
		}
		if worked != nil {
			e.worked = worked.shifts(employee.ID, e.list)
		}
		for k := range e.plan.forAllEmployees {
			if err := e.add(employee, births[employee.ID], k, e.days, nil); err != nil {
				return err
			}
		}
		if err := e.addAssigned(employee, births[employee.ID]); err != nil {
			return err
		}
	}
	return nil
}

// addAssigned adds the violations of the rule sets that are assigned to an employee. If two
// intervals of days measure the same days, such as a week that overlaps both, the violation counts
// once.
func (e *evaluation) addAssigned(employee *projection.Employee, birth *civil.Date) error {
	var seen map[measurement]bool
	last := -1
	for _, s := range e.plan.assigned[employee.ID] {
		if s.set != last {
			seen, last = map[measurement]bool{}, s.set
		}
		if err := e.add(employee, birth, s.set, s.days, seen); err != nil {
			return err
		}
	}
	return nil
}

// measurement identifies a violation of one employee and rule set.
type measurement struct {
	rule int
	days civil.Range
}

func (e *evaluation) add(employee *projection.Employee, birth *civil.Date, set int, days civil.Range, seen map[measurement]bool) error {
	key := evaluatorKey{employee.Zone, set, days}
	evaluator := e.evaluators[key]
	s := &e.plan.sets[set]
	if evaluator == nil {
		evaluator = ruleevaluation.New(employee.Zone, s.calendar, s.rules, days)
		e.evaluators[key] = evaluator
	}
	remaining := e.most - len(e.out.GetViolations())
	evaluator.Max = max(remaining, 1)
	list := e.list
	if s.actual {
		list = e.worked
	}
	found := evaluator.Evaluate(list, birth)
	if len(found) > remaining {
		return fault.TooLarge(fault.CodeItemLimit,
			fmt.Sprintf("There are more than %d violations. Name fewer employees, days or rule sets.", maxViolations))
	}
	for _, v := range found {
		key := measurement{v.Rule, v.Days}
		if seen[key] {
			continue
		}
		if seen != nil {
			seen[key] = true
		}
		e.out.Violations = append(e.out.Violations, s.message(employee, &v, list))
	}
	return nil
}

func (s *set) message(e *projection.Employee, v *ruleevaluation.Violation, shifts []ruleevaluation.Shift) *schedulingv1.ScheduleRuleViolation {
	rule := s.stored[v.Rule]
	out := &schedulingv1.ScheduleRuleViolation{
		Employee:  &commonv1.Ref{Id: proto.Int64(e.ID), Qualifier: proto.String(e.PersonNumber)},
		RuleSet:   s.ref,
		Rule:      &commonv1.Ref{Id: rule.GetRule().Id, Qualifier: proto.String(rule.GetRule().GetName())},
		Severity:  rule.GetSeverity(),
		StartDate: v.Days.From.String(), EndDate: v.Days.To.AddDays(-1).String(),
		MeasuredValue: proto.Float64(v.Measured), Limit: proto.Float64(s.rules[v.Rule].Limit), Unit: "Hours",
	}
	if kind := rule.GetRuleParameters()[0].GetRuleParameterType(); kind.GetId() != schedulerule.Age {
		out.Unit = kind.GetParameterValueType().GetName()
	}
	for _, at := range v.Shifts {
		if counted := &shifts[at]; counted.Worked {
			out.WorkedShifts = append(out.WorkedShifts, showWorked(e.Zone, counted))
		} else {
			out.Shifts = append(out.Shifts, &commonv1.Ref{Id: proto.Int64(counted.ID)})
		}
	}
	return out
}
