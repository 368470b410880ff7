// Package workrule keeps work rules, which determine how worked time is paid.
package workrule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
)

func kind() *setup.Kind[*timekeepingv1.WorkRule] {
	return setup.NewKind(setup.Declaration[*timekeepingv1.WorkRule]{
		Codes: paycode.Codes(), What: "work rule", Table: "work_rule",
		References: []setup.Reference{{Field: "default_pay_code", To: paycode.Kind()}},
	})
}

// Handler serves WorkRuleService.
type Handler struct {
	timekeepingv1.UnsafeWorkRuleServiceServer
	resource *setupname.Resource[*timekeepingv1.WorkRule]
}

var _ timekeepingv1.WorkRuleServiceServer = (*Handler)(nil)

// New returns a Handler that keeps work rules in the database of the names.
func New(names *setupname.Names) *Handler {
	return &Handler{resource: setupname.NewResource(names, setup.Resource[*timekeepingv1.WorkRule]{
		Kind: kind(), Prepare: prepare, CheckUnused: checkNoPunch,
	})}
}

// checkNoPunch returns an error if a punch refers to a work rule.
func checkNoPunch(ctx context.Context, tx pgx.Tx, r *timekeepingv1.WorkRule) error {
	var number, zone string
	var at time.Time
	err := tx.QueryRow(ctx, `
SELECT coalesce(p.person_number, w.employee_id::text), w.at, w.time_zone
FROM punch w LEFT JOIN person p ON p.tenant_id = $1 AND p.id = w.employee_id
WHERE w.tenant_id = $1 AND w.work_rule_id = $2 LIMIT 1`, tenant.Of(ctx), r.GetId()).Scan(&number, &at, &zone)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("find punches of work rule %d: %w", r.GetId(), err)
	}
	local, err := (&civil.Zones{}).Get(zone)
	if err != nil {
		return err
	}
	return kind().InUseError(fmt.Sprintf("A punch of %q on %s", number, local.At(at).Date), r)
}

func prepare(_ string, r *timekeepingv1.WorkRule) (*timekeepingv1.WorkRule, error) {
	if r.Active == nil {
		r.Active = proto.Bool(true)
	}
	return r, nil
}

// ListWorkRules returns all work rules by name, or the requested one.
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
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

// All returns the work rules of the tenant of the context.
func All(ctx context.Context, db pg.Querier) ([]*timekeepingv1.WorkRule, error) {
	return kind().All(ctx, db)
}
