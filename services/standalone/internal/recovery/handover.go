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

// handedOver tells why the rows of a handover have no audit rows of their own: the restore has one.
const handedOver pg.Unaudited = "the audit log says who finished the restore"

// scheduled describes the part of a tenant's schedules that timekeeping decides about.
type scheduled struct {
	// leave lists the employees with leave; timeOff maps the requests with time off to their employees.
	leave   []int64
	timeOff map[int64]int64
}

// readScheduled returns the scheduled leave and time off, by tenant.
func readScheduled(ctx context.Context, pool *pg.Pool, tenants []int64) (map[int64]scheduled, error) {
	found := make(map[int64]scheduled, len(tenants))
	for _, id := range tenants {
		ctx := tenant.With(ctx, id)
		leave, err := scheduling.EmployeesWithLeave(ctx, pool)
		if err != nil {
			return nil, err
		}
		timeOff, err := scheduling.RequestsWithTimeOff(ctx, pool)
		if err != nil {
			return nil, err
		}
		found[id] = scheduled{leave, timeOff}
	}
	return found, nil
}

// handOver makes timekeeping send all of its decisions about schedules to scheduling again, in a transaction in
// the database of timekeeping. The sequences must be raised before.
func handOver(ctx context.Context, tx pgx.Tx, found map[int64]scheduled) error {
	for id, s := range found {
		if _, err := tx.Exec(ctx, setTenant, id); err != nil {
			return err
		}
		if err := timekeeping.HandOverAgain(tenant.With(ctx, id), tx, s.leave, s.timeOff); err != nil {
			return fmt.Errorf("tenant %d: %w", id, err)
		}
	}
	return nil
}
