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

// What callers see of a failure; the cause is in the log.
const (
	textSlow   = "The database takes longer than it may for a part of the change. The part is tried again, in smaller parts."
	textFailed = "The change could not be applied to some schedules yet, which are in failures. They are tried again from time to time; the operator finds the reason in the log, and can repeat the change at once."
	textLayers = "More schedule patterns lie on one day of an employee than can be shown, so that the employee's schedule stays as it was. End one of the patterns."
	textPlan   = "The employees of the change could not be determined yet. It is tried again from time to time; the operator finds the reason in the log, and can repeat the change at once."
)

const (
	noteSlow = `
UPDATE propagation SET error = $3 WHERE tenant_id = $1 AND applied_by = $2 AND state = 'RUNNING'`

	// A batch that the broker repeats later leaves its place in the window to the next.
	retryBatch = `
UPDATE propagation_batch SET state = 'RETRYING'
WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3 AND state = 'REQUESTED'`

	storeFailures = `
UPDATE propagation_batch SET failed_employee_ids = $4, failed_codes = $5, state = CASE WHEN $6 THEN 'FAILED' ELSE state END
WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3`

	// Only while the batch is open; somebody else may have done it. The sweep waits from
	// now on, so that it does not ask for a batch that is being divided.
	failPropagation = `
UPDATE propagation SET state = 'FAILED', error = $3, moved_at = clock_timestamp()
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

// isolateAfter is the attempt from which on also employees for whom the database takes too
// long, or meets conflicts, are separated from the others.
const isolateAfter = 3

// settle decides what becomes of a batch after an attempt, and returns an error
// when it is to be tried again. What a statement about some employee fails with keeps
// the other employees no longer than it takes to find this one; what may pass, such as a
// timeout, is tried again a few times first.
func (p *Propagator) settle(ctx context.Context, m bus.Message, key batchKey, err error) error {
	if err == nil || ctx.Err() != nil || pgerr.Unavailable(err) {
		return err // Done, or to be tried again for as long as it takes.
	}
	mayPass := pgerr.TimedOut(err) || pgerr.Conflicted(err)
	divided := false
	if pgerr.TimedOut(err) {
		p.metrics.timedOut.Inc()
		var splitErr error
		divided, splitErr = p.split(ctx, m.Tenant, key)
		err = errors.Join(err, splitErr)
	}
	if !divided && !pgerr.Exhausted(err) && (!mayPass || m.Attempt >= min(isolateAfter, p.cfg.MaxDeliver)) {
		return p.isolate(ctx, key, err)
	}
	if m.Attempt < p.cfg.MaxDeliver {
		return errors.Join(err, p.leaveWindow(ctx, key))
	}
	return p.giveUp(ctx, key, err)
}

// leaveWindow asks for the tenant's next batch while the broker waits before it repeats this one.
func (p *Propagator) leaveWindow(ctx context.Context, key batchKey) error {
	tenantID := tenant.Of(ctx)
	err := pg.InTx(ctx, p.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockWindow.Wait(ctx, tx, tenantID); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, retryBatch, tenantID, key.PropagationID, key.Batch)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return p.request(ctx, tx, tenantID)
	})
	if err != nil {
		return fmt.Errorf("propagation: leave the window: %w", err)
	}
	return nil
}

// giveUp leaves what is left of a batch for now: its propagation shows that, and the sweep
// comes back to it.
func (p *Propagator) giveUp(ctx context.Context, key batchKey, cause error) error {
	code := codeOf(cause)
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

// storeFailures notes the employees of a batch that failed, and lets the propagation show
// it. When nobody else is left in the batch, it has failed, and the tenant's others go on.
func (p *Propagator) storeFailures(ctx context.Context, key batchKey, failedOf func(employees []int64) failures) error {
	tenantID := tenant.Of(ctx)
	err := pg.InTx(ctx, p.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockWindow.Wait(ctx, tx, tenantID); err != nil {
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
		failed := failedOf(employees)
		ids, codes := failed.columns(employees)
		all := len(ids) == len(employees)
		if _, err := tx.Exec(ctx, storeFailures, tenantID, key.PropagationID, key.Batch, ids, codes, all); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, failPropagation, tenantID, key.PropagationID, failed.text()); err != nil || !all {
			return err
		}
		return p.request(ctx, tx, tenantID)
	})
	if err != nil {
		return fmt.Errorf("propagation: store failures: %w", err)
	}
	return nil
}

const givesUp pg.Unaudited = "the request that started a propagation has the row; that it failed is its state"

// settlePlanning is settle for propagations that could not be planned.
func (p *Propagator) settlePlanning(ctx context.Context, m bus.Message, failed []int64, err error) error {
	if err == nil || ctx.Err() != nil || pgerr.Unavailable(err) {
		return err
	}
	mayPass := pgerr.TimedOut(err) || pgerr.Conflicted(err) || pgerr.Exhausted(err)
	if (mayPass || len(failed) == 0) && m.Attempt < p.cfg.MaxDeliver {
		return err
	}
	if _, failErr := givesUp.Exec(ctx, p.pool, failPlanning, m.Tenant, failed, textPlan); failErr != nil {
		return fmt.Errorf("propagation: give up planning: %w; %w", failErr, err)
	}
	p.metrics.failed.Inc()
	p.log.ErrorContext(ctx, "propagations could not be planned", "propagations", failed, "tenant", m.Tenant,
		"attempts", m.Attempt, "error", err)
	return nil
}

// split divides a batch in two, because it took too long, and says so. It returns false
// for a batch that is too small.
func (p *Propagator) split(ctx context.Context, tenantID int64, key batchKey) (divided bool, err error) {
	err = pg.InTx(tenant.With(ctx, tenantID), p.pool, func(ctx context.Context, tx pgx.Tx) error {
		divided = false
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
		return p.request(ctx, tx, tenantID)
	})
	if err != nil {
		return false, fmt.Errorf("propagation: divide a batch: %w", err)
	}
	return divided, nil
}
