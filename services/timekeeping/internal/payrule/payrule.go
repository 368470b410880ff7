// Package payrule keeps pay rules, which convert punches to paid time.
package payrule

import (
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/setup"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

// Kind returns the declaration of pay rules.
func Kind() *setup.Kind[*timekeepingv1.PayRule] {
	hours, money := paycode.OfUnit(amount.UnitHour), paycode.OfUnit(amount.UnitMoney)
	d := setup.Declaration[*timekeepingv1.PayRule]{Codes: paycode.Codes(), What: "pay rule", Table: "pay_rule"}
	for _, field := range []string{
		"regular_pay_code", "daily_overtime.pay_code", "weekly_overtime.pay_code", "seventh_day_overtime.pay_code", "holiday_premium.pay_code", "holiday_credit.pay_code",
	} {
		d.References = append(d.References, setup.Reference{Field: "effective_versions." + field, To: hours})
	}
	d.References = append(d.References, setup.Reference{Field: "effective_versions.regular_rate.bonuses", To: money})
	return setup.NewKind(d)
}

// Handler serves PayRuleService.
type Handler struct {
	timekeepingv1.UnsafePayRuleServiceServer
	resource *setupname.Resource[*timekeepingv1.PayRule]
}

var _ timekeepingv1.PayRuleServiceServer = (*Handler)(nil)

// New returns a Handler that keeps pay rules in the database of the names.
func New(names *setupname.Names) *Handler {
	return &Handler{resource: setupname.NewResource(names, setup.Resource[*timekeepingv1.PayRule]{Kind: Kind(), Prepare: prepare, Check: sortLists, Show: showEffective})}
}

// sortLists sorts the lists of a pay rule. It runs after the validation, whose errors name elements
// by their position in the request.
func sortLists(_ context.Context, _ pgx.Tx, _ int64, r *timekeepingv1.PayRule) error {
	order(r)
	return nil
}

// ListPayRules returns all pay rules by name, or the requested one.
func (h *Handler) ListPayRules(ctx context.Context, req *timekeepingv1.ListPayRulesRequest) (*timekeepingv1.PayRuleList, error) {
	list, err := h.resource.List(ctx, req.Id, req.Qualifier)
	return &timekeepingv1.PayRuleList{Items: list}, err
}

// GetPayRule returns one pay rule, or 404.
func (h *Handler) GetPayRule(ctx context.Context, req *timekeepingv1.GetPayRuleRequest) (*timekeepingv1.PayRule, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreatePayRule stores a new pay rule.
func (h *Handler) CreatePayRule(ctx context.Context, req *timekeepingv1.PayRule) (*timekeepingv1.PayRule, error) {
	return showOne(h.resource.Create(ctx, req))
}

// UpdatePayRule replaces a pay rule.
func (h *Handler) UpdatePayRule(ctx context.Context, req *timekeepingv1.UpdatePayRuleRequest) (*timekeepingv1.PayRule, error) {
	return showOne(h.resource.Update(ctx, req.GetId(), req.GetBody()))
}

// DeletePayRule deletes a pay rule that nothing refers to.
func (h *Handler) DeletePayRule(ctx context.Context, req *timekeepingv1.DeletePayRuleRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}
