package schedule

import (
	"context"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// Directory finds the requested employees that the caller may see, like [projection.Resolver].
type Directory interface {
	EmployeesByList(ctx context.Context, list *commonv1.RefList) ([]projection.Employee, error)
	// CountEmployees returns the number of employees in an empty list, which means all visible
	// ones.
	CountEmployees(ctx context.Context) (int, error)
	// Visible returns the employees that the caller may see.
	Visible(ctx context.Context) (rowvisibility.Set, error)
}

// Handler serves ScheduleService.
type Handler struct {
	schedulingv1.UnsafeScheduleServiceServer

	pool      *pg.Pool
	reader    *reading.Reader
	directory Directory
	commons   Commons
	instants  *asof.Instants
}

var _ schedulingv1.ScheduleServiceServer = (*Handler)(nil)

// New returns the handler of ScheduleService.
func New(pool *pg.Pool, reader *reading.Reader, directory Directory, commons Commons, instants *asof.Instants) *Handler {
	return &Handler{pool: pool, reader: reader, directory: directory, commons: commons, instants: instants}
}

// MultiReadSchedule reads the schedules of employees. The response contains its fields as encoded
// bytes.
func (h *Handler) MultiReadSchedule(ctx context.Context, req *schedulingv1.MultiReadScheduleRequest) (*schedulingv1.Schedule, error) {
	q, err := request.Parse(req)
	if err != nil {
		return nil, err
	}
	return h.respond(ctx, q)
}

// GetSchedule reads the schedule of one employee, or of the employees of a hyperfind query or a
// location. The response contains its fields as encoded bytes.
func (h *Handler) GetSchedule(ctx context.Context, req *schedulingv1.GetScheduleRequest) (*schedulingv1.Schedule, error) {
	q, err := request.ParseGet(req)
	if err != nil {
		return nil, err
	}
	return h.respond(ctx, q)
}

func (h *Handler) respond(ctx context.Context, q *request.Query) (*schedulingv1.Schedule, error) {
	if err := h.resolve(ctx, q); err != nil {
		return nil, err
	}
	w, err := h.window(ctx, q)
	if err != nil {
		return nil, err
	}
	if q.Selected&request.SelectJobs != 0 {
		if w.ExpandedJobs, err = h.expandJobs(ctx, q.Days, w); err != nil {
			return nil, err
		}
	}
	fields, err := encoding.Encode(ctx, q, w)
	if err != nil {
		return nil, err
	}
	out := &schedulingv1.Schedule{}
	out.ProtoReflect().SetUnknown(fields)
	return out, nil
}

// window reads the present or an earlier state of the schedules.
func (h *Handler) window(ctx context.Context, q *request.Query) (*window.Window, error) {
	visible := rowvisibility.OnDays(ctx, q.Days)
	if q.AsOf == "" {
		persons, rows, err := h.read(visible, q)
		if err != nil {
			return nil, err
		}
		return h.reader.Window(ctx, q, persons, rows)
	}
	at, err := h.instants.Find(ctx, request.AsOfPath, q.AsOf)
	if err != nil {
		return nil, err
	}
	employees, err := h.employees(visible, q)
	if err != nil {
		return nil, err
	}
	return h.reader.ReadAt(ctx, q, window.NewPersons(employees, q.Days), at)
}

// read finds the employees and reads their stored rows. If the request names employees by id, it
// does both at once. Rows of employees that the caller may not see are then dropped together with
// the access error.
func (h *Handler) read(ctx context.Context, q *request.Query) (persons []window.Person, stored storedrows.Rows, err error) {
	find := func() error {
		employees, err := h.employees(ctx, q)
		if err != nil {
			return err
		}
		persons = window.NewPersons(employees, q.Days)
		return nil
	}
	ids := requestedIDs(q.Employees)
	if len(ids) == 0 || reading.EmployeeDays.Check(len(ids)*q.Days.Days()) != nil {
		if err = find(); err != nil {
			return nil, stored, err
		}
		stored, err = h.reader.Rows(ctx, q, window.PersonIDs(persons), false)
		return persons, stored, err
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(ids)))
	few := len(sorted) <= fewEmployees
	load := func() (err error) {
		stored, err = h.reader.Rows(ctx, q, sorted, few)
		return err
	}
	if !few {
		err = runBoth(find, load)
		return persons, stored, err
	}
	if err = load(); err != nil {
		return nil, stored, err
	}
	employees, err := h.resolveFewFast(ctx, ids, stored.Employees)
	switch {
	case err != nil:
		return nil, stored, err
	case employees == nil: // Some employee is unknown or not visible.
		err = find()
	default:
		persons = window.NewPersons(employees, q.Days)
	}
	return persons, stored, err
}

// requestedIDs returns the ids of a list that names all employees by id; otherwise nil.
func requestedIDs(list *commonv1.RefList) []int64 {
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

// employees returns the requested employees. An empty list means all visible employees. Limits are
// checked before employees are read.
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
	if err := reading.EmployeeDays.Check(count * q.Days.Days()); err != nil {
		return nil, err
	}
	return h.directory.EmployeesByList(ctx, q.Employees)
}
