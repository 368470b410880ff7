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
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// RuleHandler serves LeaveRuleService.
type RuleHandler struct {
	timekeepingv1.UnsafeLeaveRuleServiceServer
	resource setup.Resource[*timekeepingv1.LeaveRule]
}

var _ timekeepingv1.LeaveRuleServiceServer = (*RuleHandler)(nil)

// NewRules returns a RuleHandler that keeps leave rules in the database of the pool.
func NewRules(pool *pg.Pool) *RuleHandler {
	return &RuleHandler{resource: setup.Resource[*timekeepingv1.LeaveRule]{Kind: Rules(), Pool: pool, Prepare: prepareRule, CheckUnused: checkRuleUnused}}
}

func prepareRule(_ string, r *timekeepingv1.LeaveRule) (*timekeepingv1.LeaveRule, error) {
	if r.IsActive == nil {
		r.IsActive = proto.Bool(true)
	}
	return r, checkControl("description", r.GetDescription())
}

// checkRuleUnused returns an error if a leave case uses a leave rule, so that it cannot be deleted.
func checkRuleUnused(ctx context.Context, tx pgx.Tx, r *timekeepingv1.LeaveRule) error {
	var assigned bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM leave_case_rule WHERE tenant_id = $1 AND leave_rule_id = $2)`, tenant.Of(ctx), r.GetId()).Scan(&assigned); err != nil {
		return fmt.Errorf("find cases of a leave rule: %w", err)
	}
	if assigned {
		return Rules().InUseError("A leave case", r)
	}
	return nil
}

// ListLeaveRules returns all leave rules by name, or the requested one.
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
