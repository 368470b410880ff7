package scheduleevent

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/coveringedit"
)

const (
	countTimeOff = `
INSERT INTO time_off_head (tenant_id, employee_id, version)
SELECT $1, employee_id, 1 FROM unnest($2::bigint[]) AS u (employee_id) ORDER BY employee_id
ON CONFLICT (tenant_id, employee_id) DO UPDATE SET version = time_off_head.version + 1`

	readCovers = `
SELECT employee_id, from_day, to_day, body FROM schedule_item
WHERE tenant_id = $1 AND employee_id = ANY($2) AND covers AND NOT deleted AND NOT withdrawn ORDER BY employee_id, from_day, id`
)

// PublishTimeOff publishes changes of the edits that cover employees' shifts, in the transaction
// that locked their schedules and changed them. Each employee must appear once.
func PublishTimeOff(ctx context.Context, tx pgx.Tx, employeeIDs []int64) error {
	if len(employeeIDs) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, countTimeOff, tenant.Of(ctx), employeeIDs); err != nil {
		return fmt.Errorf("scheduleevent: count changes of time off: %w", err)
	}
	return PublishLeave(ctx, tx, employeeIDs)
}

// readTimeOff returns the intervals that employees' covering edits cover. Changes of locked days
// are rejected, so that these intervals need no snapshots.
func readTimeOff(ctx context.Context, tx pgx.Tx, employeeIDs []int64) (map[int64][]*schedulingv1.LeaveInterval, error) {
	halves := map[int64]map[civil.Date]int{}
	out := map[int64][]*schedulingv1.LeaveInterval{}
	var id int64
	var first, last civil.Date
	var body []byte
	err := pg.ForEach(ctx, tx, []any{&id, &first, &last, &body}, func() error {
		edit := &schedulingv1.PayCodeEdit{}
		if err := proto.Unmarshal(body, edit); err != nil {
			return err
		}
		amount, err := coveringedit.Of(edit)
		if err != nil {
			return err
		}
		for day := first; day <= last; day++ {
			switch {
			case amount.Half:
				if halves[id] == nil {
					halves[id] = map[civil.Date]int{}
				}
				if halves[id][day]++; halves[id][day] == 2 {
					out[id] = append(out[id], &schedulingv1.LeaveInterval{Day: int32(day)})
				}
			case amount.Full:
				out[id] = append(out[id], &schedulingv1.LeaveInterval{Day: int32(day)})
			case amount.End > 0:
				out[id] = append(out[id], &schedulingv1.LeaveInterval{
					Day: int32(day), StartSecond: amount.Start, EndSecond: amount.End,
					ShiftsFrom: proto.Int32(int32(day)), ShiftsTo: proto.Int32(int32(day + 1)),
				})
			}
		}
		return nil
	}, readCovers, tenant.Of(ctx), employeeIDs)
	if err != nil {
		return nil, fmt.Errorf("scheduleevent: read time off: %w", err)
	}
	return out, nil
}
