package schedule

import (
	"context"
	"slices"

	caller "github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

// Directory finds the employees that requests name, of those whom the caller
// may see, as [projection.Resolver] does.
type Directory interface {
	EmployeesByList(ctx context.Context, list *commonv1.RefList) ([]projection.Employee, error)
	// CountEmployees says how many an empty list stands for.
	CountEmployees(ctx context.Context) (int, error)
	// Visible returns whom the caller may see.
	Visible(ctx context.Context) (caller.Set, error)
}

// Handler serves ScheduleService.
type Handler struct {
	schedulingv1.UnsafeScheduleServiceServer

	pool      *pg.Pool
	reader    *reading.Reader
	directory Directory
	commons   Commons
}

var _ schedulingv1.ScheduleServiceServer = (*Handler)(nil)

// New returns the handler of ScheduleService.
func New(pool *pg.Pool, reader *reading.Reader, directory Directory, commons Commons) *Handler {
	return &Handler{pool: pool, reader: reader, directory: directory, commons: commons}
}

// MultiReadSchedule reads the schedules of employees. The response carries its
// fields as bytes.
func (h *Handler) MultiReadSchedule(ctx context.Context, req *schedulingv1.MultiReadScheduleRequest) (*schedulingv1.Schedule, error) {
	q, err := request.Parse(req)
	if err != nil {
		return nil, err
	}
	return h.respond(ctx, q)
}

// GetSchedule reads the schedule of one employee, or of those of a hyperfind
// query or a location. The response carries its fields
// as bytes.
func (h *Handler) GetSchedule(ctx context.Context, req *schedulingv1.GetScheduleRequest) (*schedulingv1.Schedule, error) {
	q, err := request.ParseGet(req)
	if err != nil {
		return nil, err
	}
	return h.respond(ctx, q)
}

func (h *Handler) respond(ctx context.Context, q *request.Query) (*schedulingv1.Schedule, error) {
	tenantID := tenant.Of(ctx)
	if err := h.resolve(ctx, q); err != nil {
		return nil, err
	}
	persons, rows, err := h.read(ctx, tenantID, q)
	if err != nil {
		return nil, err
	}
	fields, err := h.reader.Fields(ctx, tenantID, q, persons, rows, h.expandJobs)
	if err != nil {
		return nil, err
	}
	out := &schedulingv1.Schedule{}
	out.ProtoReflect().SetUnknown(fields)
	return out, nil
}

// fewEmployees is up to how many are read in the statement that reads their
// schedules. Finding more at the same time takes less time.
const fewEmployees = 16

// read finds the employees and what is stored of them. When the request names
// them by id, it does both at once: rows of somebody whom the caller may not see
// are dropped with the error that finding them ends with.
func (h *Handler) read(ctx context.Context, tenantID int64, q *request.Query) (persons []encoding.Person, stored reading.Rows, err error) {
	find := func() error {
		employees, err := h.employees(ctx, q)
		if err != nil {
			return err
		}
		persons = encoding.NewPersons(employees, q.Days)
		return nil
	}
	load := func(ids []int64) (err error) {
		stored, err = h.reader.Rows(ctx, tenantID, q, ids, len(ids) <= fewEmployees)
		return err
	}
	ids := idsIn(q.Employees)
	if len(ids) > 0 && reading.CheckEmployeeDays(len(ids), q.Days.Days()) == nil {
		sorted := slices.Compact(slices.Sorted(slices.Values(ids)))
		if len(sorted) > fewEmployees {
			err = both(find, func() error { return load(sorted) })
			return persons, stored, err
		}
		if err = load(sorted); err != nil {
			return nil, stored, err
		}
		employees, err := h.known(ctx, ids, stored.Known)
		if err == nil && employees == nil {
			err = find() // Somebody is not known here, or not visible.
		} else if err == nil {
			persons = encoding.NewPersons(employees, q.Days)
		}
		return persons, stored, err
	}
	if err = find(); err == nil {
		err = load(encoding.IDsOf(persons))
	}
	return persons, stored, err
}

// idsIn returns the ids of a list that names everybody by id, and else nothing.
func idsIn(list *commonv1.RefList) []int64 {
	switch {
	case len(list.GetQualifiers()) > 0, len(list.GetIds()) > 0 && len(list.GetRefs()) > 0:
		return nil
	case len(list.GetIds()) > 0:
		return list.GetIds()
	}
	ids := make([]int64, len(list.GetRefs()))
	for i, ref := range list.GetRefs() {
		if ref.Id == nil {
			return nil
		}
		ids[i] = ref.GetId()
	}
	return ids
}

// known returns the employees with the ids, in this order, if all of them were
// read and are visible.
func (h *Handler) known(ctx context.Context, ids []int64, read []reading.KnownRow) ([]projection.Employee, error) {
	visible, err := h.directory.Visible(ctx)
	if err != nil {
		return nil, err
	}
	employees := make([]projection.Employee, len(ids))
	for i, id := range ids {
		at := slices.IndexFunc(read, func(k reading.KnownRow) bool { return k.ID == id })
		if at < 0 || !visible.Has(id) {
			return nil, nil
		}
		zone, err := h.reader.Zones.Get(read[at].Zone)
		if err != nil {
			return nil, err
		}
		jobs, err := projection.ReadJobs(read[at].Jobs)
		if err != nil {
			return nil, err
		}
		employees[i] = projection.Employee{ID: id, PersonNumber: read[at].Number, Zone: zone, Jobs: jobs}
	}
	return employees, nil
}

// employees returns those whose schedule is asked for. An empty list means
// every employee whom the caller may see. How many they are is checked before
// they are looked up.
func (h *Handler) employees(ctx context.Context, q *request.Query) ([]projection.Employee, error) {
	if q.Nobody {
		return nil, nil
	}
	count := len(q.Employees.GetIds()) + len(q.Employees.GetQualifiers()) + len(q.Employees.GetRefs())
	if q.OnlyOpen() {
		if count == 0 {
			return nil, nil
		}
		return h.directory.EmployeesByList(ctx, q.Employees)
	}
	if count == 0 {
		var err error
		if count, err = h.directory.CountEmployees(ctx); err != nil {
			return nil, err
		}
	}
	if err := reading.CheckEmployeeDays(count, q.Days.Days()); err != nil {
		return nil, err
	}
	return h.directory.EmployeesByList(ctx, q.Employees)
}
