// Package schedulechange compares the schedules at two instants.
package schedulechange

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// Directory finds the requested employees that the caller may see, like [projection.Resolver].
type Directory interface {
	EmployeesByList(ctx context.Context, list *commonv1.RefList) ([]projection.Employee, error)
	// CountEmployees returns the number of employees in an empty list, which means all visible
	// ones.
	CountEmployees(ctx context.Context) (int, error)
}

// Deps are the dependencies of a Handler.
type Deps struct {
	Reader    *reading.Reader
	Directory Directory
	// KeepHistory is the retention of the history of schedules; a negative one means forever.
	KeepHistory time.Duration
}

// Handler serves ScheduleChangeService.
type Handler struct {
	schedulingv1.UnsafeScheduleChangeServiceServer

	deps Deps
}

var _ schedulingv1.ScheduleChangeServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(deps Deps) *Handler { return &Handler{deps: deps} }

// MultiReadScheduleChanges returns the differences of employees' schedules between two instants.
// Clients that continue from the end of the response miss no changes: later commits cannot belong
// to an earlier instant.
func (h *Handler) MultiReadScheduleChanges(ctx context.Context, req *schedulingv1.MultiReadScheduleChangesRequest) (*schedulingv1.ScheduleChanges, error) {
	query, err := request.ParseChanges(req)
	if err != nil {
		return nil, err
	}
	settled, now, err := h.deps.Reader.SettledUntil(ctx, query.Until)
	if err != nil {
		return nil, err
	}
	if err := query.Between(settled, now, h.deps.KeepHistory); err != nil {
		return nil, err
	}
	employees, err := h.employees(ctx, query)
	if err != nil {
		return nil, err
	}
	persons := window.NewPersons(employees, query.Days)
	before, err := h.deps.Reader.ReadAt(ctx, &query.Query, persons, query.From)
	if err != nil {
		return nil, err
	}
	after, err := h.deps.Reader.ReadAt(ctx, &query.Query, persons, query.Until)
	if err != nil {
		return nil, err
	}
	snapshots, err := compare(query.Selected, before, after)
	if err != nil {
		return nil, err
	}
	return &schedulingv1.ScheduleChanges{
		StartDateTime: request.FormatInstant(query.From), EndDateTime: request.FormatInstant(query.Until),
		ScheduleChangeSnapshots: &schedulingv1.ScheduleChangeSnapshotList{Snapshots: snapshots},
	}, nil
}

// employees returns the requested employees. Limits are checked before employees are read.
func (h *Handler) employees(ctx context.Context, query *request.Changes) ([]projection.Employee, error) {
	list := query.Employees
	count := len(list.GetIds()) + len(list.GetQualifiers()) + len(list.GetRefs())
	if count == 0 {
		var err error
		if count, err = h.deps.Directory.CountEmployees(ctx); err != nil {
			return nil, err
		}
	}
	if err := reading.EmployeeDays.Check(count * query.Days.Days()); err != nil {
		return nil, err
	}
	return h.deps.Directory.EmployeesByList(ctx, list)
}

// GetScheduleHistory returns the retention of the history.
func (h *Handler) GetScheduleHistory(context.Context, *schedulingv1.GetScheduleHistoryRequest) (*schedulingv1.ScheduleHistory, error) {
	out := &schedulingv1.ScheduleHistory{}
	if keep := h.deps.KeepHistory; keep >= 0 {
		out.KeepMicroseconds = proto.Int64(keep.Microseconds())
	}
	return out, nil
}
