package leaveedit

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

// How many edits, and deleted ids, one step holds: an event has bounds.
const (
	editsInStep = 100
	idsInStep   = 5000
)

// MaxOfCase bounds the edits of one case.
const MaxOfCase = 10_000

// changes are what happens to the edits of one employee in a transaction, who
// is locked.
type changes struct {
	employeeID, version int64
	events              []proto.Message
}

// step begins the next step of the employee's history.
func (c *changes) step() *timekeepingv1.EmployeeLeaveEdits {
	c.version++
	step := &timekeepingv1.EmployeeLeaveEdits{EmployeeId: c.employeeID, Version: c.version}
	c.events = append(c.events, &timekeepingv1.LeaveEditsChanged{Employees: []*timekeepingv1.EmployeeLeaveEdits{step}})
	return step
}

// written publishes the rows of a case as they are now, and gives them their
// versions.
func (c *changes) written(rows []row, of *leavecase.Case) {
	for first := 0; first < len(rows); first += editsInStep {
		step := c.step()
		for i := first; i < min(first+editsInStep, len(rows)); i++ {
			rows[i].version = c.version
			step.Edits = append(step.Edits, rows[i].state(of))
		}
	}
}

// deleted publishes that edits are no more.
func (c *changes) deleted(ids []int64) {
	for part := range slices.Chunk(ids, idsInStep) {
		c.step().DeletedIds = part
	}
}

// finish stores the employee's version and the events, whose order is that of
// the steps.
func (c *changes) finish(ctx context.Context, tx pgx.Tx, tenantID int64) error {
	_, err := tx.Exec(ctx, `UPDATE leave_edit_head SET version = $3 WHERE tenant_id = $1 AND employee_id = $2`,
		tenantID, c.employeeID, c.version)
	if err != nil {
		return fmt.Errorf("store the version of leave edits: %w", err)
	}
	return outbox.Append(ctx, tx, tenantID, c.events...)
}

// begin locks an employee.
func begin(ctx context.Context, tx pgx.Tx, tenantID, employeeID int64) (*changes, error) {
	versions, err := lockHeads(ctx, tx, tenantID, []int64{employeeID})
	if err != nil {
		return nil, err
	}
	return &changes{employeeID: employeeID, version: versions[employeeID]}, nil
}

// put stores rows of a case, which is locked, and publishes them.
func put(ctx context.Context, tx pgx.Tx, tenantID int64, c *leavecase.Case, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	changed, err := begin(ctx, tx, tenantID, c.EmployeeID)
	if err != nil {
		return err
	}
	changed.written(rows, c)
	if err := write(ctx, tx, tenantID, rows); err != nil {
		return err
	}
	return changed.finish(ctx, tx, tenantID)
}

// remove deletes edits of a case, which is locked, and publishes it.
func remove(ctx context.Context, tx pgx.Tx, tenantID int64, c *leavecase.Case, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	changed, err := begin(ctx, tx, tenantID, c.EmployeeID)
	if err != nil {
		return err
	}
	changed.deleted(ids)
	if _, err := tx.Exec(ctx, `DELETE FROM leave_edit WHERE tenant_id = $1 AND id = ANY($2)`, tenantID, ids); err != nil {
		return fmt.Errorf("delete leave edits: %w", err)
	}
	return changed.finish(ctx, tx, tenantID)
}

// OfCases are the edits as their cases see them; see [leavecase.Edits].
type OfCases struct{}

var _ leavecase.Edits = OfCases{}

// Days returns those that the edits of a case touch, empty without edits.
func (OfCases) Days(ctx context.Context, db pg.Querier, tenantID, caseID int64) (civil.Range, error) {
	var first, last *civil.Date
	err := db.QueryRow(ctx, `
SELECT min(from_day), max(to_day) FROM leave_edit WHERE tenant_id = $1 AND leave_case_id = $2`, tenantID, caseID).Scan(&first, &last)
	if err != nil {
		return civil.Range{}, fmt.Errorf("read the days of leave edits: %w", err)
	}
	if first == nil || last == nil {
		return civil.Range{}, nil
	}
	return civil.Range{From: *first, To: *last + 1}, nil
}

// PublishEdits publishes the edits of a case again.
func (OfCases) PublishEdits(ctx context.Context, tx pgx.Tx, tenantID int64, c *leavecase.Case) error {
	rows, err := ofCases(ctx, tx, tenantID, []int64{c.ID}, MaxOfCase)
	if err != nil {
		return err
	}
	return put(ctx, tx, tenantID, c, rows)
}

// DeleteAll deletes the edits of cases.
func (OfCases) DeleteAll(ctx context.Context, tx pgx.Tx, tenantID int64, cases []*leavecase.Case) error {
	employees := make([]int64, len(cases))
	for i, c := range cases {
		employees[i] = c.EmployeeID
	}
	// All at once and in order, so that nobody waits for each other in a circle.
	if _, err := lockHeads(ctx, tx, tenantID, employees); err != nil {
		return err
	}
	for _, c := range cases {
		rows, err := ofCases(ctx, tx, tenantID, []int64{c.ID}, MaxOfCase)
		if err != nil {
			return err
		}
		ids := make([]int64, len(rows))
		for i, r := range rows {
			ids[i] = r.id
		}
		if err := remove(ctx, tx, tenantID, c, ids); err != nil {
			return err
		}
	}
	return nil
}
