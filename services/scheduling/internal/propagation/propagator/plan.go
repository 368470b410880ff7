package propagator

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

const (
	claimPropagation = `
SELECT id, employment_term_ids, employee_ids FROM propagation
WHERE tenant_id = $1 AND state = 'ACCEPTED' AND id > $2 ORDER BY id LIMIT 1 FOR UPDATE`

	anyAccepted = `SELECT EXISTS (SELECT FROM propagation WHERE tenant_id = $1 AND state = 'ACCEPTED' AND id > $2)`

	lastTurn = `SELECT coalesce(max(turn), 0) FROM propagation_batch WHERE tenant_id = $1 AND state = 'REQUESTED'`

	insertBatch = `
INSERT INTO propagation_batch (tenant_id, propagation_id, batch, employee_ids, first_employee_id, buckets, turn, part)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	// An employee who joins the same terms concurrently is part of the propagation of that
	// membership, which is planned later.
	startPropagations = `
UPDATE propagation p SET employees_total = $5, batches_total = $6, applied_by = $2,
    started_at = clock_timestamp(), moved_at = clock_timestamp(), reminders = 0, error = '',
    state = CASE WHEN $6 = 0 THEN 'FINISHED' ELSE 'RUNNING' END,
    finished_at = CASE WHEN $6 = 0 THEN clock_timestamp() END
WHERE tenant_id = $1 AND state = 'ACCEPTED' AND (id = $2
    OR employment_term_ids = $3::bigint[] AND employee_ids = $4::bigint[])`
)

// plan divides the affected employees of a tenant's accepted propagations into batches, and
// requests the first of them. Only one planner works for a tenant at a time, so that the other
// planners are free for other tenants. With an error it returns the propagations that failed.
func (p *Propagator) plan(ctx context.Context) (failed []int64, err error) {
	tenantID := tenant.Of(ctx)
	var failures error
	for after := int64(0); ; {
		id, mine, err := p.planNext(ctx, after)
		if err != nil {
			failures = errors.Join(failures, err)
			if id == 0 || pgerr.Unavailable(err) || ctx.Err() != nil {
				return failed, failures
			}
			failed, after = append(failed, id), id // The others do not wait for it.
			continue
		}
		if !mine {
			return failed, failures // The other planner checks for more at the end, as below.
		}
		// Propagations may have been accepted while another message failed to get the lock.
		var more bool
		if err := p.pool.QueryRow(ctx, anyAccepted, tenantID, after).Scan(&more); err != nil {
			return failed, errors.Join(failures, fmt.Errorf("propagation: look for more to plan: %w", err))
		}
		if !more {
			return failed, failures
		}
	}
}

// planNext plans the oldest accepted propagation with a larger id, together with others for the
// same terms and employees, and returns its id. It returns false if another process plans for the
// tenant.
func (p *Propagator) planNext(ctx context.Context, after int64) (id int64, mine bool, err error) {
	tenantID := tenant.Of(ctx)
	err = pg.InTx(ctx, p.pool, func(ctx context.Context, tx pgx.Tx) error {
		id = 0
		if mine, err = lockPlanning.Try(ctx, tx); err != nil || !mine {
			return err
		}
		var terms, listed []int64
		err := tx.QueryRow(ctx, claimPropagation, tenantID, after).Scan(&id, &terms, &listed)
		if errors.Is(err, pgx.ErrNoRows) {
			return p.request(ctx, tx) // The hint may have been about batches.
		}
		if err != nil {
			return fmt.Errorf("propagation: claim: %w", err)
		}
		employees, err := propagation.Affected(ctx, tx, terms, listed)
		if err != nil {
			return err
		}
		batches := splitBatches(employees)
		if err := insertBatches(ctx, tx, id, batches); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, startPropagations, tenantID, id, terms, listed, len(employees), len(batches))
		if err != nil {
			return fmt.Errorf("propagation: start: %w", err)
		}
		return p.request(ctx, tx)
	})
	return id, mine, err
}

// insertBatches stores waiting batches. The first gets the turn after the tenant's batches in
// progress, and each other batch one turn later, so that a small change does not wait for a large
// one that began earlier.
func insertBatches(ctx context.Context, tx pgx.Tx, id int64, batches [][]int64) error {
	tenantID := tenant.Of(ctx)
	if len(batches) == 0 {
		return nil
	}
	var turn int64
	if err := tx.QueryRow(ctx, lastTurn, tenantID).Scan(&turn); err != nil {
		return fmt.Errorf("propagation: find the turn: %w", err)
	}
	batch := &pgx.Batch{}
	for i, employees := range batches {
		turn++
		batch.Queue(insertBatch, tenantID, id, i, employees, employees[0], employeelock.Buckets(employees), turn, false)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: insert batches: %w", err)
	}
	return nil
}
