package projection

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

const (
	// Where leave was that is about to change.
	readLeaveDays = `
SELECT employee_id, min(from_day), max(to_day)
FROM leave_edit WHERE tenant_id = $1 AND (id = ANY($2) OR employee_id = ANY($3)) GROUP BY employee_id`

	deleteLeaveEditsOfEmployees = `DELETE FROM leave_edit WHERE tenant_id = $1 AND employee_id = ANY($2)`

	deleteLeaveEdits = `DELETE FROM leave_edit WHERE tenant_id = $1 AND id = ANY($2)`

	upsertLeaveEdits = `
INSERT INTO leave_edit (tenant_id, id, employee_id, from_day, to_day, version, body)
SELECT $1, u.* FROM unnest($2::bigint[], $3::bigint[], $4::date[], $5::date[], $6::bigint[], $7::bytea[]) AS u
ON CONFLICT (tenant_id, id) DO UPDATE
SET employee_id = excluded.employee_id, from_day = excluded.from_day, to_day = excluded.to_day,
    version = excluded.version, body = excluded.body`
)

// applyLeaveEdits applies steps in the history of employees' leave.
func applyLeaveEdits(ctx context.Context, tx pgx.Tx, tenantID int64, steps []leaveStepChange) error {
	change := leaveChange{edits: map[int64]leaveRow{}}
	for _, s := range steps {
		if err := change.add(s.State); err != nil {
			return err
		}
	}
	return change.write(ctx, tx, tenantID)
}

// leaveChange is what several steps amount to.
type leaveChange struct {
	employees       []int64 // ascending
	deleteEmployees []int64 // employees
	delete          []int64
	edits           map[int64]leaveRow // by id

	changed  []int64 // employees
	from, to civil.Date
}

// add adds the next step of an employee.
func (c *leaveChange) add(s *timekeepingv1.EmployeeLeaveEdits) error {
	c.employees = append(c.employees, s.GetEmployeeId())
	if s.GetComplete() {
		c.deleteEmployees = append(c.deleteEmployees, s.GetEmployeeId())
		for id, row := range c.edits {
			if row.employeeID == s.GetEmployeeId() {
				delete(c.edits, id)
			}
		}
	}
	for _, id := range s.GetDeletedIds() {
		c.delete = append(c.delete, id)
		delete(c.edits, id)
	}
	for _, state := range s.GetEdits() {
		row, err := newLeaveRow(s.GetEmployeeId(), state)
		if err != nil {
			// No repetition mends it.
			return bus.Permanent(fmt.Errorf("projection: leave edit %d: %w", state.GetId(), err))
		}
		c.edits[row.id] = row
	}
	return nil
}

func (c *leaveChange) write(ctx context.Context, tx pgx.Tx, tenantID int64) error {
	var ids, owners, editVersions []int64
	var first, last []civil.Date
	var bodies [][]byte
	for _, row := range c.edits {
		ids, owners, editVersions = append(ids, row.id), append(owners, row.employeeID), append(editVersions, row.version)
		c.note(row.employeeID, row.first, row.last)
		first, last, bodies = append(first, row.first), append(last, row.last), append(bodies, row.body)
	}
	batch := &pgx.Batch{}
	batch.Queue(readLeaveDays, tenantID, slices.Concat(ids, c.delete), c.deleteEmployees).Query(func(rows pgx.Rows) error {
		var id int64
		var from, to civil.Date
		_, err := pgx.ForEachRow(rows, []any{&id, &from, &to}, func() error {
			c.note(id, from, to)
			return nil
		})
		return err
	})
	batch.Queue(deleteLeaveEditsOfEmployees, tenantID, c.deleteEmployees)
	batch.Queue(deleteLeaveEdits, tenantID, c.delete)
	batch.Queue(upsertLeaveEdits, tenantID, ids, owners, first, last, editVersions, bodies)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store leave edits: %w", err)
	}
	// Also of those of whom nothing has changed but the version.
	if err := scheduleevent.PublishLeave(ctx, tx, tenantID, slices.Compact(c.employees)); err != nil {
		return err
	}
	if len(c.changed) == 0 {
		return nil
	}
	slices.Sort(c.changed)
	return outbox.Append(ctx, tx, tenantID, &schedulingv1.ScheduleChanged{
		EmployeeIds: slices.Compact(c.changed), From: c.from.String(), To: c.to.String(),
	})
}

// note notes the days, the last one included, on which leave changes.
func (c *leaveChange) note(employeeID int64, from, to civil.Date) {
	if len(c.changed) == 0 {
		c.from, c.to = from, to
	}
	c.changed = append(c.changed, employeeID)
	c.from, c.to = min(c.from, from), max(c.to, to)
}
