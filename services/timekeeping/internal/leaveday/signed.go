package leaveday

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// CodeSignedOff (400): the timecard of a day is signed off, so leave of the day cannot change.
// Remove the sign-off, change the leave, and sign off again.
const CodeSignedOff = "WRL-21103"

// Change is a change of leave of an employee, with the first day that it affects.
type Change struct {
	EmployeeID int64
	First      civil.Date
}

// RefuseSigned returns an error for changes of leave on days with signed-off timecards, because the
// timecard would neither show nor pay them. Until the transaction ends, it blocks other changes of
// leave and sign-offs of these employees.
func RefuseSigned(ctx context.Context, tx pgx.Tx, changes ...Change) error {
	ids, first := make([]int64, len(changes)), make(map[int64]civil.Date, len(changes))
	for i, c := range changes {
		ids[i] = c.EmployeeID
		if day, ok := first[c.EmployeeID]; !ok || c.First < day {
			first[c.EmployeeID] = c.First
		}
	}
	if err := lock.WaitEach(ctx, tx, ids); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `SELECT employee_id, max(through) FROM timecard_signoff
		WHERE tenant_id = $1 AND employee_id = ANY($2) GROUP BY employee_id ORDER BY employee_id`, tenant.Of(ctx), ids)
	if err != nil {
		return fmt.Errorf("read sign-offs: %w", err)
	}
	var refused error
	var id int64
	var through civil.Date
	if _, err := pgx.ForEachRow(rows, []any{&id, &through}, func() error {
		if day := first[id]; day <= through && refused == nil {
			refused = fault.Invalid(CodeSignedOff, fmt.Sprintf(
				"The timecard of employee %d is signed off through %s, and the leave begins on %s. Remove the sign-off, change the leave, and sign off again.", id, through, day))
		}
		return nil
	}); err != nil {
		return fmt.Errorf("read sign-offs: %w", err)
	}
	return refused
}
