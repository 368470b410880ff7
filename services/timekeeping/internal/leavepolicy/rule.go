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
)

// RuleHandler serves LeaveRuleService.
type RuleHandler struct {
	timekeepingv1.UnsafeLeaveRuleServiceServer
	resource namedstore.Resource[*timekeepingv1.LeaveRule]
}

var _ timekeepingv1.LeaveRuleServiceServer = (*RuleHandler)(nil)

// NewRules returns a RuleHandler that keeps leave rules in the database of the pool.
func NewRules(pool *pg.Pool) *RuleHandler {
	h := &RuleHandler{}
	h.resource = namedstore.Resource[*timekeepingv1.LeaveRule]{
		Store: Rules(), Pool: pool, Prepare: prepareRule, Within: withinRule, Show: h.setNames, Unused: ruleUnused,
	}
	return h
}

func prepareRule(r *timekeepingv1.LeaveRule) (*timekeepingv1.LeaveRule, error) {
	var err error
	if r.Name, err = checkNamed("leaveRule", r); err != nil {
		return nil, err
	}
	if r.IsActive == nil {
		r.IsActive = proto.Bool(true)
	}
	return r, nil
}

// withinRule checks that the leave types of a rule are there, enabled and of the
// right group.
func withinRule(ctx context.Context, tx pgx.Tx, tenantID, _ int64, r *timekeepingv1.LeaveRule) error {
	for _, part := range []struct {
		path, group string
		refs        []*commonv1.Ref
	}{{"paidLeaveTypes", groupPaid, r.GetPaidLeaveTypes()}, {"trackingLeaveTypes", groupTracking, r.GetTrackingLeaveTypes()}} {
		types, err := referred(ctx, tx, tenantID, Types(), "leave_type", part.path, part.refs)
		if err != nil {
			return err
		}
		for i, t := range types {
			switch {
			case t.GetLeaveTypeGroup() != part.group:
				return invalid("%s[%d] must be of the group %s", part.path, i, part.group)
			case !t.GetEnabled():
				return invalid("%s[%d] is not enabled: the leave type %q", part.path, i, t.GetName())
			}
		}
	}
	return nil
}

func ruleUnused(ctx context.Context, tx pgx.Tx, tenantID int64, r *timekeepingv1.LeaveRule) error {
	profile, err := profileUsing(ctx, tx, tenantID, func(c *timekeepingv1.LeaveProfileCategory) bool {
		return points(c.GetLeaveProfileCategoryRule(), r.GetId())
	})
	if err != nil || profile != "" {
		return orInUse(err, profile, "leave rule", r.GetName())
	}
	var assigned bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM leave_case_rule WHERE tenant_id = $1 AND leave_rule_id = $2)`, tenantID, r.GetId()).Scan(&assigned); err != nil {
		return fmt.Errorf("look for cases of a leave rule: %w", err)
	}
	if assigned {
		return inUse("A leave case", "leave rule", r.GetName())
	}
	return nil
}

func (h *RuleHandler) setNames(ctx context.Context, list ...*timekeepingv1.LeaveRule) error {
	var refs []*commonv1.Ref
	for _, r := range list {
		refs = append(append(refs, r.GetPaidLeaveTypes()...), r.GetTrackingLeaveTypes()...)
	}
	return Types().SetNames(ctx, h.resource.Pool, refs...)
}

// ListLeaveRules returns all leave rules by name, or the one that is asked for.
func (h *RuleHandler) ListLeaveRules(ctx context.Context, req *timekeepingv1.ListLeaveRulesRequest) (*timekeepingv1.LeaveRuleList, error) {
	list, err := h.resource.List(ctx, nil, req.Qualifier)
	return &timekeepingv1.LeaveRuleList{Items: list}, err
}

// GetLeaveRule returns one leave rule, or 404.
func (h *RuleHandler) GetLeaveRule(ctx context.Context, req *timekeepingv1.GetLeaveRuleRequest) (*timekeepingv1.LeaveRule, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateLeaveRule stores a new leave rule.
func (h *RuleHandler) CreateLeaveRule(ctx context.Context, req *timekeepingv1.LeaveRule) (*timekeepingv1.LeaveRule, error) {
	return h.resource.Create(ctx, req)
}

// UpdateLeaveRule replaces a leave rule.
func (h *RuleHandler) UpdateLeaveRule(ctx context.Context, req *timekeepingv1.UpdateLeaveRuleRequest) (*timekeepingv1.LeaveRule, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteLeaveRule deletes a leave rule that nothing refers to.
func (h *RuleHandler) DeleteLeaveRule(ctx context.Context, req *timekeepingv1.DeleteLeaveRuleRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}
