// Package explanation serves ScheduleExplanationService: for each day of an employee, the decisions that the
// shifts of the day follow from.
package explanation

import (
	"context"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
)

// employeeDays limits the employees multiplied by the days of one request.
var employeeDays = policy.FindLimit[*schedulingv1.ScheduleExplanationsWhere]("employees * days")

// Directory finds the requested employees that the caller may see, like [projection.Resolver].
type Directory interface {
	EmployeesByList(ctx context.Context, list *commonv1.RefList) ([]projection.Employee, error)
	// CountEmployees returns the number of employees in an empty list, which means all visible
	// ones.
	CountEmployees(ctx context.Context) (int, error)
	// Visible returns the employees that the caller may see.
	Visible(ctx context.Context) (rowvisibility.Set, error)
}

// Deps are the dependencies of a Handler.
type Deps struct {
	Pool      *pg.Pool
	Reader    *reading.Reader
	Directory Directory
	Instants  *asof.Instants
}

// Handler serves ScheduleExplanationService.
type Handler struct {
	schedulingv1.UnsafeScheduleExplanationServiceServer

	deps Deps
}

var _ schedulingv1.ScheduleExplanationServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(deps Deps) *Handler { return &Handler{deps: deps} }

// MultiReadScheduleExplanations explains the days of employees.
func (h *Handler) MultiReadScheduleExplanations(ctx context.Context, req *schedulingv1.MultiReadScheduleExplanationsRequest) (*schedulingv1.ScheduleExplanationList, error) {
	where := req.GetWhere().GetEmployees()
	asOf := req.GetMultiReadOptions().GetAsOfDateTime()
	q, err := request.Parse(&schedulingv1.MultiReadScheduleRequest{
		Select: []string{"SHIFTS"}, MultiReadOptions: &schedulingv1.MultiReadOptions{AsOfDateTime: asOf},
		Where: &schedulingv1.ScheduleWhere{Employees: &schedulingv1.EmployeeSchedules{
			EmployeeRefs: where.GetEmployeeRefs(), StartDate: where.GetStartDate(), EndDate: where.GetEndDate(),
		}},
	})
	if err != nil {
		return nil, err
	}
	var at *time.Time
	if asOf != "" {
		instant, err := h.deps.Instants.Find(ctx, request.AsOfPath, asOf)
		if err != nil {
			return nil, err
		}
		at = &instant
	}
	employees, err := h.employees(rowvisibility.OnDays(ctx, q.Days), q)
	if err != nil {
		return nil, err
	}
	list, err := h.explain(ctx, employees, q.Days, at)
	return &schedulingv1.ScheduleExplanationList{Explanations: list}, err
}

// employees returns the requested employees. The limit is checked before employees are read.
func (h *Handler) employees(ctx context.Context, q *request.Query) ([]projection.Employee, error) {
	list := q.Employees
	count := len(list.GetIds()) + len(list.GetQualifiers()) + len(list.GetRefs())
	if count == 0 {
		var err error
		if count, err = h.deps.Directory.CountEmployees(ctx); err != nil {
			return nil, err
		}
	}
	if err := employeeDays.Check(count * q.Days.Days()); err != nil {
		return nil, err
	}
	return h.deps.Directory.EmployeesByList(ctx, list)
}

// GetShiftExplanation explains the day of a shift. The shift may be hidden: the explanation then shows why.
func (h *Handler) GetShiftExplanation(ctx context.Context, req *schedulingv1.GetShiftExplanationRequest) (*schedulingv1.ScheduleExplanation, error) {
	place, err := h.deps.Reader.FindShift(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if place == nil {
		return nil, itemfault.NotFound(http.StatusNotFound, "shift", req.GetId())
	}
	days := civil.Through(place.Day, place.Day)
	visible, err := h.deps.Directory.Visible(rowvisibility.OnDays(ctx, days))
	if err != nil {
		return nil, err
	}
	if !visible.Has(place.EmployeeID) {
		authn.NoteNotVisible(ctx)
		return nil, itemfault.NotFound(http.StatusNotFound, "shift", req.GetId())
	}
	employees, err := h.deps.Directory.EmployeesByList(rowvisibility.OnDays(ctx, days), &commonv1.RefList{Ids: []int64{place.EmployeeID}})
	if err != nil {
		return nil, err
	}
	list, err := h.explain(ctx, employees, days, nil)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// explain explains the days of employees, in the order of the employees; nil means as of now.
func (h *Handler) explain(ctx context.Context, employees []projection.Employee, days civil.Range, at *time.Time) ([]*schedulingv1.ScheduleExplanation, error) {
	if len(employees) == 0 {
		return nil, nil
	}
	var origins *reading.Origins
	var found *decisions
	err := pg.InSnapshot(ctx, h.deps.Pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if origins, err = h.deps.Reader.ReadOrigins(ctx, tx, window.NewPersons(employees, days), days, at); err != nil {
			return err
		}
		found, err = readDecisions(ctx, tx, origins, at)
		return err
	})
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]*reading.PersonOrigins, len(origins.Persons))
	for i := range origins.Persons {
		byID[origins.Persons[i].Person.ID] = &origins.Persons[i]
	}
	out := make([]*schedulingv1.ScheduleExplanation, 0, len(employees)*days.Days())
	var decided []decision
	seen := map[int64]bool{}
	for i := range employees {
		if seen[employees[i].ID] {
			continue
		}
		seen[employees[i].ID] = true
		e := explainer{decisions: found, person: byID[employees[i].ID]}
		ref := &commonv1.Ref{Id: &employees[i].ID, Qualifier: &employees[i].PersonNumber}
		for day := days.From; day < days.To; day++ {
			explained := e.explain(day)
			explained.Employee = ref
			out = append(out, explained)
		}
		decided = append(decided, e.decided...)
	}
	return out, h.nameDeciders(ctx, decided)
}
