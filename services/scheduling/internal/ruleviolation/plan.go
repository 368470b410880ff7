package ruleviolation

import (
	"context"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rulesetassignment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// plan has the rule sets to evaluate for each employee.
type plan struct {
	sets []set
	// forAllEmployees is the number of sets, from the first on, that apply to all employees on all
	// days.
	forAllEmployees int
	// assigned are the other sets of employees, by set and day.
	assigned map[int64][]assignedSet
}

// assignedSet is a set that applies to an employee on days.
type assignedSet struct {
	set  int
	days civil.Range
}

// newPlan returns the requested rule sets, or else the active ones for the whole organization, with
// their rules of at least a severity.
func (h *Handler) newPlan(ctx context.Context, requested *commonv1.RefList, severity int64) (*plan, error) {
	refs := reflist.Refs(requested)
	found, err := h.RuleSets.Read(ctx, h.Pool, "where.ruleSets", refs)
	if err != nil {
		return nil, err
	}
	p := &plan{}
	for _, s := range found {
		if refs == nil && (!s.GetActive() || s.GetRuleType().GetId() != schedulerule.Organization) {
			continue
		}
		compiled, err := newSet(s, severity)
		if err != nil {
			return nil, err
		}
		p.sets = append(p.sets, compiled)
	}
	p.forAllEmployees = len(p.sets)
	return p, p.check(nil)
}

// check limits the rules that are evaluated for one employee.
func (p *plan) check(assigned []assignedSet) error {
	count := 0
	for _, s := range p.sets[:p.forAllEmployees] {
		count += len(s.rules)
	}
	for _, s := range assigned {
		count += len(p.sets[s.set].rules)
	}
	if count > maxRules {
		return fault.TooLarge(fault.CodeItemLimit, fmt.Sprintf("There are more than %d rules to evaluate. Name fewer rule sets.", maxRules))
	}
	return nil
}

// addAssigned adds the active rule sets that are assigned to employees in a context.
func (h *Handler) addAssigned(ctx context.Context, p *plan, inContext int64, days civil.Range, employees []projection.Employee, severity int64) error {
	ids := make([]int64, len(employees))
	for i := range employees {
		ids[i] = employees[i].ID
	}
	holdings, err := rulesetassignment.EffectiveByEmployee(ctx, h.Pool, ids, inContext, days)
	if err != nil || len(holdings) == 0 {
		return err
	}
	var ruleSetIDs []int64
	for _, list := range holdings {
		for _, holding := range list {
			ruleSetIDs = append(ruleSetIDs, holding.RuleSet)
		}
	}
	slices.Sort(ruleSetIDs)
	found, err := h.RuleSets.Find(ctx, h.Pool, slices.Compact(ruleSetIDs), nil)
	if err != nil {
		return err
	}
	if err := p.assign(found, holdings, severity); err != nil {
		return err
	}
	for _, list := range p.assigned {
		if err := p.check(list); err != nil {
			return err
		}
	}
	return nil
}

// assign adds the active rule sets that employees have on days. found has all of these rule sets.
func (p *plan) assign(found []*schedulingv1.ScheduleRuleSet, holdings map[int64][]rulesetassignment.EffectiveRuleSet, severity int64) error {
	at := make(map[int64]int, len(found))
	for _, s := range found {
		if !s.GetActive() {
			continue
		}
		compiled, err := newSet(s, severity)
		if err != nil {
			return err
		}
		at[s.GetId()] = len(p.sets)
		p.sets = append(p.sets, compiled)
	}
	p.assigned = make(map[int64][]assignedSet, len(holdings))
	for id, list := range holdings {
		for _, holding := range list {
			if set, active := at[holding.RuleSet]; active {
				p.assigned[id] = append(p.assigned[id], assignedSet{set: set, days: holding.Days})
			}
		}
	}
	return nil
}
