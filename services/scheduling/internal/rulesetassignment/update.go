package rulesetassignment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// item is the part of a request about one person.
type item struct {
	change
	employee *projection.Employee
	version  *int64
	resolved []assignment
}

// UpdateScheduleRuleSetAssignments replaces the assignments of one person by a sequence.
func (h *Handler) UpdateScheduleRuleSetAssignments(ctx context.Context, req *schedulingv1.UpdateScheduleRuleSetAssignmentsRequest) (*schedulingv1.PersonScheduleRuleSets, error) {
	person := &commonv1.Ref{Id: &req.PersonId}
	refs := []*commonv1.Ref{person}
	if identity := req.GetBody().GetPersonIdentity(); identity != nil {
		refs = append(refs, identityRef(identity))
	}
	employees, unknown, err := h.directory.EachEmployee(ctx, refs)
	if err != nil {
		return nil, err
	}
	if unknown[0] != nil {
		return nil, unknown[0]
	}
	if len(employees) > 1 && employees[1].ID != req.GetPersonId() {
		return nil, fault.Invalid(CodeOtherPerson, "personIdentity is not the person in the path.")
	}
	c, err := readChange("", req.GetBody(), true)
	if err != nil {
		return nil, err
	}
	out, err := h.write(ctx, []*item{{change: c, employee: &employees[0], version: req.GetBody().Version}})
	if err != nil {
		return nil, err
	}
	out[0].AssignmentSpan = req.GetBody().GetAssignmentSpan()
	return out[0], nil
}

// MultiUpsertScheduleRuleSetAssignments replaces assignments of persons, all or none. Several items
// for one person apply in order.
func (h *Handler) MultiUpsertScheduleRuleSetAssignments(ctx context.Context, req *schedulingv1.PersonScheduleRuleSetsList) (*schedulingv1.PersonScheduleRuleSetsList, error) {
	persons := req.GetPersons()
	if len(persons) == 0 {
		return nil, fault.Invalid(CodeMissing, "At least one person is needed.")
	}
	items, refs := make([]*item, len(persons)), make([]*commonv1.Ref, len(persons))
	for i, p := range persons {
		c, err := readChange(fmt.Sprintf("[%d].", i), p, false)
		if err != nil {
			return nil, err
		}
		items[i], refs[i] = &item{change: c, version: p.Version}, identityRef(p.GetPersonIdentity())
	}
	employees, unknown, err := h.directory.EachEmployee(ctx, refs)
	if err != nil {
		return nil, err
	}
	for i := range items {
		if unknown[i] != nil {
			return nil, unknown[i]
		}
		items[i].employee = &employees[i]
	}
	out, err := h.write(ctx, items)
	if err != nil {
		return nil, err
	}
	for i, p := range persons {
		out[i].AssignmentSpan = p.GetAssignmentSpan()
	}
	return &schedulingv1.PersonScheduleRuleSetsList{Persons: out}, nil
}

// write applies the items, all or none, and returns the new assignments of each person.
func (h *Handler) write(ctx context.Context, items []*item) ([]*schedulingv1.PersonScheduleRuleSets, error) {
	ids := make([]int64, len(items))
	for i, it := range items {
		ids[i] = it.employee.ID
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var assignments map[int64][]assignment
	var counted map[int64]int64
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if counted, err = lock(ctx, tx, ids); err != nil {
			return err
		}
		if err := h.resolve(ctx, tx, items); err != nil {
			return err
		}
		if assignments, err = read(ctx, tx, ids); err != nil {
			return err
		}
		changed, err := apply(ctx, items, assignments, counted)
		if err != nil || len(changed) == 0 {
			return err
		}
		for id, list := range changed {
			assignments[id] = list
			counted[id]++
		}
		return replace(ctx, tx, changed)
	})
	if err != nil {
		return nil, err
	}
	out := make([]*schedulingv1.PersonScheduleRuleSets, len(items))
	for i, it := range items {
		out[i] = message(it.employee, toProto(assignments[it.employee.ID], 0, nil), counted[it.employee.ID])
	}
	return out, nil
}

// apply returns the new assignments of the persons for whom the items make a difference.
func apply(ctx context.Context, items []*item, current map[int64][]assignment, counted map[int64]int64) (map[int64][]assignment, error) {
	after := map[int64][]assignment{}
	for _, it := range items {
		id := it.employee.ID
		// A person whose rule sets were never changed has a list without a version.
		if counted[id] > 0 || !precondition.Of(ctx).IsAny() {
			if err := precondition.CheckGiven(ctx, fmt.Sprintf("list of rule sets of the person %d", id), counted[id], it.version); err != nil {
				return nil, err
			}
		}
		list, started := after[id]
		if !started {
			list = current[id]
		}
		after[id] = rewrite(list, it.change, it.resolved)
		if len(after[id]) > maxAssignments {
			return nil, fault.Conflict(fault.CodeFull,
				fmt.Sprintf("A person may have at most %d rule set assignments, and the person %d would have more. Clear those of the past.", maxAssignments, id))
		}
	}
	for id, list := range after {
		if slices.Equal(list, current[id]) {
			delete(after, id)
		}
	}
	return after, nil
}

// resolve finds the rule sets of items, and locks them against deletion.
func (h *Handler) resolve(ctx context.Context, tx pgx.Tx, items []*item) error {
	var ids []int64
	var names []string
	for _, it := range items {
		for _, a := range it.fresh {
			if a.ruleSet.Id != nil {
				ids = append(ids, a.ruleSet.GetId())
			} else {
				names = append(names, a.ruleSet.GetQualifier())
			}
		}
	}
	if len(ids)+len(names) == 0 {
		return nil
	}
	found, err := h.ruleSets.Find(ctx, tx, ids, names)
	if err != nil {
		return err
	}
	existing := make([]int64, len(found))
	for i, s := range found {
		existing[i] = s.GetId()
	}
	if existing, err = lockExistingRuleSets(ctx, tx, existing); err != nil {
		return err
	}
	byID, byName := map[int64]*schedulingv1.ScheduleRuleSet{}, map[string]*schedulingv1.ScheduleRuleSet{}
	for _, s := range found {
		if slices.Contains(existing, s.GetId()) {
			byID[s.GetId()], byName[strings.ToLower(s.GetName())] = s, s
		}
	}
	for _, it := range items {
		it.resolved = it.resolved[:0]
		for _, a := range it.fresh {
			set := byID[a.ruleSet.GetId()]
			if a.ruleSet.Id == nil {
				set = byName[strings.ToLower(a.ruleSet.GetQualifier())]
			}
			switch {
			case set == nil:
				return fault.Invalid(CodeUnknownRuleSet, fmt.Sprintf("%s.ruleSet: there is no such schedule rule set.", a.path))
			case set.GetRuleType().GetId() != schedulerule.Employee:
				return fault.Invalid(CodeRuleType, fmt.Sprintf("%s.ruleSet: %q has the type %s, and applies to all employees. Assign a rule set of the type Employee.",
					a.path, set.GetName(), set.GetRuleType().GetName()))
			}
			it.resolved = append(it.resolved, assignment{context: a.context, ruleSet: set.GetId(), days: a.days, name: set.GetName()})
		}
	}
	return nil
}
