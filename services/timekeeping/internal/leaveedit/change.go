package leaveedit

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
)

// MaxOfCase is the maximum number of edits of one case.
const MaxOfCase = 10_000

const (
	raiseVersion = `UPDATE leave_edit_head SET version = nextval('leave_version') WHERE tenant_id = $1 AND employee_id = $2 RETURNING version`

	noteReport = `
INSERT INTO leave_report (tenant_id, employee_id, version) VALUES ($1, $2, $3)
ON CONFLICT (tenant_id, employee_id) DO UPDATE SET version = excluded.version, changed_at = clock_timestamp()`
)

// begin locks an employee before a change of their leave, assigns a new version, and records that
// scheduling must receive it. Versions come from a sequence. A restore of the database raises the
// sequence, so versions are never reused.
func begin(ctx context.Context, tx pgx.Tx, employeeID int64) (version int64, err error) {
	tenantID := tenant.Of(ctx)
	if _, err := lockHeads(ctx, tx, []int64{employeeID}); err != nil {
		return 0, err
	}
	if err := tx.QueryRow(ctx, raiseVersion, tenantID, employeeID).Scan(&version); err != nil {
		return 0, fmt.Errorf("raise the version of leave edits: %w", err)
	}
	if _, err := tx.Exec(ctx, noteReport, tenantID, employeeID, version); err != nil {
		return 0, fmt.Errorf("note that leave edits changed: %w", err)
	}
	return version, nil
}

// storeRows stores rows of a case, which the caller has locked.
func storeRows(ctx context.Context, tx pgx.Tx, c *leavecase.Case, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	version, err := begin(ctx, tx, c.EmployeeID)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].version = version
	}
	return write(ctx, tx, rows)
}

// remove deletes edits of a case, which the caller has locked.
func remove(ctx context.Context, tx pgx.Tx, c *leavecase.Case, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	first, err := firstDay(ctx, tx, ids)
	if err != nil || first == nil {
		return err
	}
	if err := leaveday.RefuseSigned(ctx, tx, leaveday.Change{EmployeeID: c.EmployeeID, First: *first}); err != nil {
		return err
	}
	if _, err := begin(ctx, tx, c.EmployeeID); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM leave_edit WHERE tenant_id = $1 AND id = ANY($2)`, tenant.Of(ctx), ids); err != nil {
		return fmt.Errorf("delete leave edits: %w", err)
	}
	return nil
}

// OfCases implements [leavecase.Edits].
type OfCases struct{}

var _ leavecase.Edits = OfCases{}

// Days returns the span of days that the edits of a case overlap; empty without edits.
func (OfCases) Days(ctx context.Context, db pg.Querier, caseID int64) (civil.Range, error) {
	var first, last *civil.Date
	err := db.QueryRow(ctx, `
SELECT min(from_day), max(to_day) FROM leave_edit WHERE tenant_id = $1 AND leave_case_id = $2`, tenant.Of(ctx), caseID).Scan(&first, &last)
	if err != nil {
		return civil.Range{}, fmt.Errorf("read the days of leave edits: %w", err)
	}
	if first == nil || last == nil {
		return civil.Range{}, nil
	}
	return civil.Range{From: *first, To: *last + 1}, nil
}

// Touch stores the edits of a case again, because scheduling shows some properties of the case.
func (OfCases) Touch(ctx context.Context, tx pgx.Tx, c *leavecase.Case) error {
	rows, err := ofCases(ctx, tx, []int64{c.ID}, MaxOfCase)
	if err != nil {
		return err
	}
	return storeRows(ctx, tx, c, rows)
}

// DeleteAll deletes the edits of cases.
func (o OfCases) DeleteAll(ctx context.Context, tx pgx.Tx, cases []*leavecase.Case) error {
	employees := make([]int64, len(cases))
	var changes []leaveday.Change
	for i, c := range cases {
		employees[i] = c.EmployeeID
		days, err := o.Days(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		if !days.Empty() {
			changes = append(changes, leaveday.Change{EmployeeID: c.EmployeeID, First: days.From})
		}
	}
	// Each call locks all employees at once and in order, to prevent deadlocks.
	if err := leaveday.RefuseSigned(ctx, tx, changes...); err != nil {
		return err
	}
	if _, err := lockHeads(ctx, tx, employees); err != nil {
		return err
	}
	for _, c := range cases {
		rows, err := ofCases(ctx, tx, []int64{c.ID}, MaxOfCase)
		if err != nil {
			return err
		}
		ids := make([]int64, len(rows))
		for i, r := range rows {
			ids[i] = r.id
		}
		if err := remove(ctx, tx, c, ids); err != nil {
			return err
		}
	}
	return nil
}
