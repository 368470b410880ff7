package daylock

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

const (
	// The bounds are one day wider on both sides: locks that touch are one.
	readLocks = `
SELECT id, employee_id, from_date - '1970-01-01'::date, to_date - '1970-01-01'::date
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

	deleteLocks = `DELETE FROM day_lock WHERE tenant_id = $1 AND id = ANY($2)`
)

// meeting returns the locks of employees that meet or touch the days, by
// employee.
func meeting(ctx context.Context, tx pgx.Tx, tenantID int64, employees []int64, days civil.Range) (map[int64][]lock, error) {
	rows, err := tx.Query(ctx, readLocks, tenantID, employees, days.From.Time(), days.To.Time())
	if err != nil {
		return nil, fmt.Errorf("daylock: read: %w", err)
	}
	found := map[int64][]lock{}
	var l lock
	_, err = pgx.ForEachRow(rows, []any{&l.id, &l.employeeID, (*int32)(&l.days.From), (*int32)(&l.days.To)}, func() error {
		found[l.employeeID] = append(found[l.employeeID], l)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("daylock: read: %w", err)
	}
	return found, nil
}

// carryOut stores the plans, and gives new locks their ids.
func carryOut(ctx context.Context, tx pgx.Tx, tenantID int64, plans []plan) error {
	var made, widened table
	var dropped []int64
	byEmployee := map[int64]*plan{}
	for i := range plans {
		p := &plans[i]
		switch {
		case p.keep.id == 0:
			made.add(p.keep.employeeID, p.keep.days)
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
	if len(made.keys) > 0 {
		batch.Queue(insertLocks, tenantID, made.keys, made.from, made.to).Query(func(rows pgx.Rows) error {
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

// table is a list of keys with days, as statements take it.
type table struct {
	keys     []int64
	from, to []time.Time
}

func (t *table) add(key int64, days civil.Range) {
	t.keys = append(t.keys, key)
	t.from, t.to = append(t.from, days.From.Time()), append(t.to, days.To.Time())
}
