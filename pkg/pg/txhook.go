package pg

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// TxHook is a statement that accompanies the writes of a request: the first transaction that
// commits under its context executes it. Concurrent transactions may each execute it.
type TxHook interface {
	// Statement returns the statement, or "" if it was already committed. It is called at the end
	// of the transaction.
	Statement() (sql string, args []any)
	// Check returns an error if the transaction must not be committed.
	Check() error
	// Committed is called after the statement was committed.
	Committed()
}

type txHookKey struct{}

// WithTxHook returns a context whose first committed transaction executes the statement of hook.
func WithTxHook(ctx context.Context, hook TxHook) context.Context {
	return context.WithValue(ctx, txHookKey{}, hook)
}

// pendingTxHook returns the hook that a transaction must execute, or nil.
func pendingTxHook(ctx context.Context, opts pgx.TxOptions) TxHook {
	hook, _ := ctx.Value(txHookKey{}).(TxHook)
	if hook == nil || opts.AccessMode == pgx.ReadOnly {
		return nil
	}
	if sql, _ := hook.Statement(); sql == "" {
		return nil
	}
	return hook
}

// runTx runs fn in one transaction.
func runTx(ctx context.Context, pool *Pool, opts pgx.TxOptions, fn func(pgx.Tx) error) error {
	hook := pendingTxHook(ctx, opts)
	if hook == nil {
		return pgx.BeginTxFunc(ctx, pool, opts, fn)
	}
	conn, err := pool.conns.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	begun, err := conn.BeginTx(ctx, pool.withTenant(ctx, opts))
	if err != nil {
		return err
	}
	tx := &poolTx{Tx: begun, pool: pool}
	committed := false
	defer func() {
		if !committed {
			// If this fails, the pool discards the connection.
			_ = tx.Rollback(ctx)
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if err := commitWith(ctx, tx, hook); err != nil {
		return err
	}
	committed = true
	hook.Committed()
	tx.announce()
	return nil
}

// commitWith executes the statement of a hook and commits, in one round trip. It bypasses the Tx,
// which cannot do that, and which is not used afterwards.
func commitWith(ctx context.Context, tx pgx.Tx, hook TxHook) error {
	if err := hook.Check(); err != nil {
		return fmt.Errorf("pg: %w", err)
	}
	sql, args := hook.Statement()
	if sql == "" {
		return tx.Commit(ctx)
	}
	batch := &pgx.Batch{}
	batch.Queue(sql, args...)
	batch.Queue("COMMIT")
	results := tx.Conn().SendBatch(ctx, batch)
	_, err := results.Exec()
	if err != nil {
		_ = results.Close() // Closing returns the same error.
		return fmt.Errorf("pg: %w", err)
	}
	done, err := results.Exec()
	if err == nil && done.String() == "ROLLBACK" {
		err = pgx.ErrTxCommitRollback
	}
	return errors.Join(err, results.Close())
}
