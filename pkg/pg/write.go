package pg

import (
	"context"

	"github.com/jackc/pgx/v5"
)

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
