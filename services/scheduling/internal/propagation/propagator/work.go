package propagator

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/panics"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

// A paused batch waits until it is requested again.
const readBatch = `
SELECT employee_ids FROM propagation_batch WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3 AND state <> 'PAUSED'`

// scratch is the reusable memory of a worker.
type scratch struct {
	state   reconcile.State
	changes reconcile.Changes
	series  reconcile.SeriesBlock
	claim   claim
}

func (p *Propagator) getScratch() *scratch {
	select {
	case d := <-p.scratches:
		return d
	default:
		return &scratch{}
	}
}

func (p *Propagator) putScratch(d *scratch) {
	select {
	case p.scratches <- d:
	default: // There are enough.
	}
}

// process updates the employees of a batch, and completes open batches of other propagations that
// use the same locks. It does nothing if the batch is already done.
func (p *Propagator) process(ctx context.Context, key batchKey) error {
	if _, err := p.updateBatch(ctx, key, nil); !errors.Is(err, errBatchDone) {
		return err
	}
	return nil
}

// part is a subset of a batch's employees, to be processed without the others.
type part struct {
	employees []int64 // ascending
	// failed are the employees of the batch that failed alone.
	failed failures
}

// updateBatch updates the employees of a batch in one transaction. If only is nil, these are all
// employees of the batch and of other batches with the same locks; otherwise the employees of the
// part. Progress also counts for other batches of the employees. It returns the employees whose
// spans could not be computed, or [errBatchDone].
func (p *Propagator) updateBatch(ctx context.Context, key batchKey, only *part) (failures, error) {
	d := p.getScratch()
	defer p.putScratch(d)
	took, done := clock.Start(), false
	// Read committed, regardless of the database's default: each statement must see all changes
	// that were committed while the transaction waited for the lock.
	readCommitted := pgx.TxOptions{IsoLevel: pgx.ReadCommitted}
	err := pg.InTxWith(ctx, p.pool, readCommitted, func(ctx context.Context, tx pgx.Tx) (err error) {
		defer panics.ToError(&err) // A crash of the process would stop the propagations of all tenants.
		if done, err = d.begin(ctx, tx, key, only); err != nil || !done {
			return err
		}
		takeSeries := func(count int32) (int64, error) { return d.series.Take(ctx, tx, count) }
		if err := d.changes.Compute(&d.state, d.claim.employees, takeSeries); err != nil {
			return err
		}
		shifts, err := d.changes.UpdateHidden(ctx, tx)
		if err != nil {
			return err
		}
		if err := d.changes.FindWarnings(ctx, tx); err != nil {
			return err
		}
		return p.write(ctx, tx, d, shifts)
	})
	if err != nil {
		return nil, err
	}
	if !done {
		return nil, errBatchDone
	}
	p.metrics.batch.Observe(took.Elapsed().Seconds())
	p.metrics.spans.Add(float64(len(d.changes.AddedEmployees())))
	p.metrics.overtaken.Add(float64(len(d.claim.batches) - 1))
	if len(d.changes.Failed) > 0 {
		p.metrics.failed.Inc()
		p.log.ErrorContext(ctx, "a propagation could not be applied to employees", "propagation", key.PropagationID,
			"employees", len(d.changes.Failed), "first", d.changes.Failed[0], "error", d.changes.Failures[0])
	}
	return collectFailures(&d.changes), nil
}

// errBatchDone reports that another worker has completed the batch.
var errBatchDone = errors.New("propagation: the batch is done")

// begin locks the employees of a batch, claims the batch together with others, and reads the state
// of all their employees. It returns false if the batch is already done, or paused.
func (d *scratch) begin(ctx context.Context, tx pgx.Tx, key batchKey, only *part) (bool, error) {
	tenantID := tenant.Of(ctx)
	var employees []int64
	err := tx.QueryRow(ctx, readBatch, tenantID, key.PropagationID, key.Batch).Scan(&employees)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("propagation: read batch: %w", err)
	}
	if only != nil {
		return d.beginPart(ctx, tx, key, employees, only)
	}
	batch := &pgx.Batch{}
	employeelock.Queue(batch, tenantID, employees)
	batch.Queue(scheduleevent.NextRevision).QueryRow(func(row pgx.Row) error { return row.Scan(&d.state.Revision) })
	d.claim.queue(batch, tenantID, key, employees)
	d.state.Queue(batch, tenantID, employees)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return false, fmt.Errorf("propagation: read state: %w", err)
	}
	if !d.claim.choose(key, employees) {
		return false, nil
	}
	if len(d.claim.employees) > len(employees) {
		// Their locks are already held.
		return true, d.state.Load(ctx, tx, d.claim.employees)
	}
	return true, d.state.LoadAssignments(ctx, tx)
}

// beginPart is begin for a part of a batch. It locks the employees of the whole batch, so that no
// other worker processes another part, but reads only the state of the part.
func (d *scratch) beginPart(ctx context.Context, tx pgx.Tx, key batchKey, employees []int64, only *part) (bool, error) {
	tenantID := tenant.Of(ctx)
	batch := &pgx.Batch{}
	batch.Queue(shortenTimeout, partTimeout.Milliseconds())
	employeelock.Queue(batch, tenantID, employees)
	batch.Queue(scheduleevent.NextRevision).QueryRow(func(row pgx.Row) error { return row.Scan(&d.state.Revision) })
	d.claim.queue(batch, tenantID, key, employees)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return false, fmt.Errorf("propagation: lock a part: %w", err)
	}
	if !d.claim.choosePart(key, only) {
		return false, nil
	}
	return true, d.state.Load(ctx, tx, d.claim.employees)
}

// write stores the changes and the progress of the claimed batches, and requests the next batches.
func (p *Propagator) write(ctx context.Context, tx pgx.Tx, d *scratch, shifts *scheduleevent.Shifts) error {
	tenantID := tenant.Of(ctx)
	c, batch := &d.changes, &pgx.Batch{}
	newest := d.claim.newest()
	c.QueueSpans(batch, tenantID, newest)
	events := append(c.Events(newest, d.state.Revision), shifts.Events(d.state.Revision)...)
	if err := outbox.Queue(ctx, tx, batch, events...); err != nil {
		return fmt.Errorf("propagation: publish changes: %w", err)
	}
	if err := d.claim.finish(batch, tenantID, c); err != nil {
		return err
	}
	var next []nextBatch
	p.queueNext(batch, tenantID, &next)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: write: %w", err)
	}
	return requestBatches(ctx, tx, next)
}
