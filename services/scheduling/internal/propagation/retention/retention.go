// Package retention takes away what the history of schedules need not say any more,
// and makes room for what it will say.
package retention

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	// lockRetention has the process that applies it.
	lockRetention advisory.Lock = "propagation retention"

	// Who reads the past must not wait long behind a partition that goes or comes.
	lockTimeout = `SET LOCAL lock_timeout = '2s'`

	makeMonth = `SELECT make_past_month($1, $2, $3)`

	selectPartitions = `
SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = $1::text::regclass ORDER BY 1`

	// Assignments keep the propagation that applied them in their history; without
	// it they show as applied.
	deleteOldPropagations = `
DELETE FROM propagation WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM propagation WHERE state = 'FINISHED' AND finished_at < $1 ORDER BY finished_at LIMIT $2)`

	// The last version of an assignment stays, also when the assignment is gone: spans of
	// locked days may name it, and it says of which lineage they are.
	deleteOldAssignmentVersions = `
DELETE FROM pattern_assignment WHERE (tenant_id, id, version) IN (
    SELECT tenant_id, id, version FROM pattern_assignment a
    WHERE believed_until < $1 AND EXISTS (
        SELECT FROM pattern_assignment n WHERE n.tenant_id = a.tenant_id AND n.id = a.id AND n.version > a.version)
    ORDER BY believed_until LIMIT $2)`

	// What the clock showed says which changes had been made at a time that is asked about.
	deleteOldClocks = `DELETE FROM corrected_clock WHERE showed < $1`

	// maxPurged bounds the rows that one statement takes away.
	maxPurged = 10_000
)

// historyTables are the tables of what held before. They have partitions by the month in
// which it ceased to hold.
var historyTables = []string{"span_past_block", "schedule_item_past", "day_lock_past", "membership_past", "leave_edit_past", "locked_leave_past"}

// every is how often what is too old is looked for.
const every = time.Hour

// ForEver is the time for which history is kept that is never deleted.
const ForEver time.Duration = -1

// Retention keeps history for a time. Any number of processes may run one on the same
// database.
type Retention struct {
	pool   *pg.Pool
	log    *slog.Logger
	clock  clock.Clock
	maxAge time.Duration
}

// New returns a retention that keeps history for a time, or [ForEver].
func New(pool *pg.Pool, log *slog.Logger, clk clock.Clock, keep time.Duration) *Retention {
	return &Retention{pool: pool, log: log, clock: clk, maxAge: keep}
}

// Run applies it every hour until ctx ends.
func (r *Retention) Run(ctx context.Context) error {
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-wait.C:
		}
		if err := r.Apply(ctx); err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "the retention of history failed and will be repeated", "error", err)
		}
		wait.Reset(every)
	}
}

// Apply makes room for the past of this month and the next, and deletes propagations,
// and what else ended, that are older than is kept. While another process applies it,
// it does nothing.
func (r *Retention) Apply(ctx context.Context) error {
	now := r.clock.Now()
	if err := r.makeMonths(ctx, now); err != nil {
		return err
	}
	if r.maxAge == ForEver {
		return nil
	}
	before := now.Add(-r.maxAge)
	if err := r.dropMonths(ctx, before); err != nil {
		return err
	}
	return r.purge(ctx, before)
}

// makeMonths makes the partitions of a time's month and of the next one.
func (r *Retention) makeMonths(ctx context.Context, now time.Time) error {
	for ahead := range 2 {
		// The first of a month, so that a month later is the next one.
		month := time.Date(now.Year(), now.Month()+time.Month(ahead), 1, 0, 0, 0, 0, time.UTC)
		for _, past := range historyTables {
			err := r.withLock(ctx, func(ctx context.Context, tx pgx.Tx) error {
				_, err := tx.Exec(ctx, makeMonth, past, month.Year(), int(month.Month()))
				return err
			})
			if pgerr.IsCheck(err, "") {
				// The month has begun without a partition, and what is past since lies in the
				// default one, as the rest of the month will.
				continue
			}
			if err != nil {
				return fmt.Errorf("retention: make room for the past: %w", err)
			}
		}
	}
	return nil
}

// dropMonths drops the partitions of which everything ended before a time.
func (r *Retention) dropMonths(ctx context.Context, before time.Time) error {
	for _, past := range historyTables {
		err := r.withLock(ctx, func(ctx context.Context, tx pgx.Tx) error {
			partitions, err := pg.Collect(ctx, tx, pgx.RowTo[string], selectPartitions, past)
			if err != nil {
				return err
			}
			for _, name := range partitions {
				if !endedBefore(past, name, before) {
					continue
				}
				if _, err := tx.Exec(ctx, "DROP TABLE "+pgx.Identifier{name}.Sanitize()); err != nil {
					return err
				}
				r.log.InfoContext(ctx, "a month of the past was dropped", "partition", name)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("retention: drop old months: %w", err)
		}
	}
	return nil
}

// endedBefore reports whether a partition of a past is a month that ended before a
// time, or with it. What is not named like a month was not made for one.
func endedBefore(past, partition string, before time.Time) bool {
	month, err := time.Parse(past+"_200601", partition)
	return err == nil && !month.AddDate(0, 1, 0).After(before)
}

// purge deletes what ended before a time and lies in no month of its own, and
// the propagations that finished before it, and versions of assignments.
func (r *Retention) purge(ctx context.Context, before time.Time) error {
	err := r.withLock(ctx, func(ctx context.Context, tx pgx.Tx) error {
		batch := &pgx.Batch{}
		for _, past := range historyTables {
			// In the oldest month, and what no month was made for.
			batch.Queue("DELETE FROM "+past+" WHERE believed_until < $1", before)
		}
		batch.Queue(deleteOldClocks, before)
		return tx.SendBatch(ctx, batch).Close()
	})
	for _, statement := range []string{deleteOldPropagations, deleteOldAssignmentVersions} {
		for more := true; err == nil && more; {
			more = false // unless it is ours to do
			err = r.withLock(ctx, func(ctx context.Context, tx pgx.Tx) error {
				tag, err := tx.Exec(ctx, statement, before, maxPurged)
				more = tag.RowsAffected() == maxPurged
				return err
			})
		}
	}
	if err != nil {
		return fmt.Errorf("retention: purge what is old: %w", err)
	}
	return nil
}

// withLock runs fn in a transaction for all tenants, unless another process does so.
func (r *Retention) withLock(ctx context.Context, fn func(context.Context, pgx.Tx) error) error {
	return pg.InTx(tenant.All(ctx), r.pool, func(ctx context.Context, tx pgx.Tx) error {
		if mine, err := lockRetention.Try(ctx, tx, advisory.OfDatabase); err != nil || !mine {
			return err
		}
		if _, err := tx.Exec(ctx, lockTimeout); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}
