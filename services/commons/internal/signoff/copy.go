// Package signoff keeps a copy of the last signed-off days of timekeeping. Wages on such days do not
// change.
package signoff

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// NewCopy returns the copy of the last signed-off days in the database of the pool.
func NewCopy(pool *pg.Pool) *replica.Replica {
	return replica.New(pool, replica.Copy[*timekeepingv1.TimecardSignoffChanged]{
		Service: "commons", Event: &timekeepingv1.TimecardSignoffChanged{}, Apply: apply,
	})
}

const (
	removeDays = `DELETE FROM timecard_signoff WHERE tenant_id = $1 AND person_id = ANY($2)`

	// A person may have been deleted in the meantime.
	insertDays = `
INSERT INTO timecard_signoff (tenant_id, person_id, through)
SELECT $1, q.id, q.through FROM unnest($2::bigint[], $3::date[]) AS q (id, through)
JOIN person p ON p.tenant_id = $1 AND p.id = q.id`
)

func apply(ctx context.Context, tx pgx.Tx, changes []replica.Change[*timekeepingv1.TimecardSignoffChanged]) error {
	var changed, signed []int64
	var through []civil.Date
	for _, c := range changes {
		changed = append(changed, c.Key)
		text := c.State.GetThrough()
		if c.Deleted || text == "" {
			continue
		}
		day, err := civil.ParseDate(text)
		if err != nil {
			return bus.Permanent(fmt.Errorf("read a sign-off: %w", err))
		}
		signed, through = append(signed, c.Key), append(through, day)
	}
	if _, err := tx.Exec(ctx, removeDays, tenant.Of(ctx), changed); err != nil {
		return fmt.Errorf("remove signed-off days: %w", err)
	}
	if _, err := tx.Exec(ctx, insertDays, tenant.Of(ctx), signed, through); err != nil {
		return fmt.Errorf("store signed-off days: %w", err)
	}
	return nil
}
