package timekeeping

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/device"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveedit"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeoff"
)

// Copies returns the projections of other domains that timekeeping keeps.
func Copies(pool *pg.Pool) []*replica.Replica { return []*replica.Replica{person.NewCopy(pool)} }

// Topics returns the data of timekeeping that other services copy.
func Topics() []replica.Topic {
	return append(setupname.Topics(), device.Topic(), signoff.Topic())
}

// LeaveStates returns the leave that scheduling should have, of up to limit employees of a tenant,
// for ids above after, sorted by id.
func LeaveStates(ctx context.Context, pool *pg.Pool, after int64, limit int) ([]*schedulingv1.EmployeeLeaveState, error) {
	return leaveedit.States(ctx, pool, after, limit)
}

// HandOverAgain makes timekeeping send all its data for schedules to scheduling again. Call it
// after one of the two databases was restored, in a transaction that may write rows of the tenant.
// leave lists the employees for whom scheduling has leave, and timeOff the requests for which it
// has time off, with their employees.
func HandOverAgain(ctx context.Context, tx pgx.Tx, leave []int64, timeOff map[int64]int64) error {
	if err := leaveedit.HandOverAgain(ctx, tx, leave); err != nil {
		return err
	}
	return timeoff.HandOverAgain(ctx, tx, timeOff)
}
