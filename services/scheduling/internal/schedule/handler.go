package schedule

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// Directory finds the employees that requests name, of those whom the caller
// may see, as [projection.Resolver] does.
type Directory interface {
	EmployeesByList(ctx context.Context, list *commonv1.RefList) ([]projection.Employee, error)
	// CountEmployees says how many an empty list stands for.
	CountEmployees(ctx context.Context) (int, error)
}

// Handler serves ScheduleService.
type Handler struct {
	schedulingv1.UnsafeScheduleServiceServer

	pool      *pgxpool.Pool
	reader    *Reader
	directory Directory
	commons   Commons
}

var _ schedulingv1.ScheduleServiceServer = (*Handler)(nil)

// New returns the handler of ScheduleService.
func New(pool *pgxpool.Pool, reader *Reader, directory Directory, commons Commons) *Handler {
	return &Handler{pool: pool, reader: reader, directory: directory, commons: commons}
}

var errNoTenant = errors.New("schedule: the context has no tenant")

// MultiReadSchedule reads the schedules of employees. The answer carries its
// fields as bytes.
func (h *Handler) MultiReadSchedule(ctx context.Context, req *schedulingv1.MultiReadScheduleRequest) (*schedulingv1.Schedule, error) {
	q, err := parse(req)
	if err != nil {
		return nil, err
	}
	return h.answer(ctx, q)
}

// GetSchedule reads the schedule of one employee, or of those of a hyperfind
// query or a location. The answer carries its fields
// as bytes.
func (h *Handler) GetSchedule(ctx context.Context, req *schedulingv1.GetScheduleRequest) (*schedulingv1.Schedule, error) {
	q, err := parseGet(req)
	if err != nil {
		return nil, err
	}
	return h.answer(ctx, q)
}

func (h *Handler) answer(ctx context.Context, q *query) (*schedulingv1.Schedule, error) {
	tenantID, ok := tenant.From(ctx)
	if !ok {
		return nil, errNoTenant
	}
	if err := h.resolve(ctx, q); err != nil {
		return nil, err
	}
	persons, rows, err := h.read(ctx, tenantID, q)
	if err != nil {
		return nil, err
	}
	fields, err := h.reader.fields(ctx, tenantID, q, persons, rows)
	if err != nil {
		return nil, err
	}
	out := &schedulingv1.Schedule{}
	out.ProtoReflect().SetUnknown(fields)
	return out, nil
}

// read finds the employees and what is stored of them. When the request names
// them by id, it does both at the same time: rows of somebody whom the caller
// may not see are dropped with the error that finding them ends with.
func (h *Handler) read(ctx context.Context, tenantID int64, q *query) (persons []person, stored rows, err error) {
	find := func() error {
		employees, err := h.employees(ctx, q)
		if err != nil {
			return err
		}
		persons = newPersons(employees, q.days)
		return nil
	}
	load := func(ids []int64) (err error) {
		stored, err = h.reader.rows(ctx, tenantID, q, ids)
		return err
	}
	ids := q.employees.GetIds()
	if len(ids) > 0 && checkEmployeeDays(len(ids), q.days.Days()) == nil {
		sorted := slices.Sorted(slices.Values(ids))
		err = both(find, func() error { return load(slices.Compact(sorted)) })
		return persons, stored, err
	}
	if err = find(); err == nil {
		err = load(idsOf(persons))
	}
	return persons, stored, err
}

// employees returns those whose schedule is asked for. An empty list means
// every employee whom the caller may see. How many they are is checked before
// they are looked up.
func (h *Handler) employees(ctx context.Context, q *query) ([]projection.Employee, error) {
	if q.nobody {
		return nil, nil
	}
	count := len(q.employees.GetIds()) + len(q.employees.GetQualifiers()) + len(q.employees.GetRefs())
	if q.onlyOpen() {
		if count == 0 {
			return nil, nil
		}
		return h.directory.EmployeesByList(ctx, q.employees)
	}
	if count == 0 {
		var err error
		if count, err = h.directory.CountEmployees(ctx); err != nil {
			return nil, err
		}
	}
	if err := checkEmployeeDays(count, q.days.Days()); err != nil {
		return nil, err
	}
	return h.directory.EmployeesByList(ctx, q.employees)
}
