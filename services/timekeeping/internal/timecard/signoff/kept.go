package signoff

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/dayschedule"
)

const (
	readScheduleFrom = `
SELECT through, schedule_from FROM timecard_signoff WHERE tenant_id = $1 AND employee_id = $2 AND through >= $3 ORDER BY through`

	readSchedules = `
SELECT day, schedule FROM signed_day
WHERE tenant_id = $1 AND employee_id = $2 AND day >= $3 AND day < $4 AND schedule IS NOT NULL`

	// A day without content has an empty body.
	keepSchedules = `
INSERT INTO signed_day (tenant_id, employee_id, day, worked, week, body, schedule, schedule_changed)
SELECT $1, $2, q.day, 0, 0, '', q.schedule, q.changed FROM unnest($3::date[], $4::bytea[], $5::bool[]) AS q (day, schedule, changed)
ON CONFLICT (tenant_id, employee_id, day) DO UPDATE SET schedule = excluded.schedule, schedule_changed = signed_day.schedule_changed OR excluded.schedule_changed`
)

// readPaidSchedule returns the entries of the schedule that signed-off days of an employee were paid by.
// Open days are missing.
//
// Some days have no stored schedule; their entries are in assumed, too. An older program signed
// them off, and they count as paid by the present schedule. Or they are before the first stored day of the
// first sign-off, where only shifts are possible: their pay code edits would have been stored.
func readPaidSchedule(ctx context.Context, tx pgx.Tx, k *known, days civil.Range) (paid, assumed dayschedule.Days, err error) {
	tenantID := tenant.Of(ctx)
	present := dayschedule.Split(k.of[k.id].Schedule, days)
	paid, assumed = dayschedule.Days{}, dayschedule.Days{}
	next := days.From
	var through civil.Date
	var from *civil.Date
	err = pg.ForEach(ctx, tx, []any{&through, &from}, func() error {
		for ; next <= min(through, days.To-1); next++ {
			switch {
			case from == nil:
				assumed[next] = present[next]
			case next < *from:
				assumed[next] = &schedulingv1.EmployeeDays{Shifts: present[next].GetShifts()}
			default:
				paid[next] = &schedulingv1.EmployeeDays{}
			}
		}
		return nil
	}, readScheduleFrom, tenantID, k.id, days.From)
	if err != nil {
		return nil, nil, fmt.Errorf("read sign-offs: %w", err)
	}
	var day civil.Date
	var body []byte
	err = pg.ForEach(ctx, tx, []any{&day, &body}, func() error {
		delete(assumed, day)
		paid[day] = &schedulingv1.EmployeeDays{}
		return proto.Unmarshal(body, paid[day])
	}, readSchedules, tenantID, k.id, days.From, days.To)
	if err != nil {
		return nil, nil, fmt.Errorf("read the schedule of signed-off days: %w", err)
	}
	maps.Copy(paid, assumed)
	return paid, assumed, nil
}

// keepPaid returns the data of other services with the schedule that signed-off days were paid by,
// because only a comparison pays a change of the schedule. It stores the schedule of days that have none.
func keepPaid(ctx context.Context, tx pgx.Tx, k *known) (*known, error) {
	paid, assumed, err := readPaidSchedule(ctx, tx, k, calculation.Around(k.days))
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(assumed, func(day civil.Date, _ *schedulingv1.EmployeeDays) bool { return !k.days.Contains(day) })
	if err := keep(ctx, tx, k.id, assumed, nil); err != nil {
		return nil, err
	}
	return k.replaceSchedule(paid), nil
}

// keep stores the schedule that signed-off days are paid by. Changed days had another one at the sign-off.
func keep(ctx context.Context, tx pgx.Tx, employeeID int64, paid dayschedule.Days, changed map[civil.Date]bool) error {
	if len(paid) == 0 {
		return nil
	}
	days := slices.Sorted(maps.Keys(paid))
	bodies, marks := make([][]byte, len(days)), make([]bool, len(days))
	for i, day := range days {
		body, err := proto.Marshal(paid[day])
		if err != nil {
			return err
		}
		bodies[i], marks[i] = body, changed[day]
	}
	if _, err := tx.Exec(ctx, keepSchedules, tenant.Of(ctx), employeeID, days, bodies, marks); err != nil {
		return fmt.Errorf("keep the schedule of signed-off days: %w", err)
	}
	return nil
}
