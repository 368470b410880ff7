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

// payCodesOf returns the refs to pay codes of a rule, and where they stand.
func payCodesOf(r *timekeepingv1.PayRule) (refs []*commonv1.Ref, paths []string) {
	for i, v := range r.GetEffectiveVersions() {
		if v.GetRegularPayCode() != nil {
			refs, paths = append(refs, v.GetRegularPayCode()), append(paths, fmt.Sprintf("effectiveVersions[%d].regularPayCode", i))
		}
		for _, t := range tiersOf(v) {
			for n, tier := range t.list {
				refs, paths = append(refs, tier.GetPayCode()), append(paths, fmt.Sprintf("effectiveVersions[%d].%s[%d].payCode", i, t.name, n))
			}
		}
	}
	return refs, paths
}

// resolve writes the pay codes of a pay rule by id and name, and puts its lists in order.
// It keeps the pay codes from being deleted until the transaction ends.
func (h *Handler) resolve(ctx context.Context, tx pgx.Tx, tenantID, _ int64, r *timekeepingv1.PayRule) error {
	refs, paths := payCodesOf(r)
	for i, ref := range refs {
		code, err := h.payCodes.Resolve(ctx, tx, tenantID, paths[i], ref)
		if err != nil {
			return err
		}
		if code.GetUnit() != "HOUR" {
			return invalid("%s must be a pay code of the unit HOUR, not %s", paths[i], code.GetUnit())
		}
	}
	order(r)
	return nil
}

// Using returns how a message calls a pay rule that pays as a pay code, or "" when
// none does.
func Using(ctx context.Context, tx pgx.Tx, tenantID int64, p *timekeepingv1.PayCode) (string, error) {
	return paycode.UserIn(ctx, tx, tenantID, NewStore(), "pay rule", func(r *timekeepingv1.PayRule) []*commonv1.Ref {
		refs, _ := payCodesOf(r)
		return refs
	}, p)
}

// setNames writes the names that pay codes have now.
func (h *Handler) setNames(ctx context.Context, list ...*timekeepingv1.PayRule) error {
	var refs []*commonv1.Ref
	for _, r := range list {
		of, _ := payCodesOf(r)
		refs = append(refs, of...)
	}
	return h.payCodes.SetNames(ctx, h.resource.Pool, refs...)
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
