package approval

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	makeHeads = `
INSERT INTO timecard_head (tenant_id, employee_id) SELECT $1, e FROM unnest($2::bigint[]) AS e ORDER BY e ON CONFLICT DO NOTHING`

	lockHeads = `
SELECT employee_id FROM timecard_head WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id FOR UPDATE`
)

// lockCards locks the timecards of employees for changes. The ids have no duplicates.
func lockCards(ctx context.Context, tx pgx.Tx, ids []int64) error {
	tenantID := tenant.Of(ctx)
	if _, err := tx.Exec(ctx, makeHeads, tenantID, ids); err != nil {
		return fmt.Errorf("lock timecards: %w", err)
	}
	if _, err := tx.Exec(ctx, lockHeads, tenantID, ids); err != nil {
		return fmt.Errorf("lock timecards: %w", err)
	}
	return nil
}

// InLock runs a change in a transaction that locks the timecards of employees.
func InLock(ctx context.Context, pool *pg.Pool, ids []int64, fn func(context.Context, pgx.Tx) error) error {
	return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockCards(ctx, tx, ids); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}
