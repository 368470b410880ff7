package daylock

import (
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// Directory finds the employees that requests name, as
// [projection.Resolver.EmployeesByList] does.
type Directory interface {
	EmployeesByList(ctx context.Context, list *commonv1.RefList) ([]projection.Employee, error)
}

// Handler serves DayLockService.
type Handler struct {
	schedulingv1.UnsafeDayLockServiceServer

	pool      *pg.Pool
	directory Directory
	wake      func()
}

var _ schedulingv1.DayLockServiceServer = (*Handler)(nil)

// New returns the handler of DayLockService. It calls wake after a change was
// committed.
func New(pool *pg.Pool, directory Directory, wake func()) *Handler {
	return &Handler{pool: pool, directory: directory, wake: wake}
}

// ApplyCreateDayLocks locks days of employees. A lock that meets or touches the
// days becomes one with them; the response holds one lock for each employee, in
// the order of the request, which covers the days that were asked for.
func (h *Handler) ApplyCreateDayLocks(ctx context.Context, req *schedulingv1.ApplyCreateDayLocksRequest) (*schedulingv1.ApplyCreateDayLocksResponse, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	where := req.GetForEmployees().GetWhere()
	days, err := windowOf(where)
	if err != nil {
		return nil, err
	}
	list := where.GetEmployeeRefs()
	if len(list.GetIds()) == 0 && len(list.GetQualifiers()) == 0 && len(list.GetRefs()) == 0 {
		return nil, fault.Invalid(codeEmployeeMissing, "forEmployees.where.employeeRefs names nobody.")
	}
	employees, err := h.directory.EmployeesByList(ctx, list)
	if err != nil {
		return nil, err
	}
	employees = distinct(employees)
	var plans []plan
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		plans, err = lockDays(ctx, tx, tenantID, employees, days)
		return err
	})
	if err != nil {
		return nil, err
	}
	h.wake()
	return response(employees, plans), nil
}

// lockDays locks the days of the employees, and returns what became of the
// locks of each.
func lockDays(ctx context.Context, tx pgx.Tx, tenantID int64, employees []projection.Employee, days civil.Range) ([]plan, error) {
	ids := make([]int64, len(employees))
	for i := range employees {
		ids[i] = employees[i].ID
	}
	if err := employeelock.Lock(ctx, tx, tenantID, ids); err != nil {
		return nil, err
	}
	existing, err := meeting(ctx, tx, tenantID, ids, days)
	if err != nil {
		return nil, err
	}
	plans := make([]plan, len(ids))
	var changed []int64
	for i, id := range ids {
		plans[i] = join(id, days, existing[id])
		if plans[i].wider {
			changed = append(changed, id)
		}
	}
	if err := carryOut(ctx, tx, tenantID, plans); err != nil || len(changed) == 0 {
		return plans, err
	}
	if err := freeze(ctx, tx, tenantID, changed, days, existing); err != nil {
		return plans, err
	}
	return plans, outbox.Append(ctx, tx, tenantID, &schedulingv1.ScheduleChanged{
		EmployeeIds: changed, From: days.From.String(), To: days.To.AddDays(-1).String(),
	})
}

func distinct(employees []projection.Employee) []projection.Employee {
	seen := make(map[int64]bool, len(employees))
	kept := employees[:0:0]
	for _, e := range employees {
		if !seen[e.ID] {
			seen[e.ID] = true
			kept = append(kept, e)
		}
	}
	return kept
}

func response(employees []projection.Employee, plans []plan) *schedulingv1.ApplyCreateDayLocksResponse {
	list := &schedulingv1.DayLockList{}
	for i := range plans {
		l := &plans[i].keep
		list.Locks = append(list.Locks, &schedulingv1.DayLock{
			Id:            proto.Int64(l.id),
			Employee:      &commonv1.Ref{Id: proto.Int64(employees[i].ID), Qualifier: proto.String(employees[i].PersonNumber)},
			StartDateTime: l.days.From.At(0).String(),
			EndDateTime:   l.days.To.At(0).String(),
			Generated:     proto.Bool(false),
			Posted:        proto.Bool(false),
			Deleted:       proto.Bool(false),
			Version:       proto.Int64(1),
		})
	}
	return &schedulingv1.ApplyCreateDayLocksResponse{Locks: list}
}
