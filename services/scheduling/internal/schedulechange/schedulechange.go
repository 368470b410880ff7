// Package schedulechange shows what changed in schedules between two instants. It reads
// what schedules showed at each of them, and compares.
package schedulechange

import (
	"context"
	"time"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

// Directory finds the employees that requests name, of those whom the caller may see, as
// [projection.Resolver] does.
type Directory interface {
	EmployeesByList(ctx context.Context, list *commonv1.RefList) ([]projection.Employee, error)
	// CountEmployees says how many an empty list stands for.
	CountEmployees(ctx context.Context) (int, error)
}

// Deps are what a Handler works with.
type Deps struct {
	Reader    *reading.Reader
	Directory Directory
	// KeepHistory is how long it is known what schedules were; negative for ever.
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

// MultiReadScheduleChanges returns what is different in the schedules of employees at two
// instants. Whoever asks again from the end of the response on misses nothing: the end is
// an instant after which nothing is committed that belongs before it.
func (h *Handler) MultiReadScheduleChanges(ctx context.Context, req *schedulingv1.MultiReadScheduleChangesRequest) (*schedulingv1.ScheduleChanges, error) {
	tenantID := tenant.Of(ctx)
	asked, err := request.ParseChanges(req)
	if err != nil {
		return nil, err
	}
	settled, now, err := h.deps.Reader.SettledUntil(ctx, asked.Until)
	if err != nil {
		return nil, err
	}
	if err := asked.Between(settled, now, h.deps.KeepHistory); err != nil {
		return nil, err
	}
	employees, err := h.employees(ctx, asked)
	if err != nil {
		return nil, err
	}
	persons := encoding.NewPersons(employees, asked.Days)
	before, err := h.deps.Reader.ReadAt(ctx, tenantID, &asked.Query, persons, asked.From)
	if err != nil {
		return nil, err
	}
	after, err := h.deps.Reader.ReadAt(ctx, tenantID, &asked.Query, persons, asked.Until)
	if err != nil {
		return nil, err
	}
	snapshots, err := compare(asked.Selected, before, after)
	if err != nil {
		return nil, err
	}
	return &schedulingv1.ScheduleChanges{
		StartDateTime: request.FormatInstant(asked.From), EndDateTime: request.FormatInstant(asked.Until),
		ScheduleChangeSnapshots: &schedulingv1.ScheduleChangeSnapshotList{Snapshots: snapshots},
	}, nil
}

// employees returns those who are asked for. How many they are is checked before they are
// looked up.
func (h *Handler) employees(ctx context.Context, asked *request.Changes) ([]projection.Employee, error) {
	list := asked.Employees
	count := len(list.GetIds()) + len(list.GetQualifiers()) + len(list.GetRefs())
	if count == 0 {
		var err error
		if count, err = h.deps.Directory.CountEmployees(ctx); err != nil {
			return nil, err
		}
	}
	if err := reading.CheckEmployeeDays(count, asked.Days.Days()); err != nil {
		return nil, err
	}
	return h.deps.Directory.EmployeesByList(ctx, list)
}
