package patternassignment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/preference"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulewarning"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Propagations waits for propagations; see [propagation.Handler.AwaitWarnings].
type Propagations interface {
	AwaitWarnings(ctx context.Context, id int64) ([]*schedulingv1.ScheduleWarning, bool)
}

// maxCompared limits the distinct patterns whose shifts a response compares. The propagation
// compares all.
const maxCompared = 200

// countMembers counts for each term and range the employees on the term.
const countMembers = `
SELECT c.n, count(DISTINCT m.employee_id)
FROM unnest($2::bigint[], $3::date[], $4::date[]) WITH ORDINALITY AS c (term, from_date, to_date, n)
JOIN membership m ON m.tenant_id = $1 AND m.employment_term_id = c.term AND m.from_date < c.to_date AND m.to_date > c.from_date
GROUP BY c.n`

// addWarnings adds the warnings about shifts of the owners' own patterns to the results of edits.
func (s *Assignments) addWarnings(ctx context.Context, db pg.Querier, d *decision, after []assignment, unstored map[int64]*schedulingv1.SchedulePattern,
	results []*schedulingv1.GroupSchedulePatternResult,
) error {
	edits := d.edits
	patterns, err := s.compilePatterns(ctx, db, append(slices.Clone(d.now), after...), unstored)
	if err != nil || len(patterns) == 0 {
		return err
	}
	finder := schedulewarning.Finder{Pattern: func(id int64) *rotation.Pattern { return patterns[id] }}
	zone, err := civil.LoadZone("UTC")
	if err != nil {
		return err
	}
	found := map[int64][]schedulewarning.Warning{} // by assignment
	examined := map[int64]bool{}
	for i := range edits {
		owner := edits[i].affectedDays().ownerID
		if examined[owner] || !edits[i].changes() {
			continue
		}
		examined[owner] = true
		change := schedulewarning.Change{Zone: zone}
		if change.Before, err = s.kind.spans(owner, d.now); err != nil {
			return err
		}
		if change.After, err = s.kind.spans(owner, after); err != nil {
			return err
		}
		for _, w := range finder.Find(&change) {
			found[w.AssignmentID] = append(found[w.AssignmentID], w)
		}
	}
	var affected []affectedDays
	var warnings []*schedulingv1.ScheduleWarning
	for i := range edits {
		for _, part := range edits[i].after {
			for _, w := range found[part.id] {
				one := &schedulingv1.ScheduleWarning{Code: string(w.Code), AssignmentId: shownID(w.AssignmentID), Employees: 1, Text: w.Text}
				results[i].ScheduleWarnings = append(results[i].ScheduleWarnings, one)
				warnings = append(warnings, one)
				affected = append(affected, affectedDays{part.ownerID, civil.Range{From: w.Dates[0], To: part.days.To}})
			}
		}
	}
	return s.kind.countEmployees(ctx, db, affected, warnings)
}

// compilePatterns compiles the patterns of assignments, unless there are too many. unstored has the
// patterns that are not stored.
func (s *Assignments) compilePatterns(ctx context.Context, db pg.Querier, list []assignment, unstored map[int64]*schedulingv1.SchedulePattern) (map[int64]*rotation.Pattern, error) {
	compiled := map[int64]*rotation.Pattern{}
	var ids []int64
	for i := range list {
		if id := list[i].patternID; unstored[id] == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) > maxCompared {
		return nil, nil
	}
	patterns, err := s.deps.Definitions.Patterns(ctx, db, ids)
	if err != nil {
		return nil, err
	}
	maps.Copy(patterns, unstored)
	for id, pattern := range patterns {
		c, err := window.Compile(pattern, false)
		if err != nil {
			return nil, fmt.Errorf("patternassignment: compile the pattern %d: %w", id, err)
		}
		compiled[id] = c.Cycle
	}
	return compiled, nil
}

// spans returns the spans that the assignments of an owner generate for an employee who is on the
// term on all days.
func (k *Kind) spans(owner int64, list []assignment) ([]span.Span, error) {
	in := span.Input{Memberships: []span.Membership{{TermID: owner, Days: allDays, Inherits: true}}}
	for i := range list {
		if list[i].ownerID == owner {
			in.Assignments = append(in.Assignments, list[i].layer())
		}
	}
	spans, err := span.Resolve(in)
	if err != nil {
		return nil, fmt.Errorf("patternassignment: spans of the %s %d: %w", k.owner, owner, err)
	}
	return spans, nil
}

// countEmployees sets the numbers of employees who are on the terms of warnings.
func (k *Kind) countEmployees(ctx context.Context, db pg.Querier, affected []affectedDays, warnings []*schedulingv1.ScheduleWarning) error {
	if k.ofEmployees || len(affected) == 0 {
		return nil
	}
	owners, from, to := make([]int64, len(affected)), make([]civil.Date, len(affected)), make([]civil.Date, len(affected))
	for i, a := range affected {
		owners[i], from[i], to[i], warnings[i].Employees = a.ownerID, a.days.From, a.days.To, 0
	}
	var n, employees int64
	err := pg.ForEach(ctx, db, []any{&n, &employees}, func() error {
		warnings[n-1].Employees = employees
		return nil
	}, countMembers, tenant.Of(ctx), owners, from, to)
	if err != nil {
		return fmt.Errorf("patternassignment: count employees: %w", err)
	}
	return nil
}

// await waits for the propagation of a change if the caller asks for that, and replaces the warnings
// in the results by those of the propagation. Warnings that belong to no result are in the first one.
func (s *Assignments) await(ctx context.Context, propagationID int64, results []*schedulingv1.GroupSchedulePatternResult) {
	if preference.Wait(ctx) == 0 || propagationID == 0 || len(results) == 0 {
		return
	}
	warnings, finished := s.deps.Propagations.AwaitWarnings(ctx, propagationID)
	if !finished {
		return
	}
	byID := map[int64]*schedulingv1.GroupSchedulePatternResult{}
	for _, r := range results {
		r.ScheduleWarnings = nil
		byID[r.GetGroupSchedulePattern().GetId()] = r
	}
	for _, w := range warnings {
		r := byID[w.GetAssignmentId()]
		if r == nil {
			r = results[0]
		}
		r.ScheduleWarnings = append(r.ScheduleWarnings, w)
	}
	for _, r := range results {
		if p := r.GetGroupSchedulePattern(); p.GetPopulatedThroughDate() != "" {
			p.PopulatedThroughDate = populatedThrough(p)
		}
	}
}

// populatedThrough returns the last day of an assignment whose propagation has finished.
func populatedThrough(p *schedulingv1.GroupSchedulePattern) string {
	if p.GetEndDate() != "" {
		return p.GetEndDate()
	}
	return civil.Forever.String()
}
