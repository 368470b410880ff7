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

// leaveOf returns the employees who have leave on their schedules, by tenant.
func leaveOf(ctx context.Context, pool *pg.Pool, tenants []int64) (map[int64][]int64, error) {
	scheduled := make(map[int64][]int64, len(tenants))
	for _, id := range tenants {
		employees, err := scheduling.EmployeesWithLeave(tenant.With(ctx, id), pool, id)
		if err != nil {
			return nil, err
		}
		scheduled[id] = employees
	}
	return scheduled, nil
}

// handOver notes, in a transaction in the database of timekeeping, that scheduling gets
// everything again that timekeeping decides about schedules. The sequences are raised by
// then.
func handOver(ctx context.Context, tx pgx.Tx, scheduled map[int64][]int64) error {
	for id, employees := range scheduled {
		if _, err := tx.Exec(ctx, setTenant, id); err != nil {
			return err
		}
		if err := timekeeping.HandOverAgain(ctx, tx, id, employees); err != nil {
			return fmt.Errorf("tenant %d: %w", id, err)
		}
	}
	return nil
}
