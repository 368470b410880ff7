// Package retention deletes old history of schedules, and creates partitions for new history.
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
	// lockRetention is held by the process that applies the retention.
	lockRetention advisory.Lock = "propagation retention"

	// Readers of the past must not wait long while a partition is created or dropped.
	lockTimeout = `SET LOCAL lock_timeout = '2s'`

	makeMonth = `SELECT make_past_month($1, $2, $3)`

	selectPartitions = `
SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = $1::text::regclass ORDER BY 1`

	// Assignments refer in their history to the propagation that applied them. If it is deleted,
	// they show as applied.
	deleteOldPropagations = `
DELETE FROM propagation WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM propagation WHERE state = 'FINISHED' AND finished_at < $1 ORDER BY finished_at LIMIT $2)`

	// The last version of an assignment is never deleted, even if the assignment is, because spans
	// of locked days can refer to it for its lineage.
	deleteOldAssignmentVersions = `
DELETE FROM pattern_assignment WHERE (tenant_id, id, version) IN (
    SELECT tenant_id, id, version FROM pattern_assignment a
    WHERE believed_until < $1 AND EXISTS (
        SELECT FROM pattern_assignment n WHERE n.tenant_id = a.tenant_id AND n.id = a.id AND n.version > a.version)
    ORDER BY believed_until LIMIT $2)`

	// Reads as of an earlier clock time use these rows to find the changes that had been made by
	// then.
	deleteOldClocks = `DELETE FROM corrected_clock WHERE showed < $1`

	// Previews are not part of the history.
	deleteExpiredPreviews = `DELETE FROM schedule_preview WHERE expires_at < $1`

	// maxPurged limits the rows that one statement deletes.
	maxPurged = 10_000
)

// historyTables are the tables of superseded rows. They are partitioned by the month when a row was
// superseded.
var historyTables = []string{"span_past_block", "schedule_item_past", "day_lock_past", "membership_past", "leave_edit_past", "locked_leave_past"}

// every is the interval between runs.
const every = time.Hour

// ForEver is the retention of history that is never deleted.
const ForEver time.Duration = -1

// Retention deletes history after a time. Several processes can run one on the same database.
type Retention struct {
	pool   *pg.Pool
	log    *slog.Logger
	clock  clock.Clock
	maxAge time.Duration
}

// New returns a retention that deletes history after a time, or never if keep is [ForEver].
func New(pool *pg.Pool, log *slog.Logger, clk clock.Clock, keep time.Duration) *Retention {
	return &Retention{pool: pool, log: log, clock: clk, maxAge: keep}
}

// Run applies the retention every hour until ctx ends.
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

// Apply creates the partitions of this month and the next. It deletes expired previews, and finished
// propagations and superseded rows that are older than the retention. It does nothing while another process applies
// it.
func (r *Retention) Apply(ctx context.Context) error {
	now := r.clock.Now()
	if err := r.makeMonths(ctx, now); err != nil {
		return err
	}
	if err := r.withLock(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, deleteExpiredPreviews, now)
		return err
	}); err != nil {
		return fmt.Errorf("retention: delete previews: %w", err)
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

// makeMonths creates the partitions of the month of now and of the next month.
func (r *Retention) makeMonths(ctx context.Context, now time.Time) error {
	for ahead := range 2 {
		// Day 1, so that adding a month always gives the next month.
		month := time.Date(now.Year(), now.Month()+time.Month(ahead), 1, 0, 0, 0, 0, time.UTC)
		for _, past := range historyTables {
			err := r.withLock(ctx, func(ctx context.Context, tx pgx.Tx) error {
				_, err := tx.Exec(ctx, makeMonth, past, month.Year(), int(month.Month()))
				return err
			})
			if pgerr.IsCheck(err, "") {
				// The month began without a partition. Its rows are in the default partition, and
				// the rest of the month goes there, too.
				continue
			}
			if err != nil {
				return fmt.Errorf("retention: make room for the past: %w", err)
			}
		}
	}
	return nil
}

// dropMonths drops the partitions whose months ended before a time.
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

// endedBefore reports whether a partition is a month that ended before or at a time. It returns
// false for other partitions, such as the default one.
func endedBefore(past, partition string, before time.Time) bool {
	month, err := time.Parse(past+"_200601", partition)
	return err == nil && !month.AddDate(0, 1, 0).After(before)
}

// purge deletes rows from before a time that are not in a dropped partition, and finished
// propagations and old versions of assignments.
func (r *Retention) purge(ctx context.Context, before time.Time) error {
	err := r.withLock(ctx, func(ctx context.Context, tx pgx.Tx) error {
		batch := &pgx.Batch{}
		for _, past := range historyTables {
			// Rows in the oldest month and in the default partition.
			batch.Queue("DELETE FROM "+past+" WHERE believed_until < $1", before)
		}
		batch.Queue(deleteOldClocks, before)
		return tx.SendBatch(ctx, batch).Close()
	})
	for _, statement := range []string{deleteOldPropagations, deleteOldAssignmentVersions} {
		for more := true; err == nil && more; {
			more = false // unless this process gets the lock
			err = r.withLock(ctx, func(ctx context.Context, tx pgx.Tx) error {
				tag, err := tx.Exec(ctx, statement, before, maxPurged)
				more = tag.RowsAffected() == maxPurged
				return err
			})
		}
	}
	if err != nil {
		return fmt.Errorf("retention: purge old rows: %w", err)
	}
	return nil
}

// withLock runs fn in a transaction for all tenants. It does nothing if another process holds the
// lock.
func (r *Retention) withLock(ctx context.Context, fn func(context.Context, pgx.Tx) error) error {
	return pg.InTx(tenant.All(ctx), r.pool, func(ctx context.Context, tx pgx.Tx) error {
		if mine, err := lockRetention.Try(ctx, tx); err != nil || !mine {
			return err
		}
		if _, err := tx.Exec(ctx, lockTimeout); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}
