package projection

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/feed"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/serial"
)

const (
	// Employees of whom nobody has heard are there with version 0, so that they
	// can be locked.
	insertLeaveHeads = `
INSERT INTO leave_edit_head (tenant_id, employee_id)
SELECT $1, id FROM unnest($2::bigint[]) AS id ON CONFLICT DO NOTHING`

	lockLeaveHeads = `
SELECT employee_id, version FROM leave_edit_head
WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id FOR UPDATE`

	updateLeaveHeads = `
UPDATE leave_edit_head h SET version = u.version
FROM unnest($2::bigint[], $3::bigint[]) AS u (employee_id, version)
WHERE h.tenant_id = $1 AND h.employee_id = u.employee_id`

	// Where leave was that is about to change.
	readLeaveDays = `
SELECT employee_id, min(from_day) - '1970-01-01'::date, max(to_day) - '1970-01-01'::date
FROM leave_edit WHERE tenant_id = $1 AND (id = ANY($2) OR employee_id = ANY($3)) GROUP BY employee_id`

	forgetLeaveEdits = `DELETE FROM leave_edit WHERE tenant_id = $1 AND employee_id = ANY($2)`

	deleteLeaveEdits = `DELETE FROM leave_edit WHERE tenant_id = $1 AND id = ANY($2)`

	upsertLeaveEdits = `
INSERT INTO leave_edit (tenant_id, id, employee_id, from_day, to_day, version, body)
SELECT $1, u.* FROM unnest($2::bigint[], $3::bigint[], $4::date[], $5::date[], $6::bigint[], $7::bytea[]) AS u
ON CONFLICT (tenant_id, id) DO UPDATE
SET employee_id = excluded.employee_id, from_day = excluded.from_day, to_day = excluded.to_day,
    version = excluded.version, body = excluded.body`
)

// LeaveSource answers all leave edits of employees; timekeeping is one.
type LeaveSource = timekeepingv1.LeaveEditServiceClient

// leaveEdits returns the handler that applies the steps in events. What was
// missed before a step is asked of timekeeping.
func leaveEdits(pool *pgxpool.Pool, wake func(), source LeaveSource) func(context.Context, []bus.Message) error {
	return func(ctx context.Context, messages []bus.Message) error {
		tenantID, err := tenantOf(ctx)
		if err != nil {
			return err
		}
		defer wake()
		var steps []*timekeepingv1.EmployeeLeaveEdits
		for _, m := range messages {
			event, err := bus.Decode[*timekeepingv1.LeaveEditsChanged](m)
			if err != nil {
				return err
			}
			steps = append(steps, event.GetEmployees()...)
		}
		behind, err := storeLeaveEdits(ctx, pool, tenantID, steps)
		if err != nil {
			return err
		}
		return fetchLeaveEdits(ctx, pool, source, tenantID, behind)
	}
}

// mostLeaveAsked is how many employees one call asks for, each of whom may have
// many leave edits.
const mostLeaveAsked = 20

// fetchLeaveEdits replaces what is known of employees by what timekeeping has.
func fetchLeaveEdits(ctx context.Context, pool *pgxpool.Pool, source LeaveSource, tenantID int64, employees []int64) error {
	for part := range slices.Chunk(employees, mostLeaveAsked) {
		answer, err := source.ListEmployeeLeaveEdits(ctx, &timekeepingv1.ListEmployeeLeaveEditsRequest{EmployeeIds: part})
		if err != nil {
			return fmt.Errorf("projection: ask for leave edits: %w", err)
		}
		if _, err := storeLeaveEdits(ctx, pool, tenantID, answer.GetEmployees()); err != nil {
			return err
		}
	}
	return nil
}

// storeLeaveEdits applies steps in one transaction, and returns the employees of
// whom one before a step is missing.
func storeLeaveEdits(ctx context.Context, pool *pgxpool.Pool, tenantID int64, steps []*timekeepingv1.EmployeeLeaveEdits) (behind []int64, err error) {
	err = pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		behind, err = applyLeaveEdits(ctx, tx, tenantID, steps)
		return err
	})
	return behind, err
}

