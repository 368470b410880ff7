package pg

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// TxHook is a statement that goes along with what a request writes: the first
// transaction that is committed under its context takes it along. A hook may be
// asked by several transactions at a time, and then more than one may take it.
type TxHook interface {
	// Statement returns what is to be executed, or "" when that was done. It is
	// asked once what the transaction is for has been done.
	Statement() (sql string, args []any)
	// Check returns why the transaction must not be committed, or nil.
	Check() error
	// Committed says that the statement was committed.
	Committed()
}

type txHookKey struct{}

// WithTxHook returns a context whose first committed transaction takes hook along.
func WithTxHook(ctx context.Context, hook TxHook) context.Context {
	return context.WithValue(ctx, txHookKey{}, hook)
}

// txHookOf returns the hook that a transaction has to take along, or nil.
func txHookOf(ctx context.Context, opts pgx.TxOptions) TxHook {
	hook, _ := ctx.Value(txHookKey{}).(TxHook)
	if hook == nil || opts.AccessMode == pgx.ReadOnly {
		return nil
	}
	if sql, _ := hook.Statement(); sql == "" {
		return nil
	}
	return hook
}

// once runs fn in one transaction.
func once(ctx context.Context, pool *Pool, opts pgx.TxOptions, fn func(pgx.Tx) error) error {
	hook := txHookOf(ctx, opts)
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
			// When it fails, the connection is not taken again.
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

// commitWith commits a transaction, and before that executes the statement of a
// hook, both in one round trip. It goes past the Tx, which has no such thing:
// nothing uses that any more.
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
		_ = results.Close() // It would only say the same again.
		return fmt.Errorf("pg: %w", err)
	}
	done, err := results.Exec()
	if err == nil && done.String() == "ROLLBACK" {
		err = pgx.ErrTxCommitRollback
	}
	return errors.Join(err, results.Close())
}
