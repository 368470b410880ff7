package propagation

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Open is an unfinished propagation of an employee.
type Open struct {
	ID    int64
	Cause Cause
	// State is [StateAccepted], [StateRunning], [StatePaused] or [StateFailed].
	State string
}

// The first part finds, for each employee and propagation, the last batch that begins at or before
// the employee. Batches of a propagation do not overlap in buckets, and a batch of employees that
// are far apart has no other batches between them. The other parts find employees of propagations
// that are not divided into batches yet.
const selectPending = `
SELECT e.id, p.id, p.cause, p.state
FROM propagation p
CROSS JOIN unnest($2::bigint[]) AS e (id)
CROSS JOIN LATERAL (
    SELECT employee_ids FROM propagation_batch
    WHERE tenant_id = $1 AND propagation_id = p.applied_by AND first_employee_id <= e.id
    ORDER BY first_employee_id DESC LIMIT 1
) AS b
WHERE p.tenant_id = $1 AND p.state <> 'FINISHED' AND e.id = ANY(b.employee_ids)
UNION
SELECT m.employee_id, p.id, p.cause, p.state
FROM propagation p
JOIN membership m ON m.tenant_id = p.tenant_id AND m.employment_term_id = ANY(p.employment_term_ids)
WHERE p.tenant_id = $1 AND p.state <> 'FINISHED' AND p.applied_by IS NULL AND m.employee_id = ANY($2)
UNION
SELECT e.id, p.id, p.cause, p.state
FROM propagation p
CROSS JOIN LATERAL unnest(p.employee_ids) AS e (id)
WHERE p.tenant_id = $1 AND p.state <> 'FINISHED' AND p.applied_by IS NULL AND e.id = ANY($2)
ORDER BY 1, 2`

// Pending returns the unfinished propagations of employees, oldest first. Employees without any are
// absent. It reads the tenant of ctx.
func Pending(ctx context.Context, db pg.Querier, employeeIDs []int64) (map[int64][]Open, error) {
	tenantID := tenant.Of(ctx)
	pending := map[int64][]Open{}
	var employee int64
	var open Open
	err := pg.ForEach(ctx, db, []any{&employee, &open.ID, &open.Cause, &open.State}, func() error {
		pending[employee] = append(pending[employee], open)
		return nil
	}, selectPending, tenantID, employeeIDs)
	if err != nil {
		return nil, fmt.Errorf("propagation: read pending: %w", err)
	}
	return pending, nil
}
