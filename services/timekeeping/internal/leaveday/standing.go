package leaveday

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

// The statuses of requests that use their days, or may use them after a decision: 2 submitted, 3
// pending, 4 approved, 6 cancel submitted. Package timeoff has all statuses.
const (
	readRequests = `
SELECT id, body FROM time_off_request
WHERE tenant_id = $1 AND employee_id = $2 AND from_day < $4 AND to_day >= $3 AND status IN (2, 3, 4, 6)`

	// No leave edit overlaps more than 366 days.
	readLeaveEdits = `
SELECT id, from_day, to_day, body FROM leave_edit
WHERE tenant_id = $1 AND employee_id = $2 AND from_day < $4 AND from_day > $3::date - 366 AND to_day >= $3`

	readTimecardEdits = `
SELECT id, apply_date, seconds, days, body FROM timecard_edit
WHERE tenant_id = $1 AND employee_id = $2 AND apply_date >= $3 AND apply_date < $4`
)

// standing reads the leave on days from this database, without the excepted entries.
func (d *Days) standing(ctx context.Context, tx pgx.Tx, days civil.Range, except []Source) (map[civil.Date][]Deduction, error) {
	out := map[civil.Date][]Deduction{}
	add := func(list ...Deduction) {
		for _, t := range list {
			if days.Contains(t.Day) && !slices.Contains(except, t.Source) {
				out[t.Day] = append(out[t.Day], t)
			}
		}
	}
	var id int64
	var first, last civil.Date
	var q amount.Quantity
	var body []byte
	var snapshot pg.Snapshot
	args := []any{tenant.Of(ctx), d.employeeID, days.From, days.To}
	snapshot.Queue(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&id, &body}, func() error {
			request := &timekeepingv1.TimeOffRequest{}
			if err := proto.Unmarshal(body, request); err != nil {
				return err
			}
			list, err := OfTimeOff(id, request)
			add(list...)
			return err
		})
		return err
	}, readRequests, args...)
	snapshot.Queue(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&id, &first, &last, &body}, func() error {
			edit := &timekeepingv1.LeaveEdit{}
			if err := proto.Unmarshal(body, edit); err != nil {
				return err
			}
			list, err := d.OfLeaveEdit(id, first, last, edit)
			add(list...)
			return err
		})
		return err
	}, readLeaveEdits, args...)
	snapshot.Queue(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&id, &first, &q.Seconds, (*int64)(&q.Days), &body}, func() error {
			edit := &timekeepingv1.TimecardPayCodeEdit{}
			if err := proto.Unmarshal(body, edit); err != nil {
				return err
			}
			if d.codes.AreLeave(edit.GetPaycode()) {
				add(OfTimecardEdit(id, first, q))
			}
			return nil
		})
		return err
	}, readTimecardEdits, args...)
	if err := snapshot.Read(ctx, tx); err != nil {
		return nil, err
	}
	return out, nil
}
