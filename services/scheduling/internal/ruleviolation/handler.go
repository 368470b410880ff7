// Package ruleviolation evaluates the rules of rule sets on the schedules of
// employees.
package ruleviolation

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rulesetassignment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// Codes of ours, with status 400.
const (
	// CodeInvalid: a value is not one that its property may have.
	CodeInvalid = "WRL-31701"
	// CodeMissing: something that is needed was not given.
	CodeMissing = "WRL-31702"
)

// Directory finds the employees that requests name, of those whom the caller may see,
// as [projection.Resolver] does.
type Directory interface {
	EmployeesByList(ctx context.Context, list *commonv1.RefList) ([]projection.Employee, error)
}

// Deps are what a Handler works with.
type Deps struct {
	Pool      *pg.Pool
	RuleSets  *setup.Kind[*schedulingv1.ScheduleRuleSet]
	Reader    *reading.Reader
	Directory Directory
	// Persons says when persons were born.
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

// EvaluateRules says where the schedules of employees break rules, or which worked shifts it
// needs for that.
func (h *Handler) EvaluateRules(ctx context.Context, req *schedulingv1.EvaluateRulesRequest) (*schedulingv1.EvaluateRulesResponse, error) {
	tenantID := tenant.Of(ctx)
	where := req.GetEvaluation().GetWhere()
	days, err := daysOf(where.GetDateRange())
	if err != nil {
		return nil, err
	}
	p, employees, err := h.resolve(ctx, tenantID, where, days)
	if err != nil {
		return nil, err
	}
	var worked *actual
	now := h.Clock.Now()
	if need := neededShifts(p, days, employees, now); need != nil {
		if !covers(req.GetWorked(), need) {
			return &schedulingv1.EvaluateRulesResponse{Needed: need}, nil
		}
		worked = newActual(req.GetWorked(), employees, now)
	}
	births, err := h.birthsOf(ctx, p.sets, employees)
	if err != nil {
		return nil, err
	}
	window := days
	for i := range p.sets {
		need := p.sets[i].calendar.Window(days, p.sets[i].rules)
		window = civil.Range{From: min(window.From, need.From), To: max(window.To, need.To)}
	}
	shifts, err := h.Reader.ReadTimedShifts(ctx, tenantID, employees, window)
	if err != nil {
		return nil, err
	}
	e := newEvaluation(p, days, maxViolations-int(req.GetViolationsBefore()))
	if err := e.addAll(ctx, employees, births, shifts, worked); err != nil {
		return nil, err
	}
	return &schedulingv1.EvaluateRulesResponse{Result: e.out}, nil
}

// resolve returns which rule sets a request evaluates, and of whom.
func (h *Handler) resolve(ctx context.Context, tenantID int64, where *schedulingv1.ScheduleRuleEvaluationWhere, days civil.Range) (*plan, []projection.Employee, error) {
	named := where.GetEmployees()
	if reflist.Len(named) == 0 {
		return nil, nil, fault.Invalid(CodeMissing, "where.employees is missing.")
	}
	severity, err := severityOf(where.GetMinimumSeverity())
	if err != nil {
		return nil, nil, err
	}
	assigned, err := contextOf(where)
	if err != nil {
		return nil, nil, err
	}
	p, err := h.planOf(ctx, tenantID, where.GetRuleSets(), severity)
	if err != nil {
		return nil, nil, err
	}
	employees, err := h.Directory.EmployeesByList(ctx, named)
	if err != nil {
		return nil, nil, err
	}
	if reflist.Refs(where.GetRuleSets()) == nil {
		err = h.addAssigned(ctx, tenantID, p, assigned, days, employees, severity)
	}
	return p, employees, err
}

// contextOf returns the context whose assignments hold.
func contextOf(where *schedulingv1.ScheduleRuleEvaluationWhere) (int64, error) {
	switch named := where.GetContext(); {
	case named == nil:
		return rulesetassignment.Default, nil
	case reflist.Refs(where.GetRuleSets()) != nil:
		return 0, fault.Invalid(CodeInvalid, "where.context goes without where.ruleSets: it says which assignments hold.")
	default:
		return rulesetassignment.ContextOf("where.context", named)
	}
}

func daysOf(r *commonv1.DateRange) (civil.Range, error) {
	var dates [2]civil.Date
	for i, given := range []struct{ path, text string }{{"startDate", r.GetStartDate()}, {"endDate", r.GetEndDate()}} {
		path := "where.dateRange." + given.path
		if given.text == "" {
			return civil.Range{}, fault.Invalid(CodeMissing, path+" is missing.")
		}
		day, err := civil.ParseDate(given.text)
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
	// A row of days begins before, and a week ends after.
	const around = 60
	if dates[0] < civil.Beginning.AddDays(around) || dates[1] > civil.Forever.AddDays(-around) {
		return civil.Range{}, fault.Invalid(CodeInvalid, fmt.Sprintf("where.dateRange must lie between %s and %s.",
			civil.Beginning.AddDays(around), civil.Forever.AddDays(-around)))
	}
	return civil.Through(dates[0], dates[1]), nil
}

func severityOf(given *schedulingv1.ScheduleRuleProperty) (int64, error) {
	if given == nil {
		return schedulerule.Informational, nil
	}
	id, known := schedulerule.FindSeverity(given)
	if !known {
		return 0, fault.Invalid(CodeInvalid, "where.minimumSeverity is not one of "+schedulerule.Severities()+".")
	}
	return id, nil
}

// birthsOf returns when employees were born, when a rule asks for it.
func (h *Handler) birthsOf(ctx context.Context, sets []set, employees []projection.Employee) (map[int64]*civil.Date, error) {
	asked := false
	for i := range sets {
		for _, r := range sets[i].rules {
			asked = asked || r.Age > 0
		}
	}
	if !asked || len(employees) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(employees))
	for i := range employees {
		ids[i] = employees[i].ID
	}
	response, err := h.Persons.ReadBirthDates(ctx, &commonsv1.ReadBirthDatesRequest{PersonIds: ids})
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
