package daylock

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
)

// Directory finds the employees of requests, like [projection.Resolver.EmployeesByList].
type Directory interface {
	EmployeesByList(ctx context.Context, list *commonv1.RefList) ([]projection.Employee, error)
}

// Handler serves DayLockService.
type Handler struct {
	schedulingv1.UnsafeDayLockServiceServer

	pool      *pg.Pool
	directory Directory
}

var _ schedulingv1.DayLockServiceServer = (*Handler)(nil)

// New returns the handler of DayLockService.
func New(pool *pg.Pool, directory Directory) *Handler {
	return &Handler{pool: pool, directory: directory}
}

// ApplyCreateDayLocks locks days of employees. Existing locks that overlap or touch the days are
// merged. The response has one lock for each employee, in the order of the request. It covers the
// requested days.
func (h *Handler) ApplyCreateDayLocks(ctx context.Context, req *schedulingv1.ApplyCreateDayLocksRequest) (*schedulingv1.ApplyCreateDayLocksResponse, error) {
	employees, days, err := h.read(ctx, "forEmployees.where", req.GetForEmployees().GetWhere())
	if err != nil {
		return nil, err
	}
	var plans []plan
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		plans, err = lockDays(ctx, tx, employees, days)
		return err
	})
	if err != nil {
		return nil, err
	}
	return response(employees, plans), nil
}

// read returns the employees and days at a path of the request.
func (h *Handler) read(ctx context.Context, path string, where *schedulingv1.DayLocksWhere) ([]projection.Employee, civil.Range, error) {
	days, err := parseWindow(path, where)
	if err != nil {
		return nil, days, err
	}
	list := where.GetEmployeeRefs()
	if len(list.GetIds()) == 0 && len(list.GetQualifiers()) == 0 && len(list.GetRefs()) == 0 {
		return nil, days, fault.Invalid(codeEmployeeMissing, path+".employeeRefs is empty. Name at least one employee.")
	}
	employees, err := h.directory.EmployeesByList(rowvisibility.OnDays(ctx, days), list)
	return withoutDuplicates(employees), days, err
}

// MultiDeleteDayLocks unlocks days of employees. The other days of a lock stay locked.
func (h *Handler) MultiDeleteDayLocks(ctx context.Context, req *schedulingv1.MultiDeleteDayLocksRequest) (*schedulingv1.DayLockList, error) {
	employees, days, err := h.read(ctx, "where.employees", req.GetWhere().GetEmployees())
	if err != nil {
		return nil, err
	}
	list, refs := make([]EmployeeDays, len(employees)), map[int64]*commonv1.Ref{}
	for i := range employees {
		list[i] = EmployeeDays{employees[i].ID, days}
		refs[employees[i].ID] = employeeRef(&employees[i])
	}
	var unlocked []EmployeeDays
	var propagationID int64
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := employeelock.Lock(ctx, tx, slices.Collect(maps.Keys(refs))); err != nil {
			return err
		}
		if unlocked, err = Unlock(ctx, tx, list); err == nil {
			propagationID, err = Propagate(ctx, tx, unlocked)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &schedulingv1.DayLockList{}
	for _, u := range unlocked {
		deleted := message(0, refs[u.EmployeeID], u.Days)
		deleted.Id, deleted.Version, deleted.Deleted = nil, nil, proto.Bool(true)
		out.Locks = append(out.Locks, deleted)
	}
	return out, propagation.SetLocation(ctx, propagationID)
}

// lockDays locks the days of the employees, and returns the plan of each.
func lockDays(ctx context.Context, tx pgx.Tx, employees []projection.Employee, days civil.Range) ([]plan, error) {
	ids := make([]int64, len(employees))
	for i := range employees {
		ids[i] = employees[i].ID
	}
	if err := employeelock.Lock(ctx, tx, ids); err != nil {
		return nil, err
	}
	// Locked days keep their stored spans, so first apply all changes that callers know.
	if err := reconcile.Apply(ctx, tx, ids); err != nil {
		return nil, err
	}
	existing, err := overlapping(ctx, tx, ids, days)
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
	if err := storePlans(ctx, tx, plans); err != nil || len(changed) == 0 {
		return plans, err
	}
	if err := freeze(ctx, tx, changed, days, existing); err != nil {
		return plans, err
	}
	return plans, outbox.Append(ctx, tx, &schedulingv1.ScheduleChanged{
		EmployeeIds: changed, From: days.From.String(), To: days.To.AddDays(-1).String(),
	})
}

func withoutDuplicates(employees []projection.Employee) []projection.Employee {
	seen := make(map[int64]bool, len(employees))
	unique := employees[:0:0]
	for _, e := range employees {
		if !seen[e.ID] {
			seen[e.ID] = true
			unique = append(unique, e)
		}
	}
	return unique
}

func response(employees []projection.Employee, plans []plan) *schedulingv1.ApplyCreateDayLocksResponse {
	list := &schedulingv1.DayLockList{}
	for i := range plans {
		l := &plans[i].keep
		list.Locks = append(list.Locks, message(l.id, employeeRef(&employees[i]), l.days))
	}
	return &schedulingv1.ApplyCreateDayLocksResponse{Locks: list}
}

func employeeRef(e *projection.Employee) *commonv1.Ref {
	return &commonv1.Ref{Id: proto.Int64(e.ID), Qualifier: proto.String(e.PersonNumber)}
}

// message returns a lock for responses.
func message(id int64, employee *commonv1.Ref, days civil.Range) *schedulingv1.DayLock {
	return &schedulingv1.DayLock{
		Id: proto.Int64(id), Employee: employee, StartDateTime: days.From.At(0).String(), EndDateTime: days.To.At(0).String(),
		Generated: proto.Bool(false), Posted: proto.Bool(false), Deleted: proto.Bool(false), Version: proto.Int64(1),
	}
}
