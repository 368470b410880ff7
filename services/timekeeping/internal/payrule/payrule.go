// Package payrule keeps pay rules: how punches become paid time.
package payrule

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/namedstore"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

// Store keeps pay rules.
type Store = namedstore.Store[*timekeepingv1.PayRule]

// NewStore returns the store of pay rules.
func NewStore() *Store {
	return namedstore.NewStore(namedstore.Kind[*timekeepingv1.PayRule]{
		Codes: paycode.Codes(),
		What:  "pay rule",
		Table: "pay_rule",
	})
}

// Handler serves PayRuleService.
type Handler struct {
	timekeepingv1.UnsafePayRuleServiceServer
	resource namedstore.Resource[*timekeepingv1.PayRule]
	payCodes paycode.Refs
	terms    paycode.Terms
}

var _ timekeepingv1.PayRuleServiceServer = (*Handler)(nil)

// New returns a Handler that keeps pay rules in the database of the pool.
func New(pool *pg.Pool, terms paycode.Terms) *Handler {
	h := &Handler{payCodes: paycode.NewRefs(), terms: terms}
	h.resource = namedstore.Resource[*timekeepingv1.PayRule]{Store: NewStore(), Pool: pool, Prepare: prepare, Within: h.resolve, Show: h.setNames}
	return h
}

// use is a pay code that a rule names: where, and the unit that it must have.
type use struct {
	ref        *commonv1.Ref
	path, unit string
}

// payCodesOf returns the pay codes that a rule names.
func payCodesOf(r *timekeepingv1.PayRule) (out []use) {
	for i, v := range r.GetEffectiveVersions() {
		add := func(ref *commonv1.Ref, unit, format string, args ...any) {
			if ref != nil {
				out = append(out, use{ref, fmt.Sprintf("effectiveVersions[%d].", i) + fmt.Sprintf(format, args...), unit})
			}
		}
		add(v.GetRegularPayCode(), amount.UnitHour, "regularPayCode")
		for _, t := range tiersOf(v) {
			for n, tier := range t.list {
				add(tier.GetPayCode(), amount.UnitHour, "%s[%d].payCode", t.name, n)
			}
		}
		add(v.GetHolidayCredit().GetPayCode(), amount.UnitHour, "holidayCredit.payCode")
		for n, ref := range v.GetRegularRate().GetBonuses() {
			add(ref, amount.UnitMoney, "regularRate.bonuses[%d]", n)
		}
	}
	return out
}

// refsOf returns the refs to pay codes of rules.
func refsOf(list ...*timekeepingv1.PayRule) (refs []*commonv1.Ref) {
	for _, r := range list {
		for _, u := range payCodesOf(r) {
			refs = append(refs, u.ref)
		}
	}
	return refs
}

// resolve writes the pay codes of a pay rule by id and name, and puts its lists in order.
// It keeps the pay codes from being deleted until the transaction ends.
func (h *Handler) resolve(ctx context.Context, tx pgx.Tx, tenantID, _ int64, r *timekeepingv1.PayRule) error {
	for _, u := range payCodesOf(r) {
		code, err := h.payCodes.Resolve(ctx, tx, tenantID, u.path, u.ref)
		if err != nil {
			return err
		}
		if code.GetUnit() != u.unit {
			return invalid("%s must be a pay code of the unit %s, not %s", u.path, u.unit, code.GetUnit())
		}
	}
	order(r)
	return nil
}

// Using returns how a message calls a pay rule that pays as a pay code, or "" when
// none does.
func Using(ctx context.Context, tx pgx.Tx, tenantID int64, p *timekeepingv1.PayCode) (string, error) {
	return paycode.UserIn(ctx, tx, tenantID, NewStore(), "pay rule", func(r *timekeepingv1.PayRule) []*commonv1.Ref {
		return refsOf(r)
	}, p)
}

// setNames writes the names that pay codes have now.
func (h *Handler) setNames(ctx context.Context, list ...*timekeepingv1.PayRule) error {
	return h.payCodes.SetNames(ctx, h.resource.Pool, refsOf(list...)...)
}

// ListPayRules returns all pay rules by name, or the one that is asked for.
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
	return h.resource.Create(ctx, req)
}

// UpdatePayRule replaces a pay rule.
func (h *Handler) UpdatePayRule(ctx context.Context, req *timekeepingv1.UpdatePayRuleRequest) (*timekeepingv1.PayRule, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeletePayRule deletes a pay rule that nothing refers to.
func (h *Handler) DeletePayRule(ctx context.Context, req *timekeepingv1.DeletePayRuleRequest) (*emptypb.Empty, error) {
	r, err := h.resource.Get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := paycode.CheckNoTerm(ctx, h.terms, schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_PAY_RULE, "pay rule", r.GetId(), r.GetName()); err != nil {
		return nil, err
	}
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}
