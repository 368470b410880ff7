package ruleviolation

import (
	"context"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rulesetassignment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// plan says which rule sets are evaluated for whom.
type plan struct {
	sets []set
	// forAllEmployees is how many of the sets, from the first on, hold for everybody on all
	// days.
	forAllEmployees int
	// assigned are the other ones that hold for employees, by set and day.
	assigned map[int64][]assignedSet
}

// assignedSet is a set that holds for an employee on days.
type assignedSet struct {
	set  int
	days civil.Range
}

// planOf returns the rule sets that are named, or else the active ones that hold for
// everybody, with their rules of a severity or above.
func (h *Handler) planOf(ctx context.Context, tenantID int64, named *commonv1.RefList, severity int64) (*plan, error) {
	refs := reflist.Refs(named)
	found, err := h.RuleSets.Read(ctx, h.Pool, "where.ruleSets", refs)
	if err != nil {
		return nil, err
	}
	p := &plan{}
	for _, s := range found {
		if refs == nil && (!s.GetActive() || s.GetRuleType().GetId() != schedulerule.Organization) {
			continue
		}
		made, err := newSet(s, severity)
		if err != nil {
			return nil, err
		}
		p.sets = append(p.sets, made)
	}
	p.forAllEmployees = len(p.sets)
	return p, p.check(nil)
}

// check bounds the rules that are evaluated for one employee.
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
func (h *Handler) addAssigned(ctx context.Context, tenantID int64, p *plan, inContext int64, days civil.Range, employees []projection.Employee, severity int64) error {
	ids := make([]int64, len(employees))
	for i := range employees {
		ids[i] = employees[i].ID
	}
	held, err := rulesetassignment.HoldingsOf(ctx, h.Pool, tenantID, ids, inContext, days)
	if err != nil || len(held) == 0 {
		return err
	}
	var wanted []int64
	for _, list := range held {
		for _, holding := range list {
			wanted = append(wanted, holding.RuleSet)
		}
	}
	slices.Sort(wanted)
	found, err := h.RuleSets.Find(ctx, h.Pool, slices.Compact(wanted), nil)
	if err != nil {
		return err
	}
	at := make(map[int64]int, len(found))
	for _, s := range found {
		if !s.GetActive() {
			continue
		}
		made, err := newSet(s, severity)
		if err != nil {
			return err
		}
		at[s.GetId()] = len(p.sets)
		p.sets = append(p.sets, made)
	}
	p.assigned = make(map[int64][]assignedSet, len(held))
	for id, list := range held {
		for _, holding := range list {
			if set, active := at[holding.RuleSet]; active {
				p.assigned[id] = append(p.assigned[id], assignedSet{set: set, days: holding.Days})
			}
		}
		if err := p.check(p.assigned[id]); err != nil {
			return err
		}
	}
	return nil
}
