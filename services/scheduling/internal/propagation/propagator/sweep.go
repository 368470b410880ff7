package propagator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

const (
	// maxReminders limits the propagations of one sweep. The next sweep continues.
	maxReminders = 1000

	// lockSweep is held by the process that sweeps.
	lockSweep advisory.Lock = "propagation sweep"

	countOpen = `
SELECT state, count(*) FROM propagation WHERE state <> 'FINISHED' GROUP BY state`

	// Each reminder doubles the delay, up to 64 times: while the broker is down, reminders only
	// pile up in the outbox, and failed batches mostly fail again. A time in the future was written
	// while the clock was ahead, and is ignored. Paused propagations wait until a user resumes them.
	overdue = `state <> 'FINISHED' AND state <> 'PAUSED' AND coalesce(applied_by, id) = id AND
    (moved_at < clock_timestamp() - make_interval(secs => $1 * power(2, least(reminders, 6))) OR moved_at > clock_timestamp())`

	selectOverdue = `
SELECT tenant_id, id FROM propagation WHERE ` + overdue + ` ORDER BY moved_at LIMIT $2`

	// A propagation with a locked row is in progress.
	claimOverdue = `
SELECT applied_by IS NULL FROM propagation WHERE tenant_id = $2 AND id = $3 AND ` + overdue + ` FOR UPDATE SKIP LOCKED`

	// A propagation that could not be planned becomes accepted again.
	markReminded = `
UPDATE propagation SET moved_at = clock_timestamp(), reminders = reminders + 1,
    state = CASE WHEN applied_by IS NULL THEN 'ACCEPTED' ELSE state END
WHERE tenant_id = $1 AND id = $2`

	selectRequested = `
SELECT propagation_id, batch, cardinality(employee_ids) FROM propagation_batch
WHERE tenant_id = $1 AND propagation_id = $2 AND state IN ('REQUESTED', 'RETRYING') ORDER BY batch`
)

func (p *Propagator) runSweep(ctx context.Context) error {
	tick := time.NewTicker(p.cfg.SweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if _, err := p.Sweep(ctx); err != nil && ctx.Err() == nil {
				p.log.WarnContext(ctx, "sweep of propagations failed and will be repeated", "error", err)
			}
		}
	}
}

type propagationKey struct{ TenantID, ID int64 }

// Sweep requests the pending work of stalled propagations of all tenants again, and returns their
// number. It does nothing while another process sweeps.
func (p *Propagator) Sweep(ctx context.Context) (int, error) {
	reminded := 0
	// The transaction holds the lock while other transactions work. It writes nothing.
	err := pg.InTx(tenant.All(ctx), p.pool, func(all context.Context, tx pgx.Tx) error {
		reminded = 0
		if mine, err := lockSweep.Try(all, tx); err != nil || !mine {
			return err
		}
		if err := p.countOpen(all, tx); err != nil {
			return err
		}
		keys, err := pg.Collect(all, tx, pgx.RowToStructByPos[propagationKey], selectOverdue, p.cfg.SweepAfter.Seconds(), maxReminders)
		if err != nil {
			return err
		}
		for _, key := range keys {
			ok, err := p.remind(tenant.With(ctx, key.TenantID), key)
			if err != nil {
				return err
			}
			if ok {
				reminded++
			}
		}
		return nil
	})
	if err != nil {
		return reminded, fmt.Errorf("propagation: sweep: %w", err)
	}
	if reminded > 0 {
		p.log.WarnContext(ctx, "propagations stood still and were asked for again", "count", reminded)
	}
	return reminded, nil
}

func (p *Propagator) countOpen(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, countOpen)
	if err != nil {
		return err
	}
	counts := map[string]int64{propagation.StateAccepted: 0, propagation.StateRunning: 0, propagation.StatePaused: 0, propagation.StateFailed: 0}
	var state string
	var count int64
	_, err = pgx.ForEachRow(rows, []any{&state, &count}, func() error {
		counts[state] = count
		return nil
	})
	for state, count := range counts {
		p.metrics.open.WithLabelValues(state).Set(float64(count))
	}
	return err
}

// remind requests the pending work of one propagation again, unless it made progress since.
func (p *Propagator) remind(ctx context.Context, key propagationKey) (bool, error) {
	did := false
	err := pg.InTx(ctx, p.pool, func(ctx context.Context, tx pgx.Tx) error {
		did = false
		if err := lockWindow.Wait(ctx, tx); err != nil {
			return err
		}
		var planning bool
		err := tx.QueryRow(ctx, claimOverdue, p.cfg.SweepAfter.Seconds(), key.TenantID, key.ID).Scan(&planning)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		did = true
		if _, err := tx.Exec(ctx, markReminded, key.TenantID, key.ID); err != nil {
			return err
		}
		if planning {
			return outbox.Append(ctx, tx, &schedulingv1.PropagationRequested{PropagationId: key.ID})
		}
		return p.requestAgain(ctx, tx, key)
	})
	return did, err
}

// requestAgain repeats the requests for batches of a propagation, and gives failed batches another
// turn.
func (p *Propagator) requestAgain(ctx context.Context, tx pgx.Tx, key propagationKey) error {
	turns, err := pg.Collect(ctx, tx, pgx.RowToStructByPos[nextBatch], selectRequested, key.TenantID, key.ID)
	if err != nil {
		return err
	}
	if err := requestBatches(ctx, tx, turns); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, resetBatches, key.TenantID, key.ID); err != nil {
		return err
	}
	return p.request(ctx, tx)
}
