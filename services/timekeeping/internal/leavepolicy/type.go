package leavepolicy

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/namedstore"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
)

// Groups of leave types.
const (
	groupPaid     = "LEAVE_TYPE_GROUP_PAID"
	groupTracking = "LEAVE_TYPE_GROUP_TRACKING"
)

// TypeHandler serves LeaveTypeService.
type TypeHandler struct {
	timekeepingv1.UnsafeLeaveTypeServiceServer
	resource namedstore.Resource[*timekeepingv1.LeaveType]
	payCodes *paycode.Store
}

var _ timekeepingv1.LeaveTypeServiceServer = (*TypeHandler)(nil)

// NewTypes returns a TypeHandler that keeps leave types in the database of the pool.
func NewTypes(pool *pg.Pool) *TypeHandler {
	h := &TypeHandler{payCodes: paycode.NewStore()}
	h.resource = namedstore.Resource[*timekeepingv1.LeaveType]{Store: Types(), Pool: pool, Prepare: prepareType, Within: h.within, Show: h.setNames, Unused: typeUnused}
	return h
}

func prepareType(t *timekeepingv1.LeaveType) (*timekeepingv1.LeaveType, error) {
	var err error
	if t.Name, err = checkNamed("leaveType", t); err != nil {
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

// within writes the pay code of a leave type by id and name, and keeps it from being
// deleted.
func (h *TypeHandler) within(ctx context.Context, tx pgx.Tx, tenantID, _ int64, t *timekeepingv1.LeaveType) error {
	if t.GetPayCode() == nil {
		return nil
	}
	refs := []*commonv1.Ref{t.GetPayCode()}
	_, err := referred(ctx, tx, tenantID, h.payCodes, "pay_code", "payCode", refs)
	t.PayCode = refs[0]
	return err
}

func typeUnused(ctx context.Context, tx pgx.Tx, tenantID int64, t *timekeepingv1.LeaveType) error {
	rules, err := Rules().All(ctx, tx, tenantID)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if points(r.GetPaidLeaveTypes(), t.GetId()) || points(r.GetTrackingLeaveTypes(), t.GetId()) {
			return inUse(fmt.Sprintf("The leave rule %q", r.GetName()), "leave type", t.GetName())
		}
	}
	profile, err := profileUsing(ctx, tx, tenantID, func(c *timekeepingv1.LeaveProfileCategory) bool {
		return points(c.GetLeaveProfileCategoryType(), t.GetId())
	})
	if err != nil || profile != "" {
		return orInUse(err, profile, "leave type", t.GetName())
	}
	var granted bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM leave_grant WHERE tenant_id = $1 AND leave_type_id = $2)`, tenantID, t.GetId()).Scan(&granted); err != nil {
		return fmt.Errorf("look for grants of a leave type: %w", err)
	}
	if granted {
		return inUse("A grant", "leave type", t.GetName())
	}
	return nil
}

// UsingPayCode returns how a message calls a leave type that is booked under a pay
// code, or "" when none is.
func UsingPayCode(ctx context.Context, tx pgx.Tx, tenantID int64, p *timekeepingv1.PayCode) (string, error) {
	return paycode.UserIn(ctx, tx, tenantID, Types(), "leave type", func(t *timekeepingv1.LeaveType) []*commonv1.Ref {
		return []*commonv1.Ref{t.GetPayCode()}
	}, p)
}

func (h *TypeHandler) setNames(ctx context.Context, list ...*timekeepingv1.LeaveType) error {
	var refs []*commonv1.Ref
	for _, t := range list {
		if t.GetPayCode() != nil {
			refs = append(refs, t.GetPayCode())
		}
	}
	return h.payCodes.SetNames(ctx, h.resource.Pool, refs...)
}

// ListLeaveTypes returns all leave types by name, or the one that is asked for.
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
