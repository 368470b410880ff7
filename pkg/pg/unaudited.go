package pg

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Unaudited writes without a row of the audit trail. Its text says why that is right:
// it is declared as a constant, beside what it is for. Whatever a request is about is
// written by InTx, which takes the row along ([TxHook]).
type Unaudited string

// Exec executes a statement that writes, past a transaction.
func (Unaudited) Exec(ctx context.Context, pool *Pool, sql string, args ...any) (pgconn.CommandTag, error) {
	return pool.Exec(ctx, sql, args...)
}

// Query executes a statement that writes and returns rows, past a transaction.
func (Unaudited) Query(ctx context.Context, pool *Pool, sql string, args ...any) (pgx.Rows, error) {
	return pool.Query(ctx, sql, args...)
}

// QueryRow executes a statement that writes and returns one row, past a transaction.
func (Unaudited) QueryRow(ctx context.Context, pool *Pool, sql string, args ...any) pgx.Row {
	return pool.QueryRow(ctx, sql, args...)
}

// SendBatch executes statements that write, all or none.
func (Unaudited) SendBatch(ctx context.Context, pool *Pool, batch *pgx.Batch) error {
	return pool.SendBatch(ctx, batch).Close()
}

// InTx is [InTx] for what the request under ctx is not about: its row waits for
// another transaction.
func (Unaudited) InTx(ctx context.Context, pool *Pool, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return InTx(context.WithValue(ctx, txHookKey{}, nil), pool, fn)
}
