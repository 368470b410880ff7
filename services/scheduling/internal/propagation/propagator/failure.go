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
)

// Error texts of propagations for callers. The cause is in the log.
const (
	textSlow   = "The database is too slow for a part of the change. The part is retried in smaller parts."
	textFailed = "The change could not be applied to some schedules yet; they are in failures. They are retried periodically. The operator finds the reason in the log, and can repeat the change at once."
	textLayers = "An employee has more schedule patterns on one day than a schedule can show, so that the employee's schedule did not change. End one of the patterns."
	textPlan   = "The employees of the change could not be determined yet. This is retried periodically. The operator finds the reason in the log, and can repeat the change at once."
)

const (
	noteSlow = `
UPDATE propagation SET error = $3 WHERE tenant_id = $1 AND applied_by = $2 AND state = 'RUNNING'`

	// A batch that the broker redelivers later gives its place in the window to the next batch.
	retryBatch = `
UPDATE propagation_batch SET state = 'RETRYING'
WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3 AND state = 'REQUESTED'`

	storeFailures = `
UPDATE propagation_batch SET failed_employee_ids = $4, failed_codes = $5, state = CASE WHEN $6 THEN 'FAILED' ELSE state END
WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3`

	// Only if the batch is still open; another worker may have completed it. Setting moved_at
	// delays the sweep, so that it does not request a batch that is being divided.
	failPropagation = `
UPDATE propagation SET state = 'FAILED', error = $3, moved_at = clock_timestamp()
WHERE tenant_id = $1 AND applied_by = $2 AND state <> 'FINISHED' AND state <> 'PAUSED'`

	failPlanning = `
UPDATE propagation SET state = 'FAILED', error = $3 WHERE tenant_id = $1 AND id = ANY($2) AND state = 'ACCEPTED'`

	// A paused batch is left as it is: it is tried again when it is resumed.
	lockBatch = `
SELECT employee_ids, turn FROM propagation_batch WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3 AND state <> 'PAUSED' FOR UPDATE`

	shortenBatch = `
UPDATE propagation_batch SET employee_ids = $4, buckets = $5, part = true WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3`

	// The new batch gets the next number. The row lock of the propagation serializes workers that
	// divide its batches.
	countBatch = `
UPDATE propagation SET batches_total = batches_total + 1 WHERE tenant_id = $1 AND applied_by = $2 AND state <> 'FINISHED'
RETURNING batches_total - 1`
)

// smallestPart is the smallest number of employees in a part of a divided batch.
const smallestPart = 16

// isolateAfter is the first attempt that also separates employees with timeouts and conflicts from
// the others.
const isolateAfter = 3

// settle handles the result of an attempt at a batch, and returns an error if the broker should
// redeliver it. Errors about a single employee are isolated at once, so that the other employees
// wait only for the search. Temporary errors such as timeouts are first retried a few times.
func (p *Propagator) settle(ctx context.Context, m bus.Message, key batchKey, err error) error {
	if err == nil || ctx.Err() != nil || pgerr.Unavailable(err) { // Done, or to be retried without a limit.
		return err // Done, or to be tried again for as long as it takes.
	}
	temporary := pgerr.TimedOut(err) || pgerr.Conflicted(err)
	divided := false
	if pgerr.TimedOut(err) {
		p.metrics.timedOut.Inc()
		var splitErr error
		divided, splitErr = p.split(ctx, key)
		err = errors.Join(err, splitErr)
	}
	if !divided && !pgerr.Exhausted(err) && (!temporary || m.Attempt >= min(isolateAfter, p.cfg.MaxDeliver)) {
		return p.isolate(ctx, key, err)
	}
	if m.Attempt < p.cfg.MaxDeliver {
		return errors.Join(err, p.leaveWindow(ctx, key))
	}
	return p.giveUp(ctx, key, err)
}

