package payrollearning

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// earning is a row of the table.
type earning struct {
	ID       uuid.UUID
	Employee int64
	Charged  civil.Date
	Message  *timekeepingv1.PayrollEarning
	// Taken means that the earning is part of payroll: staging has read it.
	Taken bool
}

// insert stores earnings, and returns the ids that were not in use before.
func insert(ctx context.Context, tx pgx.Tx, list []earning) (map[uuid.UUID]bool, error) {
	ids, employees, days := make([]uuid.UUID, len(list)), make([]int64, len(list)), make([]civil.Date, len(list))
	codes, jobs, hours, amounts := make([]string, len(list)), make([]string, len(list)), make([]string, len(list)), make([]string, len(list))
	bodies := make([][]byte, len(list))
	for i, e := range list {
		body, err := proto.Marshal(e.Message)
		if err != nil {
			return nil, fmt.Errorf("store earnings: %w", err)
		}
		ids[i], employees[i], days[i], bodies[i] = e.ID, e.Employee, e.Charged, body
		codes[i], jobs[i], hours[i], amounts[i] = e.Message.GetCode(), e.Message.GetJob(), e.Message.GetHours(), e.Message.GetAmount()
	}
	stored := make(map[uuid.UUID]bool, len(list))
	var id uuid.UUID
	err := pg.ForEach(ctx, tx, []any{&id}, func() error {
		stored[id] = true
		return nil
	}, `INSERT INTO payroll_earning (tenant_id, ref_id, employee_id, charge_date, code, job, hours, amount, body)
		SELECT $1, r, e, d, c, j, nullif(h, '')::numeric, nullif(a, '')::numeric, b
		FROM unnest($2::uuid[], $3::bigint[], $4::date[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bytea[]) AS t (r, e, d, c, j, h, a, b)
		ON CONFLICT DO NOTHING RETURNING ref_id`, tenant.Of(ctx), ids, employees, days, codes, jobs, hours, amounts, bodies)
	if err != nil {
		return nil, fmt.Errorf("store earnings: %w", err)
	}
	return stored, nil
}

// read returns an earning, or nil. With lock FOR UPDATE, it locks the earning against staging.
func read(ctx context.Context, db pg.Querier, id uuid.UUID, lock string) (*earning, error) {
	e := &earning{ID: id, Message: &timekeepingv1.PayrollEarning{}}
	var body []byte
	err := db.QueryRow(ctx, `SELECT employee_id, charge_date, body, staging_id IS NOT NULL FROM payroll_earning
		WHERE tenant_id = $1 AND ref_id = $2 `+lock, tenant.Of(ctx), id).Scan(&e.Employee, &e.Charged, &body, &e.Taken)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		err = proto.Unmarshal(body, e.Message)
	}
	if err != nil {
		return nil, fmt.Errorf("read earning: %w", err)
	}
	return e, nil
}

// remove deletes an earning. Its refId can be used again, because the earning was never paid.
func remove(ctx context.Context, tx pgx.Tx, id uuid.UUID) error {
	if _, err := tx.Exec(ctx, `DELETE FROM payroll_earning WHERE tenant_id = $1 AND ref_id = $2`, tenant.Of(ctx), id); err != nil {
		return fmt.Errorf("delete earning: %w", err)
	}
	return nil
}
