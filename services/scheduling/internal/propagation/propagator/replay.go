package propagator

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	resetFailed = `
UPDATE propagation p SET error = '', moved_at = clock_timestamp(), reminders = 0,
    state = CASE WHEN p.applied_by IS NULL THEN 'ACCEPTED' ELSE 'RUNNING' END
FROM propagation r
WHERE p.tenant_id = $1 AND p.state = 'FAILED' AND r.tenant_id = $1 AND r.id = $2
    AND coalesce(p.applied_by, p.id) = coalesce(r.applied_by, r.id)
RETURNING coalesce(p.applied_by, p.id)`

	resetBatches = `
UPDATE propagation_batch SET state = 'WAITING' WHERE tenant_id = $1 AND propagation_id = $2 AND state = 'FAILED'`
)

// Replay restarts a failed propagation of the tenant in ctx with its remaining batches. It returns
// an error if the propagation has not failed.
func Replay(ctx context.Context, pool *pg.Pool, id int64, now time.Time) error {
	tenantID := tenant.Of(ctx)
	return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockWindow.Wait(ctx, tx); err != nil {
			return fmt.Errorf("propagation: replay: %w", err)
		}
		rows, err := tx.Query(ctx, resetFailed, tenantID, id)
		if err != nil {
			return fmt.Errorf("propagation: replay: %w", err)
		}
		appliedBy, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err == nil && len(appliedBy) == 0 {
			return fault.Conflict(fault.CodeConflict, "There is no failed propagation with this id.")
		}
		if err == nil {
			_, err = tx.Exec(ctx, resetBatches, tenantID, appliedBy[0])
		}
		if err == nil {
			// The planner also requests the waiting batches.
			err = outbox.Append(ctx, tx, &schedulingv1.PropagationRequested{PropagationId: appliedBy[0]})
		}
		if err == nil {
			err = audit.Operated(ctx, tx, now, "propagation replay", strconv.FormatInt(id, 10))
		}
		if err != nil {
			return fmt.Errorf("propagation: replay: %w", err)
		}
		return nil
	})
}
