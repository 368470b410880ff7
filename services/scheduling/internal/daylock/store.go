package daylock

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

const (
	// The bounds are one day wider on both sides, because locks that touch are merged.
	readLocks = `
SELECT id, employee_id, from_date, to_date
FROM day_lock WHERE tenant_id = $1 AND employee_id = ANY($2) AND from_date <= $4 AND to_date >= $3`

	insertLocks = `
INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date)
SELECT $1, u.employee_id, u.from_date, u.to_date
FROM unnest($2::bigint[], $3::date[], $4::date[]) AS u (employee_id, from_date, to_date)
RETURNING employee_id, id`

	widenLocks = `
UPDATE day_lock l SET from_date = u.from_date, to_date = u.to_date
FROM unnest($2::bigint[], $3::date[], $4::date[]) AS u (id, from_date, to_date)
WHERE l.tenant_id = $1 AND l.id = u.id`

	// Leave on the days after the lock can cover the end of a shift that reaches into them.
	insertLockedLeave = `
INSERT INTO locked_leave (tenant_id, employee_id, lock_from, lock_to, id, from_day, to_day, version, body)
SELECT $1, u.employee_id, u.from_date, u.to_date, l.id, l.from_day, l.to_day, l.version, l.body
FROM unnest($2::bigint[], $3::date[], $4::date[]) AS u (employee_id, from_date, to_date)
JOIN leave_edit l ON l.tenant_id = $1 AND l.employee_id = u.employee_id AND l.to_day >= u.from_date AND l.from_day < u.to_date + $5::int
RETURNING employee_id`

	readOnLeave = `SELECT DISTINCT employee_id FROM leave_edit WHERE tenant_id = $1 AND employee_id = ANY($2)`

	deleteLocks = `DELETE FROM day_lock WHERE tenant_id = $1 AND id = ANY($2)`
)

// overlapping returns the locks of employees that overlap or touch the days, by employee.
func overlapping(ctx context.Context, tx pgx.Tx, employees []int64, days civil.Range) (map[int64][]lock, error) {
	found := map[int64][]lock{}
	var l lock
	err := pg.ForEach(ctx, tx, []any{&l.id, &l.employeeID, &l.days.From, &l.days.To}, func() error {
		found[l.employeeID] = append(found[l.employeeID], l)
		return nil
	}, readLocks, tenant.Of(ctx), employees, days.From, days.To)
	if err != nil {
		return nil, fmt.Errorf("daylock: read: %w", err)
	}
	return found, nil
}

// storePlans stores the plans, and sets the ids of new locks.
func storePlans(ctx context.Context, tx pgx.Tx, plans []plan) error {
	tenantID := tenant.Of(ctx)
	var created, widened table
	var dropped []int64
	byEmployee := map[int64]*plan{}
	for i := range plans {
		p := &plans[i]
		switch {
		case p.keep.id == 0:
			created.add(p.keep.employeeID, p.keep.days)
			byEmployee[p.keep.employeeID] = p
		case p.wider:
			widened.add(p.keep.id, p.keep.days)
		}
		dropped = append(dropped, p.drop...)
	}
	batch := &pgx.Batch{}
	if len(dropped) > 0 {
		batch.Queue(deleteLocks, tenantID, dropped)
	}
	if len(widened.keys) > 0 {
		batch.Queue(widenLocks, tenantID, widened.keys, widened.from, widened.to)
	}
	if len(created.keys) > 0 {
		batch.Queue(insertLocks, tenantID, created.keys, created.from, created.to).Query(func(rows pgx.Rows) error {
			var employeeID, id int64
			_, err := pgx.ForEachRow(rows, []any{&employeeID, &id}, func() error {
				byEmployee[employeeID].keep.id = id
				return nil
			})
			return err
		})
	}
	if batch.Len() == 0 {
		return nil
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("daylock: store: %w", err)
	}
	return nil
}

// freeze stores the leave of newly locked days, and publishes the leave, so that copies no longer
// apply later changes of leave to these days.
func freeze(ctx context.Context, tx pgx.Tx, employees []int64, days civil.Range, existing map[int64][]lock) error {
	tenantID := tenant.Of(ctx)
	var opened table
	for _, id := range employees {
		var locked []civil.Range
		for _, l := range existing[id] {
			locked = append(locked, l.days)
		}
		for _, open := range civil.AppendDifference(nil, []civil.Range{days}, civil.Normalise(locked)) {
			opened.add(id, open)
		}
	}
	if len(opened.keys) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, insertLockedLeave, tenantID, opened.keys, opened.from, opened.to, window.Lookback); err != nil {
		return fmt.Errorf("daylock: keep leave: %w", err)
	}
	affected, err := pg.Collect(ctx, tx, pgx.RowTo[int64], readOnLeave, tenantID, opened.keys)
	if err != nil {
		return fmt.Errorf("daylock: read leave: %w", err)
	}
	return scheduleevent.PublishLeave(ctx, tx, affected)
}

// table is a list of keys with days, as columns for statements.
type table struct {
	keys     []int64
	from, to []civil.Date
}

func (t *table) add(key int64, days civil.Range) {
	t.keys = append(t.keys, key)
	t.from, t.to = append(t.from, days.From), append(t.to, days.To)
}
