package propagation

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

const resetFailed = `
UPDATE propagation SET error = '', moved_at = clock_timestamp(), reminders = 0,
    state = CASE WHEN started_at IS NULL THEN 'ACCEPTED' ELSE 'RUNNING' END
WHERE tenant_id = $1 AND id = $2 AND state = 'FAILED'
RETURNING state`

// Replay sets a failed propagation of the tenant in ctx going again, with what
// it has not done. One that has not failed is an error.
func Replay(ctx context.Context, pool *pgxpool.Pool, id int64) error {
	tenantID, err := tenantOf(ctx)
	if err != nil {
		return err
	}
	return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		var state string
		err := tx.QueryRow(ctx, resetFailed, tenantID, id).Scan(&state)
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.Conflict(fault.CodeConflict, "There is no failed propagation with this id.")
		}
		if err == nil {
			err = request(ctx, tx, propagationKey{tenantID, id}, state == StateAccepted)
		}
		if err != nil {
			return fmt.Errorf("propagation: replay: %w", err)
		}
		return nil
	})
}
