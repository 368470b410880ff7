package daylock

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

const (
	readAllLocks = `
SELECT id, employee_id, from_date, to_date FROM day_lock WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id, from_date`

	// The ranges of days that were locked together and have stored leave.
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

// Unlock removes days of employees from their locks. The transaction must hold the locks of the
// employees' schedules. It returns the days that were locked, by employee and day. Call Propagate
// to update the schedules.
func Unlock(ctx context.Context, tx pgx.Tx, list []EmployeeDays) ([]EmployeeDays, error) {
	tenantID := tenant.Of(ctx)
	removed := map[int64][]civil.Range{}
	for _, e := range list {
		removed[e.EmployeeID] = append(removed[e.EmployeeID], e.Days)
	}
	ids := make([]int64, 0, len(removed))
	for id := range removed {
		removed[id] = civil.Normalise(removed[id])
		ids = append(ids, id)
	}
	slices.Sort(ids)
	locks, err := readRows(ctx, tx, readAllLocks, ids, func(l *lock) []any { return []any{&l.id, &l.employeeID, &l.days.From, &l.days.To} })
	if err != nil {
		return nil, err
	}
	unlocked, batch := shortenLocks(tenantID, locks, removed)
	if len(unlocked) == 0 {
		return nil, nil
	}
	frozen, err := readRows(ctx, tx, readLockedLeave, ids, func(l *lock) []any { return []any{&l.employeeID, &l.days.From, &l.days.To} })
	if err != nil {
		return nil, err
	}
	queueLeaveShortening(batch, tenantID, frozen, removed)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("daylock: unlock: %w", err)
	}
	return unlocked, publishUnlocked(ctx, tx, unlocked, frozen)
}

// readRows reads locks, or rows with the same columns.
func readRows(ctx context.Context, tx pgx.Tx, sql string, employees []int64, into func(*lock) []any) ([]lock, error) {
	var found []lock
	var l lock
	err := pg.ForEach(ctx, tx, into(&l), func() error {
		found = append(found, l)
		return nil
	}, sql, tenant.Of(ctx), employees)
	if err != nil {
		return nil, fmt.Errorf("daylock: read: %w", err)
	}
	return found, nil
}

// shortenLocks removes days from locks. It returns the unlocked days, and the statements that store
// the change. The first remaining part of a lock keeps its id.
func shortenLocks(tenantID int64, locks []lock, removed map[int64][]civil.Range) ([]EmployeeDays, *pgx.Batch) {
	var unlocked []EmployeeDays
	var shortened, created table
	var dropped []int64
	for _, l := range locks {
		remaining := civil.AppendDifference(nil, []civil.Range{l.days}, removed[l.employeeID])
		opened := civil.AppendDifference(nil, []civil.Range{l.days}, remaining)
		for _, days := range opened {
			unlocked = append(unlocked, EmployeeDays{l.employeeID, days})
		}
		switch {
		case len(opened) == 0:
			continue
		case len(remaining) == 0:
			dropped = append(dropped, l.id)
			continue
		}
		shortened.add(l.id, remaining[0])
		for _, days := range remaining[1:] {
			created.add(l.employeeID, days)
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteLocks, tenantID, dropped)
	batch.Queue(widenLocks, tenantID, shortened.keys, shortened.from, shortened.to)
	batch.Queue(insertLocks, tenantID, created.keys, created.from, created.to)
	return unlocked, batch
}

// queueLeaveShortening removes days from the stored leave of locked days.
func queueLeaveShortening(batch *pgx.Batch, tenantID int64, frozen []lock, removed map[int64][]civil.Range) {
	var copied, shortened, dropped table
	var copiedFrom []civil.Date
	for _, k := range frozen {
		remaining := civil.AppendDifference(nil, []civil.Range{k.days}, removed[k.employeeID])
		if len(remaining) == 1 && remaining[0] == k.days {
			continue
		}
		stays := false
		for _, days := range remaining {
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

// publishUnlocked publishes the changed schedules of unlocked days, and the leave, because current
// leave applies to these days again.
func publishUnlocked(ctx context.Context, tx pgx.Tx, unlocked []EmployeeDays, frozen []lock) error {
	var employees []int64
	all := unlocked[0].Days
	for _, u := range unlocked {
		employees = append(employees, u.EmployeeID)
		all = civil.Range{From: min(all.From, u.Days.From), To: max(all.To, u.Days.To)}
	}
	employees = slices.Compact(employees) // ordered by employee
	affected, err := pg.Collect(ctx, tx, pgx.RowTo[int64], readOnLeave, tenant.Of(ctx), employees)
	if err != nil {
		return fmt.Errorf("daylock: read leave: %w", err)
	}
	for _, k := range frozen {
		affected = append(affected, k.employeeID) // The leave itself may have been deleted.
	}
	if err := scheduleevent.PublishLeave(ctx, tx, affected); err != nil {
		return err
	}
	return outbox.Append(ctx, tx, &schedulingv1.ScheduleChanged{
		EmployeeIds: employees, From: all.From.String(), To: all.To.AddDays(-1).String(),
	})
}

// Propagate starts the propagation that updates the schedules of unlocked days. It returns its id,
// or 0 if there are no unlocked days.
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
