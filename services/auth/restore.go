package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
)

// TenantIDs returns the tenants in the database of auth.
func TenantIDs(ctx context.Context, pool *pg.Pool) ([]int64, error) {
	rows, err := pool.Query(tenant.All(ctx), `SELECT id FROM tenant ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

const endingTokens pg.Unaudited = "the audit row of the operator's command covers this"

// EndAllTokens revokes all access tokens and refresh tokens of the tenants that were issued until now, by the
// clock of the database. Tokens that are issued within the same second are revoked too.
func EndAllTokens(ctx context.Context, pool *pg.Pool, tenants []int64) error {
	for _, id := range tenants {
		err := endingTokens.InTx(tenant.With(ctx, id), pool, func(ctx context.Context, tx pgx.Tx) error {
			var now time.Time
			if err := tx.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
				return fmt.Errorf("read the clock: %w", err)
			}
			return revoked.Everything(ctx, tx, now)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
