package scheduleruleset

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rulesetassignment"
)

// Handler serves ScheduleRuleSetService.
type Handler struct {
	schedulingv1.UnsafeScheduleRuleSetServiceServer
	resource setup.Resource[*ruleSet]
}

var _ schedulingv1.ScheduleRuleSetServiceServer = (*Handler)(nil)

// New returns a Handler that stores rule sets in the database of the pool.
func New(pool *pg.Pool) *Handler {
	return &Handler{resource: setup.Resource[*ruleSet]{Kind: Kind(), Pool: pool, Prepare: prepare, Check: checkType, CheckUnused: checkUnassigned}}
}

// checkUnassigned rejects deleting a rule set that is assigned to employees.
func checkUnassigned(ctx context.Context, tx pgx.Tx, s *ruleSet) error {
	assigned, err := rulesetassignment.IsAssigned(ctx, tx, s.GetId())
	if err == nil && assigned {
		err = fault.Invalid(CodeAssigned, fmt.Sprintf("The schedule rule set %q is assigned to employees. Remove the assignments first.", s.GetName()))
	}
	return err
}

// checkType rejects changing the type of a rule set.
func checkType(ctx context.Context, tx pgx.Tx, id int64, s *ruleSet) error {
	if id == 0 {
		return nil
	}
	stored, err := Kind().GetForUpdate(ctx, tx, id)
	if err == nil && stored.GetRuleType().GetId() != s.GetRuleType().GetId() {
		err = fault.Invalid(CodeRuleType, fmt.Sprintf("The schedule rule set %d has the type %s, which cannot change.", id, stored.GetRuleType().GetName()))
	}
	return err
}

// ListScheduleRuleSets returns the rule sets by name: all rule sets, the rule sets of one type, or
// the rule set with the given name.
func (h *Handler) ListScheduleRuleSets(ctx context.Context, req *schedulingv1.ListScheduleRuleSetsRequest) (*schedulingv1.ScheduleRuleSetList, error) {
	kind, err := requestedType(req.RuletypeId, req.RuletypeName)
	if err != nil {
		return nil, err
	}
	list, err := h.resource.List(ctx, nil, req.Name)
	if err != nil {
		return nil, err
	}
	list = filterByType(list, kind)
	if req.Name != nil && len(list) == 0 {
		return nil, fault.NotFound(CodeUnknown, fmt.Sprintf("There is no schedule rule set with the name %.100q.", req.GetName()))
	}
	return toList(list, req.AllDetails), nil
}

// requestedType returns the id of the requested type, or 0.
func requestedType(id *int64, name *string) (int64, error) {
	if id == nil && name == nil {
		return 0, nil
	}
	property := &schedulingv1.ScheduleRuleProperty{Id: id}
	if name != nil {
		property.Name = *name
	}
	return findType("ruletype", property)
}

// toList returns the rule sets, with only their ids and names if details are declined.
func toList(list []*ruleSet, all *bool) *schedulingv1.ScheduleRuleSetList {
	if all != nil && !*all {
		for i, s := range list {
			list[i] = &ruleSet{Id: s.Id, Name: s.GetName()}
		}
	}
	return &schedulingv1.ScheduleRuleSetList{Items: list}
}

