package payrollstaging

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payledger"
)

// insertStaged stores the rows of a batch, and stages the earnings of its employees.
func insertStaged(ctx context.Context, tx pgx.Tx, b *stagedBatch, staged []stagingEmployee) error {
	ids, heads, settled := make([]int64, len(staged)), make([]payledger.Head, len(staged)), make([]civil.Date, len(staged))
	for i, e := range staged {
		ids[i], heads[i], settled[i] = e.ID, e.head, e.settled
	}
	if err := payledger.Lock(ctx, tx, heads); err != nil {
		return err
	}
	earned, err := takeEarnings(ctx, tx, b, ids)
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for _, e := range staged {
		batch.Queue(`INSERT INTO payroll_staged_employee (tenant_id, staging_id, employee_id, person_number, full_name, error_code, message, custom_fields, covered_through)
			VALUES ($1, $2, $3, $4, $5, '', '', $6, $7)`, tenant.Of(ctx), b.id, e.ID, e.Number, e.FullName, e.fields, e.coveredThrough)
	}
	var rows []stagedRow
	for _, e := range staged {
		at := int32(0)
		for _, t := range e.totals {
			at++
			rows = append(rows, newStagedRow(e.ID, at, t, ""))
		}
		for _, t := range earned[e.ID] {
			at++
			rows = append(rows, newStagedRow(e.ID, at, t.Total, t.hours))
		}
	}
	if len(rows) > 0 {
		batch.Queue(insertRows, pg.Columns(rows, tenant.Of(ctx), b.id)...)
	}
	if batch.Len() == 0 {
		return nil
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("store staged rows: %w", err)
	}
	return payledger.Settle(ctx, tx, heads, settled)
}

// earned is an imported earning.
type earned struct {
	Total
	hours string
}

// takeEarnings stages the open earnings of the employees of a batch.
func takeEarnings(ctx context.Context, tx pgx.Tx, b *stagedBatch, ids []int64) (map[int64][]earned, error) {
	rows, err := tx.Query(ctx, `SELECT e.ref_id, e.employee_id, e.charge_date, coalesce(p.id, 0), e.code, e.job, coalesce(e.hours::text, ''), coalesce(e.amount::text, '')
		FROM payroll_earning e LEFT JOIN pay_code p ON p.tenant_id = e.tenant_id AND lower(p.name) = lower(e.code)
		WHERE e.tenant_id = $1 AND e.employee_id = ANY($2) AND e.charge_date BETWEEN $3 AND $4 AND e.staging_id IS NULL
		ORDER BY e.employee_id, e.charge_date, e.ref_id FOR UPDATE OF e`, tenant.Of(ctx), ids, b.rules.days.From, b.rules.days.To)
	if err != nil {
		return nil, fmt.Errorf("read earnings: %w", err)
	}
	out := map[int64][]earned{}
	var taken []uuid.UUID
	var ref uuid.UUID
	var employee int64
	e := earned{Total: Total{Kind: Earning}}
	_, err = pgx.ForEachRow(rows, []any{&ref, &employee, &e.Date, &e.PayCodeID, &e.PayCode, &e.Job, &e.hours, &e.Money}, func() error {
		if b.rules.stagesEarnings() && b.rules.admits(e.Total) {
			out[employee] = append(out[employee], e)
			taken = append(taken, ref)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read earnings: %w", err)
	}
	if len(taken) == 0 {
		return out, nil
	}
	if _, err := tx.Exec(ctx, `UPDATE payroll_earning SET staging_id = $2 WHERE tenant_id = $1 AND ref_id = ANY($3)`, tenant.Of(ctx), b.id, taken); err != nil {
		return nil, fmt.Errorf("take earnings: %w", err)
	}
	return out, nil
}

// stagedRow is a row of payroll_staged_row, in the order of insertRows.
type stagedRow struct {
	Employee           int64
	Number             int32
	Date               civil.Date
	PayCode, Job, Kind string
	Historical         *civil.Date
	Seconds            int64
	Hours, Days, Money string
	PayCodeID          int64
	Cause              string
}

func newStagedRow(employee int64, number int32, t Total, hours string) stagedRow {
	return stagedRow{
		Employee: employee, Number: number, Date: t.Date, PayCode: t.PayCode, Job: t.Job, Kind: string(t.Kind),
		Historical: t.Historical, Seconds: t.Seconds, Hours: hours, Days: t.Days, Money: t.Money, PayCodeID: t.PayCodeID, Cause: t.Cause,
	}
}

const insertRows = `
INSERT INTO payroll_staged_row (tenant_id, staging_id, employee_id, row_number, apply_date, pay_code, job, kind, historical_date, seconds, hours, days, money, pay_code_id, cause)
SELECT $1, $2, e, n, d, c, j, k, h, s, nullif(o, '')::numeric, nullif(y, '')::numeric, nullif(m, '')::numeric, i, u
FROM unnest($3::bigint[], $4::int[], $5::date[], $6::text[], $7::text[], $8::text[], $9::date[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::text[])
	AS t (e, n, d, c, j, k, h, s, o, y, m, i, u)`