func applyLeaveEdits(ctx context.Context, tx pgx.Tx, tenantID int64, steps []*timekeepingv1.EmployeeLeaveEdits) ([]int64, error) {
	steps = slices.SortedFunc(slices.Values(steps), func(a, b *timekeepingv1.EmployeeLeaveEdits) int {
		return cmp.Or(cmp.Compare(a.GetEmployeeId(), b.GetEmployeeId()), cmp.Compare(a.GetVersion(), b.GetVersion()))
	})
	ids := make([]int64, len(steps))
	for i, s := range steps {
		ids[i] = s.GetEmployeeId()
	}
	ids = slices.Compact(ids)
	known, err := lockLeave(ctx, tx, tenantID, ids)
	if err != nil {
		return nil, err
	}
	change := leaveChange{edits: map[int64]leaveRow{}}
	var behind []int64
	for _, s := range steps {
		id := s.GetEmployeeId()
		switch version := known[id]; {
		case s.GetVersion() <= version: // It is known already.
		case s.GetComplete() || s.GetVersion() == version+1:
			if err := change.add(s); err != nil {
				return nil, err
			}
			known[id] = s.GetVersion()
		case !slices.Contains(behind, id):
			behind = append(behind, id)
		}
	}
	return behind, change.write(ctx, tx, tenantID, ids, known)
}

func lockLeave(ctx context.Context, tx pgx.Tx, tenantID int64, ids []int64) (map[int64]int64, error) {
	known := make(map[int64]int64, len(ids))
	batch := &pgx.Batch{}
	// The history of an employee has one order, whatever changes.
	serial.Queue(batch, tenantID, ids)
	batch.Queue(insertLeaveHeads, tenantID, ids)
	batch.Queue(lockLeaveHeads, tenantID, ids).Query(func(rows pgx.Rows) error {
		var id, version int64
		_, err := pgx.ForEachRow(rows, []any{&id, &version}, func() error {
			known[id] = version
			return nil
		})
		return err
	})
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("projection: lock leave edits: %w", err)
	}
	return known, nil
}

// leaveChange is what several steps amount to.
type leaveChange struct {
	forget []int64 // employees
	delete []int64
	edits  map[int64]leaveRow // by id

	changed  []int64 // employees
	from, to civil.Date
}

// add adds the next step of an employee.
func (c *leaveChange) add(s *timekeepingv1.EmployeeLeaveEdits) error {
	if s.GetComplete() {
		c.forget = append(c.forget, s.GetEmployeeId())
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

func (c *leaveChange) write(ctx context.Context, tx pgx.Tx, tenantID int64, employees []int64, versions map[int64]int64) error {
	newVersions := make([]int64, len(employees))
	for i, id := range employees {
		newVersions[i] = versions[id]
	}
	var ids, owners, editVersions []int64
	var first, last []time.Time
	var bodies [][]byte
	for _, row := range c.edits {
		ids, owners, editVersions = append(ids, row.id), append(owners, row.employeeID), append(editVersions, row.version)
		c.note(row.employeeID, row.first, row.last)
		first, last, bodies = append(first, row.first.Time()), append(last, row.last.Time()), append(bodies, row.body)
	}
	batch := &pgx.Batch{}
	batch.Queue(readLeaveDays, tenantID, slices.Concat(ids, c.delete), c.forget).Query(func(rows pgx.Rows) error {
		var id int64
		var from, to civil.Date
		_, err := pgx.ForEachRow(rows, []any{&id, (*int32)(&from), (*int32)(&to)}, func() error {
			c.note(id, from, to)
			return nil
		})
		return err
	})
	batch.Queue(forgetLeaveEdits, tenantID, c.forget)
	batch.Queue(deleteLeaveEdits, tenantID, c.delete)
	batch.Queue(upsertLeaveEdits, tenantID, ids, owners, first, last, editVersions, bodies)
	batch.Queue(updateLeaveHeads, tenantID, employees, newVersions)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store leave edits: %w", err)
	}
	if len(c.changed) == 0 {
		return nil
	}
	slices.Sort(c.changed)
	if err := feed.PublishLeave(ctx, tx, tenantID, slices.Compact(slices.Clone(c.changed))); err != nil {
		return err
	}
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
