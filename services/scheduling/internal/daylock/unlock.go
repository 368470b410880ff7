package daylock

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

const (
	readAllLocks = `
SELECT id, employee_id, from_date, to_date FROM day_lock WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id, from_date`

	// The days that were locked at once, of which leave was kept.
	readLockedLeave = `
SELECT DISTINCT employee_id, lock_from, lock_to FROM locked_leave WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY 1, 2`

	copyLockedLeave = `
INSERT INTO locked_leave (tenant_id, employee_id, lock_from, lock_to, id, from_day, to_day, version, body)
SELECT $1, k.employee_id, u.from_date, u.to_date, k.id, k.from_day, k.to_day, k.version, k.body
FROM unnest($2::bigint[], $3::date[], $4::date[], $5::date[]) AS u (employee_id, lock_from, from_date, to_date)
JOIN locked_leave k ON k.tenant_id = $1 AND k.employee_id = u.employee_id AND k.lock_from = u.lock_from`

	shortenLockedLeave = `
UPDATE locked_leave k SET lock_to = u.to_date
FROM unnest($2::bigint[], $3::date[], $4::date[]) AS u (employee_id, lock_from, to_date)
WHERE k.tenant_id = $1 AND k.employee_id = u.employee_id AND k.lock_from = u.lock_from`

	deleteLockedLeave = `
DELETE FROM locked_leave k USING unnest($2::bigint[], $3::date[]) AS u (employee_id, lock_from)
WHERE k.tenant_id = $1 AND k.employee_id = u.employee_id AND k.lock_from = u.lock_from`
)

// EmployeeDays are days of an employee.
type EmployeeDays struct {
	EmployeeID int64
	Days       civil.Range
}

// Unlock takes days of employees, whose schedules the transaction has locked, from their locks. It
// returns the days that were locked, by employee and day. Propagate brings their schedules up to
// date.
func Unlock(ctx context.Context, tx pgx.Tx, tenantID int64, list []EmployeeDays) ([]EmployeeDays, error) {
	gone := map[int64][]civil.Range{}
	for _, e := range list {
		gone[e.EmployeeID] = append(gone[e.EmployeeID], e.Days)
	}
	ids := make([]int64, 0, len(gone))
	for id := range gone {
		gone[id] = civil.Normalise(gone[id])
		ids = append(ids, id)
	}
	slices.Sort(ids)
	locks, err := readRows(ctx, tx, readAllLocks, tenantID, ids, func(l *lock) []any { return []any{&l.id, &l.employeeID, &l.days.From, &l.days.To} })
	if err != nil {
		return nil, err
	}
	unlocked, batch := shortenLocks(tenantID, locks, gone)
	if len(unlocked) == 0 {
		return nil, nil
	}
	kept, err := readRows(ctx, tx, readLockedLeave, tenantID, ids, func(l *lock) []any { return []any{&l.employeeID, &l.days.From, &l.days.To} })
	if err != nil {
		return nil, err
	}
	queueLeaveShortening(batch, tenantID, kept, gone)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("daylock: unlock: %w", err)
	}
	return unlocked, publishUnlocked(ctx, tx, tenantID, unlocked, kept)
}

// readRows reads locks, or what is like one.
func readRows(ctx context.Context, tx pgx.Tx, sql string, tenantID int64, employees []int64, into func(*lock) []any) ([]lock, error) {
	var found []lock
	var l lock
	err := pg.ForEach(ctx, tx, into(&l), func() error {
		found = append(found, l)
		return nil
	}, sql, tenantID, employees)
	if err != nil {
		return nil, fmt.Errorf("daylock: read: %w", err)
	}
	return found, nil
}

