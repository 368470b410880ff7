package scheduleitem

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemchange"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// maxRestored limits the entries that one request restores.
var restoredLimit = policy.FindLimit[*schedulingv1.RestoredSchedules]("restored entries")

const (
	// The changed and deleted entries of employees' own patterns whose generated entries still
	// exist. The last columns tell whether their days are locked, and whether they were moved to
	// another owner.
	readChanged = `
SELECT i.id, i.kind, i.hides_employee_id, i.hides_day, i.from_day, i.to_day, i.covers,
    EXISTS (SELECT FROM day_lock l WHERE l.tenant_id = $1 AND l.employee_id = i.hides_employee_id
            AND (l.from_date <= i.hides_day AND l.to_date > i.hides_day
                 OR l.from_date <= CASE i.kind WHEN 'SHIFT' THEN i.from_day ELSE i.to_day END AND l.to_date > i.from_day)),
    i.employee_id IS DISTINCT FROM i.hides_employee_id
FROM schedule_item i
WHERE i.tenant_id = $1 AND i.hides_employee_id = ANY($2) AND i.hides_day >= $3 AND i.hides_day < $4 AND i.hidden_lane IS NOT NULL
  AND EXISTS (SELECT FROM pattern_assignment a WHERE a.tenant_id = $1 AND a.id = i.hides_lineage_id AND a.employee_id IS NOT NULL)
ORDER BY i.id`

	readWithPattern = `
SELECT DISTINCT employee_id FROM pattern_assignment
WHERE tenant_id = $1 AND employee_id = ANY($2) AND believed_until = 'infinity' AND from_date < $4 AND to_date > $3`
)

// RestoreResult counts the changed or deleted entries of an employee by what Restore did with them.
type RestoreResult struct {
	// Patterned reports whether the employee has a pattern on the days.
	Patterned bool
	// Entries counts restored entries.
	Entries int
	// Locked and Moved count entries that were not restored, because they are on locked days or
	// moved to another owner.
	Locked, Moved int
}

// Restore removes the changes and deletions of entries that the employees' own patterns generate on
// some days, all or nothing. Additional items stay.
func (d Deps) Restore(ctx context.Context, employeeIDs []int64, days civil.Range) (map[int64]*RestoreResult, error) {
	var out map[int64]*RestoreResult
	err := pg.InTx(ctx, d.Pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if err := employeelock.Lock(ctx, tx, slices.Clone(employeeIDs)); err != nil {
			return err
		}
		out, err = restore(ctx, tx, employeeIDs, days)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// restore restores the entries of locked employees.
func restore(ctx context.Context, tx pgx.Tx, employeeIDs []int64, days civil.Range) (map[int64]*RestoreResult, error) {
	out, err := newResults(ctx, tx, employeeIDs, days)
	if err != nil {
		return nil, err
	}
	var restored []int64
	var changes itemchange.Notifications
	var r itemstore.Row
	var hides civil.Date
	var locked, moved bool
	err = pg.ForEach(ctx, tx, []any{&r.ID, &r.Kind, &r.EmployeeID, &hides, &r.From, &r.To, &r.Covers, &locked, &moved}, func() error {
		switch result := out[r.EmployeeID]; {
		case moved:
			result.Moved++
		case locked:
			result.Locked++
		default:
			result.Entries++
			restored = append(restored, r.ID)
			changes.AddDays(r.EmployeeID, hides, hides)
			changes.AddDays(r.EmployeeID, r.From, r.To)
			changes.AddCovering(r.Covers, r.EmployeeID)
			return changes.AddDeleted(r.Kind, r.ID, r.EmployeeID, r.From)
		}
		return nil
	}, readChanged, tenant.Of(ctx), employeeIDs, days.From, days.To)
	if err != nil {
		return nil, fmt.Errorf("scheduleitem: read changed entries: %w", err)
	}
	if err := restoredLimit.Check(len(restored)); err != nil {
		return nil, err
	}
	if len(restored) == 0 {
		return out, nil
	}
	if err := itemstore.Delete(ctx, tx, restored); err != nil {
		return nil, err
	}
	return out, changes.Publish(ctx, tx)
}

// newResults returns a result for each employee with Patterned set.
func newResults(ctx context.Context, tx pgx.Tx, employeeIDs []int64, days civil.Range) (map[int64]*RestoreResult, error) {
	found, err := pg.Collect(ctx, tx, pgx.RowTo[int64], readWithPattern, tenant.Of(ctx), employeeIDs, days.From, days.To)
	if err != nil {
		return nil, fmt.Errorf("scheduleitem: read patterns of employees: %w", err)
	}
	out := make(map[int64]*RestoreResult, len(employeeIDs))
	for _, id := range employeeIDs {
		out[id] = &RestoreResult{Patterned: slices.Contains(found, id)}
	}
	return out, nil
}
