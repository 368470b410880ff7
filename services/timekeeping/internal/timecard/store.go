package timecard

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

const (
	makeHeads = `
INSERT INTO timecard_head (tenant_id, employee_id) SELECT $1, unnest($2::bigint[]) ON CONFLICT DO NOTHING`

	lockHeads = `
SELECT employee_id FROM timecard_head WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id FOR UPDATE`

	insertPunches = `
INSERT INTO punch (tenant_id, employee_id, at, time_zone, direction, is_transfer, job, work_rule_id, work_rule, no_deduction, body)
SELECT $1, q.* FROM unnest($2::bigint[], $3::timestamptz[], $4::text[], $5::smallint[], $6::boolean[], $7::text[], $8::bigint[], $9::text[], $10::boolean[], $11::bytea[]) AS q
ON CONFLICT ON CONSTRAINT punch_once DO NOTHING`

	readStored = `
SELECT q.n, p.id, p.direction, p.no_deduction, p.time_zone, p.body, p.created_at, p.updated_at
FROM unnest($2::bigint[], $3::timestamptz[]) WITH ORDINALITY AS q (employee_id, at, n)
JOIN punch p ON p.tenant_id = $1 AND p.employee_id = q.employee_id AND p.at = q.at`
)

// lock locks the timecards of employees, each listed once, for changes.
func lock(ctx context.Context, tx pgx.Tx, tenantID int64, ids []int64) error {
	if _, err := tx.Exec(ctx, makeHeads, tenantID, ids); err != nil {
		return fmt.Errorf("lock timecards: %w", err)
	}
	if _, err := tx.Exec(ctx, lockHeads, tenantID, ids); err != nil {
		return fmt.Errorf("lock timecards: %w", err)
	}
	return nil
}

// inLock runs a change in a transaction in which the timecards of employees are locked.
func (r *Reader) inLock(ctx context.Context, tenantID int64, ids []int64, fn func(context.Context, pgx.Tx) error) error {
	return pg.InTx(ctx, r.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lock(ctx, tx, tenantID, ids); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

// store stores punches.
func (r *Reader) store(ctx context.Context, tenantID int64, rows []*punchRow) error {
	days := changedDays{}
	for _, row := range rows {
		days.add(row.employee.ID, row.Local(row.At).Date)
	}
	return r.change(ctx, tenantID, days, func(ctx context.Context, tx pgx.Tx) error { return r.insert(ctx, tx, tenantID, rows) })
}

// insert writes punches. One that an employee made at the same moment is the same one,
// and stays as it is.
func (r *Reader) insert(ctx context.Context, tx pgx.Tx, tenantID int64, rows []*punchRow) error {
	if len(rows) == 0 {
		return nil
	}
	var employees []int64
	n := len(rows)
	at, zones, directions, transfers := make([]time.Time, n), make([]string, n), make([]int16, n), make([]bool, n)
	jobs, rules, ruleIDs, noDeductions, bodies := make([]string, n), make([]string, n), make([]*int64, n), make([]bool, n), make([][]byte, n)
	for i, row := range rows {
		employees = append(employees, row.employee.ID)
		at[i], zones[i], directions[i], transfers[i] = time.Unix(row.At, 0), row.Zone.Name(), int16(row.Direction), row.Transfer
		jobs[i], rules[i], ruleIDs[i], noDeductions[i], bodies[i] = row.Job, row.workRule, row.workRuleID, row.NoDeduction, row.body
	}
	if _, err := tx.Exec(ctx, insertPunches, tenantID, employees, at, zones, directions, transfers, jobs, ruleIDs, rules, noDeductions, bodies); err != nil {
		return fmt.Errorf("store punches: %w", err)
	}
	stored, err := tx.Query(ctx, readStored, tenantID, employees, at)
	if err != nil {
		return fmt.Errorf("read stored punches: %w", err)
	}
	var number int64
	var p punch
	var zone string
	_, err = pgx.ForEachRow(stored, []any{&number, &p.ID, (*int8)(&p.Direction), &p.NoDeduction, &zone, &p.body, &p.entered, &p.updatedAt}, func() error {
		row := rows[number-1]
		row.ID, row.Direction, row.NoDeduction, row.body, row.entered, row.updatedAt = p.ID, p.Direction, p.NoDeduction, p.body, p.entered, p.updatedAt
		p.body = nil
		row.Zone, err = r.zones.Get(zone)
		return err
	})
	return err
}
