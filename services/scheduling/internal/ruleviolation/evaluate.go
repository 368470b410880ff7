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
	// maxRules bounds the rules of one evaluation.
	maxRules = 200
	// maxViolations bounds what one evaluation returns.
	maxViolations = 20_000
)

// set is a rule set as it is evaluated: rules[i] is made of stored[i].
type set struct {
	ref      *commonv1.Ref
	calendar ruleevaluation.Calendar
	rules    []ruleevaluation.Rule
	stored   []*schedulingv1.ScheduleRuleSetRule
}

// setsOf returns the rule sets that are named, or else the active ones that hold for
// everybody, with their rules of a severity or above.
func (h *Handler) setsOf(ctx context.Context, tenantID int64, named *commonv1.RefList, severity int64) ([]set, error) {
	refs := named.GetRefs()
	for _, id := range named.GetIds() {
		refs = append(refs, &commonv1.Ref{Id: proto.Int64(id)})
	}
	for _, name := range named.GetQualifiers() {
		refs = append(refs, &commonv1.Ref{Qualifier: proto.String(name)})
	}
	found, err := h.RuleSets.Read(ctx, h.Pool, tenantID, "where.ruleSets", refs)
	if err != nil {
		return nil, err
	}
	var out []set
	count := 0
	for _, s := range found {
		if len(refs) == 0 && (!s.GetActive() || s.GetRuleType().GetId() != schedulerule.Organization) {
			continue
		}
		made, err := newSet(s, severity)
		if err != nil {
			return nil, err
		}
		if count += len(made.rules); count > maxRules {
			return nil, fault.TooLarge(fault.CodeItemLimit, fmt.Sprintf("There are more than %d rules to evaluate. Name fewer rule sets.", maxRules))
		}
		out = append(out, made)
	}
	return out, nil
}

func newSet(s *schedulingv1.ScheduleRuleSet, severity int64) (set, error) {
	out := set{ref: &commonv1.Ref{Id: s.Id, Qualifier: proto.String(s.GetName())}}
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

// evaluate returns the violations of employees.
func evaluate(ctx context.Context, sets []set, days civil.Range, employees []projection.Employee, births map[int64]*civil.Date,
	shifts map[int64][]reading.TimedShift,
) (*schedulingv1.ScheduleRuleViolations, error) {
	out := &schedulingv1.ScheduleRuleViolations{}
	type key struct {
		zone *civil.Zone
		set  int
	}
	evaluators := map[key]*ruleevaluation.Evaluator{}
	var list []ruleevaluation.Shift
	for i := range employees {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := &employees[i]
		list = list[:0]
		for _, s := range shifts[e.ID] {
			list = append(list, ruleevaluation.Shift{ID: s.ID, Interval: s.Interval, Work: s.Work})
		}
		for k := range sets {
			evaluator := evaluators[key{e.Zone, k}]
			if evaluator == nil {
				evaluator = ruleevaluation.New(e.Zone, sets[k].calendar, sets[k].rules, days)
				evaluators[key{e.Zone, k}] = evaluator
			}
			left := maxViolations - len(out.GetViolations())
			evaluator.Most = max(left, 1)
			found := evaluator.Evaluate(list, births[e.ID])
			if len(found) > left {
				return nil, fault.TooLarge(fault.CodeItemLimit,
					fmt.Sprintf("There are more than %d violations. Name fewer employees, days or rule sets.", maxViolations))
			}
			for _, v := range found {
				out.Violations = append(out.Violations, sets[k].message(e, &v, list))
			}
		}
	}
	return out, nil
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
		out.Shifts = append(out.Shifts, &commonv1.Ref{Id: proto.Int64(shifts[at].ID)})
	}
	return out
}
