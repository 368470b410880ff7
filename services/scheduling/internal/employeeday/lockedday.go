package employeeday

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const readLocks = `
SELECT employee_id, from_date, to_date FROM day_lock
WHERE tenant_id = $1 AND employee_id = ANY($2) AND from_date < $4 AND to_date > $3 ORDER BY employee_id, from_date`

// lockedDays returns the locked days of employees that overlap the range.
func (h *Handler) lockedDays(ctx context.Context, ids []int64, days civil.Range) (map[int64]*schedulingv1.EmployeeDays, error) {
	out := map[int64]*schedulingv1.EmployeeDays{}
	var id int64
	var locked civil.Range
	if err := pg.ForEach(ctx, h.pool, []any{&id, &locked.From, &locked.To}, func() error {
		if out[id] == nil {
			out[id] = &schedulingv1.EmployeeDays{EmployeeId: id}
		}
		out[id].LockedDays = append(out[id].LockedDays, &schedulingv1.LockedDays{From: int32(locked.From), To: int32(locked.To)})
		return nil
	}, readLocks, tenant.Of(ctx), ids, days.From, days.To); err != nil {
		return nil, fmt.Errorf("read locked days: %w", err)
	}
	return out, nil
}
