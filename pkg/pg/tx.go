package pg

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
)

// txAttempts bounds how often a transaction is run before its conflict is
// given back to the caller.
const txAttempts = 5

// InTx runs fn in a transaction of the default isolation level (read
// committed) and commits when fn returns nil.
//
// When the database reports a serialization failure or a deadlock, the
// transaction is rolled back and run again, a bounded number of times. So fn
// must be safe to run more than once: it sets, and does not add to, what it
// captured, and does nothing that a rollback would not undo. It makes no calls
// to other services, publishes nothing and does not sleep; a call that may be repeated, and
// of which a claim was committed before, is the one exception
// (docs/decisions/0133-time-off-belongs-to-timekeeping.md). A TxHook in the context is taken
// along.
func InTx(ctx context.Context, pool *Pool, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return InTxWith(ctx, pool, pgx.TxOptions{}, fn)
}

// InTxWith is InTx with a chosen isolation level or access mode.
func InTxWith(ctx context.Context, pool *Pool, opts pgx.TxOptions, fn func(ctx context.Context, tx pgx.Tx) error) error {
	conflicts := backoff.Backoff{First: 5 * time.Millisecond, Max: 200 * time.Millisecond}
	for attempt := 1; ; attempt++ {
		err := once(ctx, pool, opts, func(tx pgx.Tx) error { return fn(ctx, tx) })
		if err == nil || !pgerr.Conflicted(err) {
			return err
		}
		if attempt == txAttempts {
			return fmt.Errorf("pg: transaction conflicted %d times: %w", attempt, err)
		}
		if conflicts.Wait(ctx) != nil {
			return err
		}
	}
}

// ExecOne executes a statement that writes, in a transaction of its own. When no
// row was concerned, nothing is committed and the error is pgx.ErrNoRows. A
// statement that is executed past a transaction leaves the TxHook behind.
func ExecOne(ctx context.Context, pool *Pool, sql string, args ...any) error {
	return InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, sql, args...)
		if err == nil && done.RowsAffected() == 0 {
			return pgx.ErrNoRows
		}
		return err
	})
}

// WriteRow executes a statement that writes and returns one row, in a
// transaction of its own. When there is no row, nothing is committed and the
// error is pgx.ErrNoRows.
func WriteRow[T any](ctx context.Context, pool *Pool, scan pgx.RowToFunc[T], sql string, args ...any) (T, error) {
	var out T
	err := InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sql, args...)
		if err == nil {
			out, err = pgx.CollectExactlyOneRow(rows, scan)
		}
		return err
	})
	return out, err
}
