package propagation

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// maxNamed is the largest number of terms, and of assignments, that a propagation names.
const maxNamed = 100

const (
	selectTermNames = `SELECT id, name FROM employment_term WHERE tenant_id = $1 AND id = ANY($2)`

	// The newest version of each assignment, also if it was removed. $3 lists the employees that the
	// caller may see; NULL means all.
	selectAssignments = `
SELECT DISTINCT ON (a.id) a.id, a.pattern_id, coalesce(t.id, 0), coalesce(t.name, ''), coalesce(e.id, 0), coalesce(e.person_number, '')
FROM pattern_assignment a
LEFT JOIN employment_term t ON t.tenant_id = $1 AND t.id = a.employment_term_id
LEFT JOIN employee e ON e.tenant_id = $1 AND e.id = a.employee_id AND ($3::bigint[] IS NULL OR e.id = ANY($3))
WHERE a.tenant_id = $1 AND a.id = ANY($2)
ORDER BY a.id, a.version DESC`

	selectPatternBodies = `SELECT id, body FROM schedule_pattern WHERE tenant_id = $1 AND id = ANY($2)`
)

// addNames names the employment terms and the assignments of propagations. Deleted ones are left out.
func (h *Handler) addNames(ctx context.Context, list []propagationRow) error {
	var terms, assignments []int64
	for i := range list {
		one := &list[i]
		one.terms, one.assignments = one.terms[:min(len(one.terms), maxNamed)], one.assignments[:min(len(one.assignments), maxNamed)]
		terms, assignments = append(terms, one.terms...), append(assignments, one.assignments...)
	}
	names := map[int64]string{}
	var id int64
	var name string
	if err := pg.ForEach(ctx, h.pool, []any{&id, &name}, func() error {
		names[id] = name
		return nil
	}, selectTermNames, tenant.Of(ctx), terms); err != nil {
		return fmt.Errorf("propagation: read terms: %w", err)
	}
	patterns, err := h.readPatterns(ctx, assignments)
	if err != nil {
		return err
	}
	for _, one := range list {
		for _, id := range one.terms {
			if names[id] != "" {
				one.EmploymentTerms = append(one.EmploymentTerms, newRef(id, names[id]))
			}
		}
		for _, id := range one.assignments {
			if patterns[id] != nil {
				one.Patterns = append(one.Patterns, patterns[id])
			}
		}
	}
	return nil
}

// readPatterns returns the assignments with the names of their patterns, by id.
func (h *Handler) readPatterns(ctx context.Context, assignments []int64) (map[int64]*schedulingv1.PropagationPattern, error) {
	found := map[int64]*schedulingv1.PropagationPattern{}
	if len(assignments) == 0 {
		return found, nil
	}
	seen, err := h.visibleIDs(ctx)
	if err != nil {
		return nil, err
	}
	byPattern := map[int64][]*schedulingv1.PropagationPattern{}
	var id, patternID, term, employee int64
	var termName, number string
	if err := pg.ForEach(ctx, h.pool, []any{&id, &patternID, &term, &termName, &employee, &number}, func() error {
		one := &schedulingv1.PropagationPattern{AssignmentId: id}
		if term != 0 {
			one.EmploymentTerm = newRef(term, termName)
		}
		if employee != 0 {
			one.Employee = newRef(employee, number)
		}
		found[id], byPattern[patternID] = one, append(byPattern[patternID], one)
		return nil
	}, selectAssignments, tenant.Of(ctx), assignments, seen); err != nil {
		return nil, fmt.Errorf("propagation: read assignments: %w", err)
	}
	var ids []int64
	for id := range byPattern {
		ids = append(ids, id)
	}
	var body []byte
	if err := pg.ForEach(ctx, h.pool, []any{&id, &body}, func() error {
		pattern := &schedulingv1.SchedulePattern{}
		if err := proto.Unmarshal(body, pattern); err != nil {
			return err
		}
		for _, one := range byPattern[id] {
			one.Name = pattern.GetName()
		}
		return nil
	}, selectPatternBodies, tenant.Of(ctx), ids); err != nil {
		return nil, fmt.Errorf("propagation: read patterns: %w", err)
	}
	return found, nil
}
