package pg

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Unaudited writes without a row of the audit log. Its text is the reason why that is right.
// Declare it as a constant, next to its use. Writes that a request is about go through InTx, which
// includes the row ([TxHook]).
type Unaudited string

// Exec executes a writing statement without the row.
func (Unaudited) Exec(ctx context.Context, pool *Pool, sql string, args ...any) (pgconn.CommandTag, error) {
	return pool.Exec(ctx, sql, args...)
}

// Query executes a statement that writes and returns rows, without the row of the audit log.
func (Unaudited) Query(ctx context.Context, pool *Pool, sql string, args ...any) (pgx.Rows, error) {
	return pool.Query(ctx, sql, args...)
}

// QueryRow executes a statement that writes and returns one row, without the row of the audit log.
func (Unaudited) QueryRow(ctx context.Context, pool *Pool, sql string, args ...any) pgx.Row {
	return pool.QueryRow(ctx, sql, args...)
}

// SendBatch executes writing statements, all or none.
func (Unaudited) SendBatch(ctx context.Context, pool *Pool, batch *pgx.Batch) error {
	return pool.SendBatch(ctx, batch).Close()
}

// InTx is [InTx] for writes that are not the subject of the request in ctx: the row of the audit
// log stays for another transaction.
func (Unaudited) InTx(ctx context.Context, pool *Pool, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return InTx(context.WithValue(ctx, txHookKey{}, nil), pool, fn)
}
