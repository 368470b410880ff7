package leavepolicy

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Groups of leave types.
const (
	groupPaid     = "LEAVE_TYPE_GROUP_PAID"
	groupTracking = "LEAVE_TYPE_GROUP_TRACKING"
)

// TypeHandler serves LeaveTypeService.
type TypeHandler struct {
	timekeepingv1.UnsafeLeaveTypeServiceServer
	resource setup.Resource[*timekeepingv1.LeaveType]
}

var _ timekeepingv1.LeaveTypeServiceServer = (*TypeHandler)(nil)

// NewTypes returns a TypeHandler that keeps leave types in the database of the pool.
func NewTypes(pool *pg.Pool) *TypeHandler {
	return &TypeHandler{resource: setup.Resource[*timekeepingv1.LeaveType]{Kind: Types(), Pool: pool, Prepare: prepareType, CheckUnused: checkTypeUnused}}
}

func prepareType(_ string, t *timekeepingv1.LeaveType) (*timekeepingv1.LeaveType, error) {
	err := checkControl("description", t.GetDescription())
	if err != nil {
		return nil, err
	}
	switch t.GetLeaveTypeGroup() {
	case "":
		t.LeaveTypeGroup = groupPaid
		if t.Paid != nil && !t.GetPaid() {
			t.LeaveTypeGroup = groupTracking
		}
	case groupPaid, groupTracking:
	default:
		return nil, invalid("leaveTypeGroup must be %s or %s", groupPaid, groupTracking)
	}
	if paid := t.GetLeaveTypeGroup() == groupPaid; t.Paid == nil {
		t.Paid = &paid
	} else if t.GetPaid() != paid {
		return nil, invalid("paid must be %t: the group is %s", paid, t.GetLeaveTypeGroup())
	}
	if t.Enabled == nil {
		t.Enabled = proto.Bool(true)
	}
	if accrual := t.GetAccrualCode(); accrual != nil {
		t.AccrualCode = &commonv1.Ref{Id: accrual.Id, Qualifier: accrual.Qualifier}
		err = checkText("accrualCode.qualifier", accrual.GetQualifier(), 250)
	}
	return t, err
}

// checkTypeUnused returns an error if a leave type has grants, so that it cannot be deleted.
func checkTypeUnused(ctx context.Context, tx pgx.Tx, t *timekeepingv1.LeaveType) error {
	var granted bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM leave_grant WHERE tenant_id = $1 AND leave_type_id = $2)`, tenant.Of(ctx), t.GetId()).Scan(&granted); err != nil {
		return fmt.Errorf("find grants of a leave type: %w", err)
	}
	if granted {
		return Types().InUseError("A grant", t)
	}
	return nil
}

// ListLeaveTypes returns all leave types by name, or the requested one.
func (h *TypeHandler) ListLeaveTypes(ctx context.Context, req *timekeepingv1.ListLeaveTypesRequest) (*timekeepingv1.LeaveTypeList, error) {
	list, err := h.resource.List(ctx, nil, req.Qualifier)
	return &timekeepingv1.LeaveTypeList{Items: list}, err
}

// GetLeaveType returns one leave type, or 404.
func (h *TypeHandler) GetLeaveType(ctx context.Context, req *timekeepingv1.GetLeaveTypeRequest) (*timekeepingv1.LeaveType, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateLeaveType stores a new leave type.
func (h *TypeHandler) CreateLeaveType(ctx context.Context, req *timekeepingv1.LeaveType) (*timekeepingv1.LeaveType, error) {
	return h.resource.Create(ctx, req)
}

// UpdateLeaveType replaces a leave type.
func (h *TypeHandler) UpdateLeaveType(ctx context.Context, req *timekeepingv1.UpdateLeaveTypeRequest) (*timekeepingv1.LeaveType, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteLeaveType deletes a leave type that nothing refers to.
func (h *TypeHandler) DeleteLeaveType(ctx context.Context, req *timekeepingv1.DeleteLeaveTypeRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}