// GetScheduleRuleSet returns one rule set, or the error 404.
func (h *Handler) GetScheduleRuleSet(ctx context.Context, req *schedulingv1.GetScheduleRuleSetRequest) (*ruleSet, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateScheduleRuleSet stores a new rule set.
func (h *Handler) CreateScheduleRuleSet(ctx context.Context, req *ruleSet) (*ruleSet, error) {
	return h.resource.Create(ctx, req)
}

// UpdateScheduleRuleSet replaces a rule set. An unknown id is an error 400, as in the reference
// product.
func (h *Handler) UpdateScheduleRuleSet(ctx context.Context, req *schedulingv1.UpdateScheduleRuleSetRequest) (*ruleSet, error) {
	out, err := h.resource.Update(ctx, req.GetId(), req.GetBody())
	return out, asInvalid(err)
}

// DeleteScheduleRuleSet deletes a rule set. An unknown id is an error 400, as in the reference
// product.
func (h *Handler) DeleteScheduleRuleSet(ctx context.Context, req *schedulingv1.DeleteScheduleRuleSetRequest) (*emptypb.Empty, error) {
	done, err := h.resource.Delete(ctx, req.GetId(), req.Version)
	return done, asInvalid(err)
}

func asInvalid(err error) error {
	if err != nil && fault.HasStatus(err, http.StatusNotFound) {
		return fault.Invalid(CodeUnknown, fault.FromError(err).Message)
	}
	return err
}

// MultiReadScheduleRuleSets returns the requested rule sets in the order of the request. Without a
// request it returns all rule sets, or the rule sets of one type.
func (h *Handler) MultiReadScheduleRuleSets(ctx context.Context, req *schedulingv1.MultiReadScheduleRuleSetsRequest) (*schedulingv1.ScheduleRuleSetList, error) {
	where := req.GetBody().GetWhere()
	criteria := where.GetForRuleSet()
	kind := int64(0)
	if t := criteria.GetRuleType(); t != nil {
		var err error
		if kind, err = findType("where.forRuleSet.ruleType", t); err != nil {
			return nil, err
		}
	}
	requested, err := parseRefs(criteria)
	if err != nil {
		return nil, err
	}
	all, err := Kind().All(ctx, h.resource.Pool)
	if err != nil {
		return nil, err
	}
	list := filterByType(all, kind)
	var allDetails *bool
	if where != nil {
		allDetails = where.AllDetails
	}
	if len(requested) == 0 {
		return toList(list, allDetails), nil
	}
	byPersistentID := len(criteria.GetPersistentIds()) > 0
	outcome, err := bulk.Run(requested, req.GetPartialSuccess(), func(_ int, ref *commonv1.Ref) (*ruleSet, error) {
		return pick(list, ref, byPersistentID)
	})
	if err != nil {
		return nil, err
	}
	failure, err := outcome.Failure()
	switch {
	case err != nil:
		return nil, err
	case failure != nil:
		return &schedulingv1.ScheduleRuleSetList{Failure: failure}, rpc.PartialSuccess(ctx)
	}
	return toList(outcome.Successes(), allDetails), nil
}

// parseRefs returns the references of the criteria. A persistent id is returned as a qualifier.
func parseRefs(criteria *schedulingv1.ScheduleRuleSetCriteria) ([]*commonv1.Ref, error) {
	sets := criteria.GetRuleSets()
	if err := fault.AtMostOne(CodeSeveral, "where.forRuleSet", "ruleSets.ids, ruleSets.qualifiers, ruleSets.refs and persistentIds",
		len(sets.GetIds()) > 0, len(sets.GetQualifiers()) > 0, len(sets.GetRefs()) > 0, len(criteria.GetPersistentIds()) > 0); err != nil {
		return nil, err
	}
	for i, ref := range sets.GetRefs() {
		if ref.Id == nil && ref.GetQualifier() == "" {
			return nil, fault.Invalid(CodeMissing, fmt.Sprintf("where.forRuleSet.ruleSets.refs[%d].id is missing.", i))
		}
	}
	refs := reflist.Refs(sets)
	for _, name := range criteria.GetPersistentIds() {
		refs = append(refs, &commonv1.Ref{Qualifier: proto.String(name)})
	}
	return refs, nil
}

// pick returns the rule set of a reference, or the error 404.
func pick(list []*ruleSet, ref *commonv1.Ref, byPersistentID bool) (*ruleSet, error) {
	for _, s := range list {
		if ref.Id != nil && s.GetId() == ref.GetId() ||
			ref.Id == nil && byPersistentID && s.GetPersistentId() == ref.GetQualifier() ||
			ref.Id == nil && !byPersistentID && strings.EqualFold(s.GetName(), ref.GetQualifier()) {
			return s, nil
		}
	}
	return nil, fault.NotFound(CodeUnknown, fmt.Sprintf("There is no schedule rule set %s.", describe(ref.GetId(), ref.GetQualifier())))
}
