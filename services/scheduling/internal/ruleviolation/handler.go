// Package ruleviolation evaluates the rules of rule sets on the schedules of employees.
package ruleviolation

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rulesetassignment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// Error codes of our own, with status 400.
const (
	// CodeInvalid: a property has a value that is not allowed.
	CodeInvalid = "WRL-31701"
	// CodeMissing: a required value is missing.
	CodeMissing = "WRL-31702"
	// CodeForbidden: a write of shifts would break a schedule rule with the severity Error, or break
	// it more than before. Change the shifts, or lower the severity of the rule.
	CodeForbidden = "WRL-31703"
)

// Directory finds the requested employees that the caller may see, like [projection.Resolver].
type Directory interface {
	EmployeesByList(ctx context.Context, list *commonv1.RefList) ([]projection.Employee, error)
}

// Deps are the dependencies of a Handler.
type Deps struct {
	Pool      *pg.Pool
	RuleSets  *setup.Kind[*schedulingv1.ScheduleRuleSet]
	Reader    *reading.Reader
	Directory Directory
	// Persons provides birth dates.
	Persons commonsv1.PersonServiceClient
	Clock   clock.Clock
}

// Handler serves ScheduleRuleEvaluationService.
type Handler struct {
	schedulingv1.UnsafeScheduleRuleEvaluationServiceServer
	Deps
}

var _ schedulingv1.ScheduleRuleEvaluationServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(deps Deps) *Handler { return &Handler{Deps: deps} }

// EvaluateRules returns the rule violations in the schedules of employees, or the worked shifts
// that it needs for that.
func (h *Handler) EvaluateRules(ctx context.Context, req *schedulingv1.EvaluateRulesRequest) (*schedulingv1.EvaluateRulesResponse, error) {
	where := req.GetEvaluation().GetWhere()
	days, err := parseDays(where.GetDateRange())
	if err != nil {
		return nil, err
	}
	p, employees, err := h.resolve(rowvisibility.OnDays(ctx, days), where, days)
	if err != nil {
		return nil, err
	}
	var worked *actual
	now := clock.OfTenant(ctx, h.Clock.Now())
	if need := neededShifts(p, days, employees, now); need != nil {
		if !covers(req.GetWorked(), need) {
			return &schedulingv1.EvaluateRulesResponse{Needed: need}, nil
		}
		worked = newActual(req.GetWorked(), employees, now)
	}
	births, err := h.readBirthDates(ctx, p.sets, employees)
	if err != nil {
		return nil, err
	}
	window := days
	for i := range p.sets {
		need := p.sets[i].calendar.Window(days, p.sets[i].rules)
		window = civil.Range{From: min(window.From, need.From), To: max(window.To, need.To)}
	}
	shifts, err := h.Reader.ReadTimedShifts(ctx, employees, window)
	if err != nil {
		return nil, err
	}
	e := newEvaluation(p, days, maxViolations-int(req.GetViolationsBefore()))
	if err := e.addAll(ctx, employees, births, shifts, worked); err != nil {
		return nil, err
	}
	return &schedulingv1.EvaluateRulesResponse{Result: e.out}, nil
}

// resolve returns the rule sets and the employees of a request.
func (h *Handler) resolve(ctx context.Context, where *schedulingv1.ScheduleRuleEvaluationWhere, days civil.Range) (*plan, []projection.Employee, error) {
	list := where.GetEmployees()
	if reflist.Len(list) == 0 {
		return nil, nil, fault.Invalid(CodeMissing, "where.employees is missing.")
	}
	severity, err := parseSeverity(where.GetMinimumSeverity())
	if err != nil {
		return nil, nil, err
	}
	assigned, err := assignmentContext(where)
	if err != nil {
		return nil, nil, err
	}
	p, err := h.newPlan(ctx, where.GetRuleSets(), severity)
	if err != nil {
		return nil, nil, err
	}
	employees, err := h.Directory.EmployeesByList(ctx, list)
	if err != nil {
		return nil, nil, err
	}
	if reflist.Refs(where.GetRuleSets()) == nil {
		err = h.addAssigned(ctx, p, assigned, days, employees, severity)
	}
	return p, employees, err
}

// assignmentContext returns the context whose assignments apply.
func assignmentContext(where *schedulingv1.ScheduleRuleEvaluationWhere) (int64, error) {
	switch named := where.GetContext(); {
	case named == nil:
		return rulesetassignment.Default, nil
	case reflist.Refs(where.GetRuleSets()) != nil:
		return 0, fault.Invalid(CodeInvalid, "where.context cannot be combined with where.ruleSets. It selects the assignments to evaluate.")
	default:
		return rulesetassignment.FindContext("where.context", named)
	}
}

func parseDays(r *commonv1.DateRange) (civil.Range, error) {
	var dates [2]civil.Date
	for i, date := range []struct{ path, text string }{{"startDate", r.GetStartDate()}, {"endDate", r.GetEndDate()}} {
		path := "where.dateRange." + date.path
		if date.text == "" {
			return civil.Range{}, fault.Invalid(CodeMissing, path+" is missing.")
		}
		day, err := civil.ParseDate(date.text)
		if err != nil {
			return civil.Range{}, fault.Invalid(fault.CodeDate, path+": "+err.Error()+".")
		}
		dates[i] = day
	}
	if r.GetSymbolicPeriod() != nil {
		return civil.Range{}, fault.Invalid(CodeInvalid, "where.dateRange takes startDate and endDate, not symbolicPeriod.")
	}
	if dates[1] < dates[0] {
		return civil.Range{}, fault.Invalid(CodeInvalid, fmt.Sprintf("where.dateRange.endDate %s is before startDate %s.", dates[1], dates[0]))
	}
	// Rows of days can begin before the range, and weeks can end after it.
	const around = 60
	if dates[0] < civil.Beginning.AddDays(around) || dates[1] > civil.Forever.AddDays(-around) {
		return civil.Range{}, fault.Invalid(CodeInvalid, fmt.Sprintf("where.dateRange must lie between %s and %s.",
			civil.Beginning.AddDays(around), civil.Forever.AddDays(-around)))
	}
	return civil.Through(dates[0], dates[1]), nil
}

func parseSeverity(minimum *schedulingv1.ScheduleRuleProperty) (int64, error) {
	if minimum == nil {
		return schedulerule.Informational, nil
	}
	id, ok := schedulerule.FindSeverity(minimum)
	if !ok {
		return 0, fault.Invalid(CodeInvalid, "where.minimumSeverity is not one of "+schedulerule.Severities()+".")
	}
	return id, nil
}

// readBirthDates returns the birth dates of employees if a rule needs them.
func (d *Deps) readBirthDates(ctx context.Context, sets []set, employees []projection.Employee) (map[int64]*civil.Date, error) {
	needed := false
	for i := range sets {
		for _, r := range sets[i].rules {
			needed = needed || r.Age > 0
		}
	}
	if !needed || len(employees) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(employees))
	for i := range employees {
		ids[i] = employees[i].ID
	}
	response, err := d.Persons.ReadBirthDates(ctx, &commonsv1.ReadBirthDatesRequest{PersonIds: ids})
	if err != nil {
		return nil, err
	}
	births := make(map[int64]*civil.Date, len(response.GetBirthDates()))
	for _, b := range response.GetBirthDates() {
		day, err := civil.ParseDate(b.GetBirthDate())
		if err != nil {
			return nil, fmt.Errorf("birth date of person %d: %w", b.GetPersonId(), err)
		}
		births[b.GetPersonId()] = &day
	}
	return births, nil
}
