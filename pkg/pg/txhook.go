package pg

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Rider is a statement that goes along with what a request writes: the first
// transaction that is committed under its context takes it along. A rider may be
// asked by several transactions at a time, and then more than one may take it.
type Rider interface {
	// Statement answers what is to be executed, or "" when that was done. It is
	// asked once what the transaction is for has been done.
	Statement() (sql string, args []any)
	// Committed says that the statement was committed.
	Committed()
}

type riderKey struct{}

// WithRider answers a context whose first committed transaction takes r along.
func WithRider(ctx context.Context, r Rider) context.Context {
	return context.WithValue(ctx, riderKey{}, r)
}

// WithoutRider answers a context for transactions that are not what the request is
// about.
func WithoutRider(ctx context.Context) context.Context {
	return context.WithValue(ctx, riderKey{}, nil)
}

// riderOf answers the rider that a transaction has to take along, or nil.
func riderOf(ctx context.Context, opts pgx.TxOptions) Rider {
	r, _ := ctx.Value(riderKey{}).(Rider)
	if r == nil || opts.AccessMode == pgx.ReadOnly {
		return nil
	}
	if sql, _ := r.Statement(); sql == "" {
		return nil
	}
	return r
}

// once runs fn in one transaction.
func once(ctx context.Context, pool *pgxpool.Pool, opts pgx.TxOptions, fn func(pgx.Tx) error) error {
	r := riderOf(ctx, opts)
	if r == nil {
		return pgx.BeginTxFunc(ctx, pool, opts, fn)
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	tx, err := conn.BeginTx(ctx, opts)
	if err != nil {
		return err
	}
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
	if err := commitWith(ctx, tx, r); err != nil {
		return err
	}
	committed = true
	r.Committed()
	return nil
}

// commitWith commits a transaction, and before that executes the statement of a
// rider, both in one round trip. It goes past the Tx, which has no such thing:
// nothing uses that any more.
func commitWith(ctx context.Context, tx pgx.Tx, r Rider) error {
	sql, args := r.Statement()
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
