package rulesetassignment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	readAssignments = `
SELECT a.employee_id, a.context_id, a.from_date, a.to_date, a.schedule_rule_set_id, s.name
FROM schedule_rule_set_assignment AS a JOIN schedule_rule_set AS s ON s.tenant_id = a.tenant_id AND s.id = a.schedule_rule_set_id
WHERE a.tenant_id = $1 AND a.employee_id = ANY($2) ORDER BY a.employee_id, a.context_id DESC, a.from_date`

	readHeads = `
SELECT employee_id, version FROM schedule_rule_set_assignment_head WHERE tenant_id = $1 AND employee_id = ANY($2)`

	// Rows are locked in the order of the employees, so that two requests cannot deadlock.
	lockHeads = `
INSERT INTO schedule_rule_set_assignment_head AS h (tenant_id, employee_id, version)
SELECT $1, u.id, 0 FROM unnest($2::bigint[]) AS u (id) ORDER BY u.id
ON CONFLICT (tenant_id, employee_id) DO UPDATE SET version = h.version
RETURNING h.employee_id, h.version`

	raiseHeads = `
UPDATE schedule_rule_set_assignment_head SET version = version + 1 WHERE tenant_id = $1 AND employee_id = ANY($2)`

	deleteAssignments = `
DELETE FROM schedule_rule_set_assignment WHERE tenant_id = $1 AND employee_id = ANY($2)`

	insertAssignments = `
INSERT INTO schedule_rule_set_assignment (tenant_id, employee_id, context_id, from_date, to_date, schedule_rule_set_id)
SELECT $1, u.* FROM unnest($2::bigint[], $3::bigint[], $4::date[], $5::date[], $6::bigint[]) AS u (employee, context, from_date, to_date, rule_set)`

	lockRuleSets = `
SELECT id FROM schedule_rule_set WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR KEY SHARE`

	findAssigned = `
SELECT EXISTS (SELECT FROM schedule_rule_set_assignment WHERE tenant_id = $1 AND schedule_rule_set_id = $2)`
)

// read returns the assignments of employees, by context and day.
func read(ctx context.Context, db pg.Querier, employees []int64) (map[int64][]assignment, error) {
	out := make(map[int64][]assignment, len(employees))
	var employee int64
	var a assignment
	err := pg.ForEach(ctx, db, []any{&employee, &a.context, &a.days.From, &a.days.To, &a.ruleSet, &a.name}, func() error {
		out[employee] = append(out[employee], a)
		return nil
	}, readAssignments, tenant.Of(ctx), employees)
	if err != nil {
		return nil, fmt.Errorf("read rule sets of employees: %w", err)
	}
	return out, nil
}

// versions returns the versions of the employees' lists of assignments.
func versions(ctx context.Context, db pg.Querier, employees []int64) (map[int64]int64, error) {
	rows, err := db.Query(ctx, readHeads, tenant.Of(ctx), employees)
	return collectVersions(rows, err, len(employees))
}

// lock is like versions, but also locks the assignments until the transaction ends.
func lock(ctx context.Context, tx pgx.Tx, employees []int64) (map[int64]int64, error) {
	rows, err := tx.Query(ctx, lockHeads, tenant.Of(ctx), employees)
	return collectVersions(rows, err, len(employees))
}

func collectVersions(rows pgx.Rows, err error, count int) (map[int64]int64, error) {
	if err != nil {
		return nil, fmt.Errorf("read versions of rule sets of employees: %w", err)
	}
	out := make(map[int64]int64, count)
	var employee, version int64
	_, err = pgx.ForEachRow(rows, []any{&employee, &version}, func() error {
		out[employee] = version
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read versions of rule sets of employees: %w", err)
	}
	return out, nil
}

// replace replaces all assignments of employees.
func replace(ctx context.Context, tx pgx.Tx, replacement map[int64][]assignment) error {
	tenantID := tenant.Of(ctx)
	ids := slices.Sorted(maps.Keys(replacement))
	type row struct {
		Employee, Context int64
		From, To          civil.Date
		RuleSet           int64
	}
	var rows []row
	for _, id := range ids {
		for _, a := range replacement[id] {
			rows = append(rows, row{id, a.context, a.days.From, a.days.To, a.ruleSet})
		}
	}
	if _, err := tx.Exec(ctx, raiseHeads, tenantID, ids); err != nil {
		return fmt.Errorf("count changes of rule sets of employees: %w", err)
	}
	if _, err := tx.Exec(ctx, deleteAssignments, tenantID, ids); err != nil {
		return fmt.Errorf("remove rule sets of employees: %w", err)
	}
	if _, err := tx.Exec(ctx, insertAssignments, pg.Columns(rows, tenantID)...); err != nil {
		return fmt.Errorf("assign rule sets to employees: %w", err)
	}
	return nil
}

// lockExistingRuleSets locks rule sets against deletion until the transaction ends, and returns
// those that exist.
func lockExistingRuleSets(ctx context.Context, tx pgx.Tx, ruleSets []int64) ([]int64, error) {
	found, err := pg.Collect(ctx, tx, pgx.RowTo[int64], lockRuleSets, tenant.Of(ctx), ruleSets)
	if err != nil {
		return nil, fmt.Errorf("lock rule sets: %w", err)
	}
	return found, nil
}

// IsAssigned reports whether a rule set is assigned to any employee. The caller must have locked
// the rule set.
func IsAssigned(ctx context.Context, tx pgx.Tx, ruleSet int64) (assigned bool, err error) {
	if err := tx.QueryRow(ctx, findAssigned, tenant.Of(ctx), ruleSet).Scan(&assigned); err != nil {
		return false, fmt.Errorf("find assignments of a rule set: %w", err)
	}
	return assigned, nil
}

// EffectiveByEmployee returns the rule sets that apply to employees on days in a context, by rule
// set and day.
func EffectiveByEmployee(ctx context.Context, db pg.Querier, employees []int64, inContext int64, days civil.Range) (map[int64][]EffectiveRuleSet, error) {
	found, err := read(ctx, db, employees)
	if err != nil {
		return nil, err
	}
	out := make(map[int64][]EffectiveRuleSet, len(found))
	for id, list := range found {
		if effective := effectiveRuleSets(list, inContext, days); len(effective) > 0 {
			out[id] = effective
		}
	}
	return out, nil
}
