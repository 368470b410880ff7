package pg

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
)

// txAttempts bounds the attempts of a transaction before its conflict is returned to the caller.
const txAttempts = 5

// InTx runs fn in a transaction of the default isolation level (read committed), and commits if fn
// returns nil.
//
// If the database reports a serialization failure or a deadlock, InTx rolls the transaction back
// and runs it again, a bounded number of times. So fn must be safe to run more than once. It must
// set captured variables, not add to them, and have no effects that a rollback does not undo: no
// calls of other services, no publishing, no sleeping. The only exception is a repeatable call
// whose claim was committed before (docs/decisions/0133-time-off-belongs-to-timekeeping.md). The
// transaction includes the TxHook of the context.
func InTx(ctx context.Context, pool *Pool, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return InTxWith(ctx, pool, pgx.TxOptions{}, fn)
}

// InTxWith is InTx with another isolation level or access mode.
func InTxWith(ctx context.Context, pool *Pool, opts pgx.TxOptions, fn func(ctx context.Context, tx pgx.Tx) error) error {
	conflicts := backoff.Backoff{First: 5 * time.Millisecond, Max: 200 * time.Millisecond}
	for attempt := 1; ; attempt++ {
		err := runTx(ctx, pool, opts, func(tx pgx.Tx) error { return fn(ctx, tx) })
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

// ExecOne executes a writing statement in its own transaction. If it affects no row, nothing is
// committed and the error is pgx.ErrNoRows. Use it instead of Exec, which does not run the TxHook.
func ExecOne(ctx context.Context, pool *Pool, sql string, args ...any) error {
	return InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, sql, args...)
		if err == nil && done.RowsAffected() == 0 {
			return pgx.ErrNoRows
		}
		return err
	})
}

// WriteRow executes a statement that writes and returns one row, in its own transaction. If there
// is no row, nothing is committed and the error is pgx.ErrNoRows.
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
