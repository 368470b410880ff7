// Package workrule keeps work rules: how worked time is treated.
package workrule

import (
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/namedstore"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
)

func newStore() *namedstore.Store[*timekeepingv1.WorkRule] {
	return namedstore.NewStore(namedstore.Kind[*timekeepingv1.WorkRule]{
		Codes: paycode.Codes(),
		What:  "work rule",
		Table: "work_rule",
	})
}

// Handler serves WorkRuleService.
type Handler struct {
	timekeepingv1.UnsafeWorkRuleServiceServer
	resource namedstore.Resource[*timekeepingv1.WorkRule]
	payCodes paycode.Refs
	terms    paycode.Terms
}

var _ timekeepingv1.WorkRuleServiceServer = (*Handler)(nil)

// New returns a Handler that keeps work rules in the database of the pool.
func New(pool *pg.Pool, terms paycode.Terms) *Handler {
	h := &Handler{payCodes: paycode.NewRefs(), terms: terms}
	h.resource = namedstore.Resource[*timekeepingv1.WorkRule]{Store: newStore(), Pool: pool, Prepare: prepare, Within: h.resolve, Show: h.setNames}
	return h
}

func prepare(r *timekeepingv1.WorkRule) (*timekeepingv1.WorkRule, error) {
	if err := paycode.Codes().CheckName("workRule", r.GetName()); err != nil {
		return nil, err
	}
	if r.Active == nil {
		r.Active = proto.Bool(true)
	}
	return r, nil
}

// resolve writes the pay code of a work rule by id and name. It keeps the pay code
// from being deleted until the transaction ends.
func (h *Handler) resolve(ctx context.Context, tx pgx.Tx, tenantID, _ int64, r *timekeepingv1.WorkRule) error {
	if r.GetDefaultPayCode() == nil {
		return nil
	}
	_, err := h.payCodes.Resolve(ctx, tx, tenantID, "defaultPayCode", r.GetDefaultPayCode())
	return err
}

// Using returns how a message calls a work rule that books under a pay code, or
// "" when none does.
func Using(ctx context.Context, tx pgx.Tx, tenantID int64, p *timekeepingv1.PayCode) (string, error) {
	return paycode.UserIn(ctx, tx, tenantID, newStore(), "work rule", func(r *timekeepingv1.WorkRule) []*commonv1.Ref {
		return []*commonv1.Ref{r.GetDefaultPayCode()}
	}, p)
}

// setNames writes the names that pay codes have now.
func (h *Handler) setNames(ctx context.Context, list ...*timekeepingv1.WorkRule) error {
	var refs []*commonv1.Ref
	for _, r := range list {
		if r.GetDefaultPayCode() != nil {
			refs = append(refs, r.GetDefaultPayCode())
		}
	}
	return h.payCodes.SetNames(ctx, h.resource.Pool, refs...)
}

// ListWorkRules returns all work rules by name, or the one that is asked for.
func (h *Handler) ListWorkRules(ctx context.Context, req *timekeepingv1.ListWorkRulesRequest) (*timekeepingv1.WorkRuleList, error) {
	list, err := h.resource.List(ctx, req.Id, req.Qualifier)
	return &timekeepingv1.WorkRuleList{Items: list}, err
}

// GetWorkRule returns one work rule, or 404.
func (h *Handler) GetWorkRule(ctx context.Context, req *timekeepingv1.GetWorkRuleRequest) (*timekeepingv1.WorkRule, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateWorkRule stores a new work rule.
func (h *Handler) CreateWorkRule(ctx context.Context, req *timekeepingv1.WorkRule) (*timekeepingv1.WorkRule, error) {
	return h.resource.Create(ctx, req)
}

// UpdateWorkRule replaces a work rule.
func (h *Handler) UpdateWorkRule(ctx context.Context, req *timekeepingv1.UpdateWorkRuleRequest) (*timekeepingv1.WorkRule, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteWorkRule deletes a work rule that nothing refers to.
func (h *Handler) DeleteWorkRule(ctx context.Context, req *timekeepingv1.DeleteWorkRuleRequest) (*emptypb.Empty, error) {
	r, err := h.resource.Get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := paycode.CheckNoTerm(ctx, h.terms, schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_WORK_RULE, "work rule", r.GetId(), r.GetName()); err != nil {
		return nil, err
	}
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

// All returns the work rules of a tenant.
func All(ctx context.Context, db pg.Querier, tenantID int64) ([]*timekeepingv1.WorkRule, error) {
	return newStore().All(ctx, db, tenantID)
}
