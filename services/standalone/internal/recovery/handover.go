package recovery

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/timekeeping"
)

// handedOver says why the rows of a handover have no row in the audit log of their own: the
// restore has one.
const handedOver pg.Unaudited = "the audit log says who finished the restore"

// scheduled is what schedules of a tenant have that timekeeping decides about.
type scheduled struct {
	// leave are the employees who have leave, and timeOff the requests that have time off,
	// with their employees.
	leave   []int64
	timeOff map[int64]int64
}

// readScheduled returns what schedules have, by tenant.
func readScheduled(ctx context.Context, pool *pg.Pool, tenants []int64) (map[int64]scheduled, error) {
	found := make(map[int64]scheduled, len(tenants))
	for _, id := range tenants {
		ctx := tenant.With(ctx, id)
		leave, err := scheduling.EmployeesWithLeave(ctx, pool, id)
		if err != nil {
			return nil, err
		}
		timeOff, err := scheduling.RequestsWithTimeOff(ctx, pool, id)
		if err != nil {
			return nil, err
		}
		found[id] = scheduled{leave, timeOff}
	}
	return found, nil
}

// handOver notes, in a transaction in the database of timekeeping, that scheduling gets
// everything again that timekeeping decides about schedules. The sequences are raised by
// then.
func handOver(ctx context.Context, tx pgx.Tx, found map[int64]scheduled) error {
	for id, s := range found {
		if _, err := tx.Exec(ctx, setTenant, id); err != nil {
			return err
		}
		if err := timekeeping.HandOverAgain(ctx, tx, id, s.leave, s.timeOff); err != nil {
			return fmt.Errorf("tenant %d: %w", id, err)
		}
	}
	return nil
}
