// Package timeoffedit adds approved time off to schedules, and removes it. Timekeeping decides
// about time off. The package stores the pay code edits of each request and their version.
package timeoffedit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// maxEdits limits the edits of one call.
const maxEdits = 366

// Directory finds employees, like [projection.Resolver].
type Directory interface {
	// EmployeeByID returns an employee without an access check.
	EmployeeByID(ctx context.Context, id int64) (*projection.Employee, error)
}

// Schedules adds covering pay code edits to schedules, and removes them, in a transaction of the
// caller.
type Schedules interface {
	Cover(ctx context.Context, tx pgx.Tx, employee *projection.Employee, edits []*schedulingv1.PayCodeEdit) ([]int64, error)
	Uncover(ctx context.Context, tx pgx.Tx, ids []int64) error
}

// Deps are the dependencies of the handler.
type Deps struct {
	Pool      *pg.Pool
	Directory Directory
	Schedules Schedules
}

// Handler serves TimeOffEditService.
type Handler struct {
	schedulingv1.UnsafeTimeOffEditServiceServer
	deps Deps
}

var _ schedulingv1.TimeOffEditServiceServer = (*Handler)(nil)

// New returns the handler of TimeOffEditService.
func New(deps Deps) *Handler { return &Handler{deps: deps} }

// PutTimeOff replaces the time off of a request on the schedule. It holds the lock of the
// employee's schedule, like every other change of the schedule.
func (h *Handler) PutTimeOff(ctx context.Context, req *schedulingv1.PutTimeOffRequest) (*schedulingv1.PutTimeOffResponse, error) {
	if n := len(req.GetPayCodeEdits()); n > maxEdits || req.GetRequestId() <= 0 || req.GetVersion() <= 0 {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("The call needs a request id, a version, and at most %d pay code edits; it has %d.", maxEdits, n))
	}
	employee, err := h.deps.Directory.EmployeeByID(ctx, req.GetEmployeeId())
	if err != nil {
		return nil, err
	}
	sum, err := digest(req.GetPayCodeEdits())
	if err != nil {
		return nil, err
	}
	version := req.GetVersion()
	err = pg.InTx(ctx, h.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := employeelock.Lock(ctx, tx, []int64{employee.ID}); err != nil {
			return err
		}
		now, err := read(ctx, tx, req.GetRequestId())
		if err != nil {
			return err
		}
		switch {
		case now.version >= req.GetVersion():
			version = now.version
			return nil
		case now.version > 0 && now.employeeID != employee.ID:
			return fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("The request %d belongs to the employee %d.", req.GetRequestId(), now.employeeID))
		}
		next := row{employeeID: employee.ID, version: req.GetVersion(), items: now.items, digest: sum}
		if !(req.GetRepeats() && bytes.Equal(now.digest, sum)) {
			if next.items, err = h.replace(ctx, tx, employee, now.items, req.GetPayCodeEdits()); err != nil {
				return err
			}
		}
		version = next.version
		return write(ctx, tx, req.GetRequestId(), next)
	})
	if err != nil {
		return nil, err
	}
	return &schedulingv1.PutTimeOffResponse{Version: version}, nil
}

// replace removes items from an employee's schedule, adds pay code edits to it, and returns their
// ids.
func (h *Handler) replace(
	ctx context.Context, tx pgx.Tx, employee *projection.Employee, items []int64, edits []*schedulingv1.PayCodeEdit,
) ([]int64, error) {
	if len(items) > 0 {
		if err := h.deps.Schedules.Uncover(ctx, tx, items); err != nil {
			return nil, err
		}
	}
	if len(edits) == 0 {
		return nil, nil
	}
	return h.deps.Schedules.Cover(ctx, tx, employee, edits)
}

// digest returns a digest of pay code edits, to detect repeated calls.
func digest(edits []*schedulingv1.PayCodeEdit) ([]byte, error) {
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(&schedulingv1.PutTimeOffRequest{PayCodeEdits: edits})
	if err != nil {
		return nil, fmt.Errorf("timeoffedit: encode: %w", err)
	}
	sum := sha256.Sum256(body)
	return sum[:], nil
}
