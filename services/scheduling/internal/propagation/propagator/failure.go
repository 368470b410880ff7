package propagator

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// What callers see of a failure; the cause is in the log.
const (
	textSlow   = "The database takes longer than it may for a part of the change. The part is tried again, in smaller parts."
	textFailed = "The change could not be applied to all schedules yet. It is tried again from time to time; the operator finds the reason in the log, and can repeat the change at once."
	textLayers = "More schedule patterns lie on one day of an employee than can be shown, so that the employee's schedule stays as it was. End one of the patterns."
)

const (
	noteSlow = `
UPDATE propagation SET error = $3 WHERE tenant_id = $1 AND applied_by = $2 AND state = 'RUNNING'`

	failBatch = `
UPDATE propagation_batch SET state = 'FAILED' WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3`

	// Only while the batch is open; somebody else may have done it.
	failPropagation = `
UPDATE propagation SET state = 'FAILED', error = $3
WHERE tenant_id = $1 AND applied_by = $2 AND state <> 'FINISHED'`

	failPlanning = `
UPDATE propagation SET state = 'FAILED', error = $3 WHERE tenant_id = $1 AND id = ANY($2) AND state = 'ACCEPTED'`

	lockBatch = `
SELECT employee_ids, turn FROM propagation_batch WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3 FOR UPDATE`

	shortenBatch = `
UPDATE propagation_batch SET employee_ids = $4, buckets = $5, part = true WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3`

	// The batch's number is the next one; all who divide a batch of the propagation
	// meet in its row.
	countBatch = `
UPDATE propagation SET batches_total = batches_total + 1 WHERE tenant_id = $1 AND applied_by = $2 AND state <> 'FINISHED'
RETURNING batches_total - 1`
)

// smallestPart is the least number of employees that a batch is divided into.
const smallestPart = 16

// reasonOf is what is reported of employees whose spans cannot be computed.
func reasonOf(failure error) string {
	if errors.Is(failure, span.ErrTooManyLayers) {
		return textLayers
	}
	return textFailed
}

// settle decides what becomes of a batch after an attempt, and returns an error
// when it is to be tried again. A batch whose last attempt failed is given up
// for now: its propagation shows that, and the sweep comes back to it.
func (p *Propagator) settle(ctx context.Context, m bus.Message, key batchKey, err error) error {
	if err == nil || ctx.Err() != nil || pgerr.Unavailable(err) {
		return err // Done, or to be tried again for as long as it takes.
	}
	if pgerr.TimedOut(err) {
		p.metrics.timedOut.Inc()
		err = errors.Join(err, p.split(ctx, m.Tenant, key))
	}
	if m.Attempt < p.cfg.MaxDeliver {
		return err
	}
	failErr := pg.InTx(ctx, p.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockWindow.Wait(ctx, tx, m.Tenant); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, failBatch, m.Tenant, key.PropagationID, key.Batch)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		// The others of the tenant go on.
		if err := p.request(ctx, tx, m.Tenant); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, failPropagation, m.Tenant, key.PropagationID, textFailed)
		return err
	})
	if failErr != nil {
		return fmt.Errorf("propagation: give up a batch: %w; %w", failErr, err)
	}
	p.wake()
	p.metrics.failed.Inc()
	p.log.ErrorContext(ctx, "a batch of a propagation has failed", "propagation", key.PropagationID, "batch", key.Batch,
		"tenant", m.Tenant, "attempts", m.Attempt, "error", err)
	return nil
}

const givesUp pg.Unaudited = "the request that started a propagation has the row; that it failed is its state"

// settlePlanning is settle for propagations that could not be planned.
func (p *Propagator) settlePlanning(ctx context.Context, m bus.Message, failed []int64, err error) error {
	if err == nil || ctx.Err() != nil || pgerr.Unavailable(err) || m.Attempt < p.cfg.MaxDeliver {
		return err
	}
	if _, failErr := givesUp.Exec(ctx, p.pool, failPlanning, m.Tenant, failed, textFailed); failErr != nil {
		return fmt.Errorf("propagation: give up planning: %w; %w", failErr, err)
	}
	p.metrics.failed.Inc()
	p.log.ErrorContext(ctx, "propagations could not be planned", "propagations", failed, "tenant", m.Tenant,
		"attempts", m.Attempt, "error", err)
	return nil
}

// split divides a batch in two, because it took too long, and says so.
func (p *Propagator) split(ctx context.Context, tenantID int64, key batchKey) error {
	err := pg.InTx(tenant.With(ctx, tenantID), p.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockWindow.Wait(ctx, tx, tenantID); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, noteSlow, tenantID, key.PropagationID, textSlow); err != nil {
			return err
		}
		var employees []int64
		var turn int64
		err := tx.QueryRow(ctx, lockBatch, tenantID, key.PropagationID, key.Batch).Scan(&employees, &turn)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && len(employees) < 2*smallestPart {
			return nil
		}
		if err != nil {
			return err
		}
		first, second := employees[:len(employees)/2], employees[len(employees)/2:]
		_, err = tx.Exec(ctx, shortenBatch, tenantID, key.PropagationID, key.Batch, first, employeelock.Buckets(first))
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, countBatch, tenantID, key.PropagationID)
		if err != nil {
			return err
		}
		numbers, err := pgx.CollectRows(rows, pgx.RowTo[int32])
		if err != nil {
			return err
		}
		if len(numbers) == 0 {
			return errors.New("propagation: a finished propagation has an open batch")
		}
		_, err = tx.Exec(ctx, insertBatch, tenantID, key.PropagationID, numbers[0], second, second[0], employeelock.Buckets(second), turn, true)
		if err != nil {
			return err
		}
		return p.request(ctx, tx, tenantID)
	})
	if err != nil {
		return fmt.Errorf("propagation: divide a batch: %w", err)
	}
	p.wake()
	return nil
}