// shortenLocks takes days from locks: it returns the days that are locked no more, and the statements
// that do it. What is left of a lock first keeps its id.
func shortenLocks(tenantID int64, locks []lock, gone map[int64][]civil.Range) ([]EmployeeDays, *pgx.Batch) {
	var unlocked []EmployeeDays
	var shortened, made table
	var dropped []int64
	for _, l := range locks {
		left := civil.AppendDifference(nil, []civil.Range{l.days}, gone[l.employeeID])
		taken := civil.AppendDifference(nil, []civil.Range{l.days}, left)
		for _, days := range taken {
			unlocked = append(unlocked, EmployeeDays{l.employeeID, days})
		}
		switch {
		case len(taken) == 0:
			continue
		case len(left) == 0:
			dropped = append(dropped, l.id)
			continue
		}
		shortened.add(l.id, left[0])
		for _, days := range left[1:] {
			made.add(l.employeeID, days)
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteLocks, tenantID, dropped)
	batch.Queue(widenLocks, tenantID, shortened.keys, shortened.from, shortened.to)
	batch.Queue(insertLocks, tenantID, made.keys, made.from, made.to)
	return unlocked, batch
}

// queueLeaveShortening takes days from the leave that was kept of them.
func queueLeaveShortening(batch *pgx.Batch, tenantID int64, kept []lock, gone map[int64][]civil.Range) {
	var copied, shortened, dropped table
	var copiedFrom []civil.Date
	for _, k := range kept {
		left := civil.AppendDifference(nil, []civil.Range{k.days}, gone[k.employeeID])
		if len(left) == 1 && left[0] == k.days {
			continue
		}
		stays := false
		for _, days := range left {
			if days.From == k.days.From {
				stays = true
				shortened.add(k.employeeID, days)
				continue
			}
			copied.add(k.employeeID, days)
			copiedFrom = append(copiedFrom, k.days.From)
		}
		if !stays {
			dropped.add(k.employeeID, k.days)
		}
	}
	batch.Queue(copyLockedLeave, tenantID, copied.keys, copiedFrom, copied.from, copied.to)
	batch.Queue(shortenLockedLeave, tenantID, shortened.keys, shortened.from, shortened.to)
	batch.Queue(deleteLockedLeave, tenantID, dropped.keys, dropped.from)
}

// publishUnlocked publishes whose days are no longer locked: patterns and terms reach them again, and
// leave takes what it takes now.
func publishUnlocked(ctx context.Context, tx pgx.Tx, tenantID int64, unlocked []EmployeeDays, kept []lock) error {
	var employees []int64
	all := unlocked[0].Days
	for _, u := range unlocked {
		employees = append(employees, u.EmployeeID)
		all = civil.Range{From: min(all.From, u.Days.From), To: max(all.To, u.Days.To)}
	}
	employees = slices.Compact(employees) // They come by employee.
	concerned, err := pg.Collect(ctx, tx, pgx.RowTo[int64], onLeave, tenantID, employees)
	if err != nil {
		return fmt.Errorf("daylock: read leave: %w", err)
	}
	for _, k := range kept {
		concerned = append(concerned, k.employeeID) // The leave itself may be gone.
	}
	if err := scheduleevent.PublishLeave(ctx, tx, tenantID, concerned); err != nil {
		return err
	}
	return outbox.Append(ctx, tx, tenantID, &schedulingv1.ScheduleChanged{
		EmployeeIds: employees, From: all.From.String(), To: all.To.AddDays(-1).String(),
	})
}

// Propagate starts the propagation that brings the schedules of employees up to date whose days
// were unlocked. It returns its id; 0 when there are none.
func Propagate(ctx context.Context, tx pgx.Tx, unlocked []EmployeeDays) (int64, error) {
	if len(unlocked) == 0 {
		return 0, nil
	}
	employees := make([]int64, len(unlocked))
	for i, u := range unlocked {
		employees[i] = u.EmployeeID
	}
	slices.Sort(employees)
	return propagation.Start(ctx, tx, propagation.Request{Cause: propagation.CauseUnlocking, EmployeeIDs: slices.Compact(employees)})
}