// leaveWindow requests the tenant's next batch while this one waits for its redelivery.
func (p *Propagator) leaveWindow(ctx context.Context, key batchKey) error {
	err := pg.InTx(ctx, p.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockWindow.Wait(ctx, tx); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, retryBatch, tenant.Of(ctx), key.PropagationID, key.Batch)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return p.request(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("propagation: leave the window: %w", err)
	}
	return nil
}

// giveUp marks the remaining employees of a batch as failed. The propagation shows the failures,
// and the sweep retries the batch later.
func (p *Propagator) giveUp(ctx context.Context, key batchKey, cause error) error {
	code := failureCode(cause)
	err := p.storeFailures(ctx, key, func(employees []int64) failures {
		failed := failures{}
		for _, id := range employees {
			failed[id] = code
		}
		return failed
	})
	if err != nil {
		return fmt.Errorf("propagation: give up a batch: %w; %w", err, cause)
	}
	p.metrics.failed.Inc()
	p.log.ErrorContext(ctx, "a batch of a propagation has failed", "propagation", key.PropagationID, "batch", key.Batch, "error", cause)
	return nil
}

// storeFailures stores the failed employees of a batch, and marks its propagation as failed. If no
// other employees remain in the batch, the batch has failed, and the next batch of the tenant is
// requested.
func (p *Propagator) storeFailures(ctx context.Context, key batchKey, selectFailed func(employees []int64) failures) error {
	tenantID := tenant.Of(ctx)
	err := pg.InTx(ctx, p.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockWindow.Wait(ctx, tx); err != nil {
			return err
		}
		var employees []int64
		err := tx.QueryRow(ctx, lockBatch, tenantID, key.PropagationID, key.Batch).Scan(&employees, nil)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		failed := selectFailed(employees)
		ids, codes := failed.columns(employees)
		all := len(ids) == len(employees)
		if _, err := tx.Exec(ctx, storeFailures, tenantID, key.PropagationID, key.Batch, ids, codes, all); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, failPropagation, tenantID, key.PropagationID, failed.text()); err != nil || !all {
			return err
		}
		return p.request(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("propagation: store failures: %w", err)
	}
	return nil
}

const planningFailure pg.Unaudited = "the request that started a propagation is audited; the failure is only its state"

// settlePlanning handles the result of planning, like settle does for batches.
func (p *Propagator) settlePlanning(ctx context.Context, m bus.Message, failed []int64, err error) error {
	if err == nil || ctx.Err() != nil || pgerr.Unavailable(err) {
		return err
	}
	temporary := pgerr.TimedOut(err) || pgerr.Conflicted(err) || pgerr.Exhausted(err)
	if (temporary || len(failed) == 0) && m.Attempt < p.cfg.MaxDeliver {
		return err
	}
	if _, failErr := planningFailure.Exec(ctx, p.pool, failPlanning, m.Tenant, failed, textPlan); failErr != nil {
		return fmt.Errorf("propagation: give up planning: %w; %w", failErr, err)
	}
	p.metrics.failed.Inc()
	p.log.ErrorContext(ctx, "propagations could not be planned", "propagations", failed, "tenant", m.Tenant,
		"attempts", m.Attempt, "error", err)
	return nil
}

// split divides a batch that timed out into two, and notes it in the propagation. It returns false
// if the batch is too small.
func (p *Propagator) split(ctx context.Context, key batchKey) (divided bool, err error) {
	tenantID := tenant.Of(ctx)
	err = pg.InTx(ctx, p.pool, func(ctx context.Context, tx pgx.Tx) error {
		divided = false
		if err := lockWindow.Wait(ctx, tx); err != nil {
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
		numbers, err := pg.Collect(ctx, tx, pgx.RowTo[int32], countBatch, tenantID, key.PropagationID)
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
		divided = true
		return p.request(ctx, tx)
	})
	if err != nil {
		return false, fmt.Errorf("propagation: divide a batch: %w", err)
	}
	return divided, nil
}
