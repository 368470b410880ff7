package scheduleevent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const readLeave = `
SELECT employee_id, from_day, body FROM leave_edit
WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id, from_day, id`

// The versions of the histories that determine leave: leave edits and time off.
const leaveVersions = `
SELECT key, sum(version)::bigint FROM (
    SELECT employee_id AS key, version FROM leave_head WHERE tenant_id = $1 AND employee_id = ANY($2)
    UNION ALL SELECT employee_id, version FROM time_off_head WHERE tenant_id = $1 AND employee_id = ANY($2)
) AS heads GROUP BY key`

// PublishLeave publishes all leave of employees, in the transaction that locked and changed it. The
// ids can be unordered, and can repeat.
func PublishLeave(ctx context.Context, tx pgx.Tx, employeeIDs []int64) error {
	if len(employeeIDs) == 0 {
		return nil
	}
	revision, err := nextRevision(ctx, tx)
	if err != nil {
		return err
	}
	events, err := leaveEvents(ctx, tx, employeeIDs, revision)
	if err != nil {
		return err
	}
	return outbox.Append(ctx, tx, events...)
}

// leaveEvents returns the events with all leave of employees.
func leaveEvents(ctx context.Context, tx pgx.Tx, employeeIDs []int64, revision int64) ([]proto.Message, error) {
	versions, err := readVersions(ctx, tx, employeeIDs)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, readLeave, tenant.Of(ctx), employeeIDs)
	if err != nil {
		return nil, fmt.Errorf("scheduleevent: read leave: %w", err)
	}
	current := map[int64]*leave{}
	for _, id := range employeeIDs {
		current[id] = &leave{whole: map[civil.Date]int{}}
	}
	var id int64
	var day civil.Date
	var body []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &day, &body}, func() error { return current[id].add(day, body) }); err != nil {
		return nil, fmt.Errorf("scheduleevent: read leave: %w", err)
	}
	frozen, err := loadLockedLeave(ctx, tx, employeeIDs)
	if err != nil {
		return nil, err
	}
	off, err := readTimeOff(ctx, tx, employeeIDs)
	if err != nil {
		return nil, err
	}
	var events []proto.Message
	event, size := &schedulingv1.LeaveTaken{Revision: revision}, 0
	for _, id := range slices.Sorted(maps.Keys(current)) {
		version, exists := versions[id]
		intervals := append(frozen[id].merge(current[id].intervals()), off[id]...)
		employee := &schedulingv1.EmployeeLeave{EmployeeId: id, Intervals: intervals, Version: version, Deleted: !exists}
		if size > 0 && size+listedSize(employee) > eventBytes {
			events = append(events, event)
			event, size = &schedulingv1.LeaveTaken{Revision: revision}, 0
		}
		event.Employees = append(event.Employees, employee)
		size += listedSize(employee)
	}
	return append(events, event), nil
}

func readVersions(ctx context.Context, tx pgx.Tx, employeeIDs []int64) (map[int64]int64, error) {
	versions := map[int64]int64{}
	var id, version int64
	if err := pg.ForEach(ctx, tx, []any{&id, &version}, func() error {
		versions[id] = version
		return nil
	}, leaveVersions, tenant.Of(ctx), employeeIDs); err != nil {
		return nil, fmt.Errorf("scheduleevent: read versions of leave: %w", err)
	}
	return versions, nil
}

// leave is the leave that covers an employee's shifts. whole counts half days: from two on the day
// is covered completely.
type leave struct {
	whole map[civil.Date]int
	timed []interval
}

// interval is a time in seconds after the midnight of a day.
type interval struct {
	day        civil.Date
	start, end int32
}

const (
	fullDay = "FULL_DAY"
	halfDay = "HALF_DAY"
)

func (l *leave) add(day civil.Date, body []byte) error {
	edit := &schedulingv1.LeaveEdit{}
	if err := proto.Unmarshal(body, edit); err != nil {
		return err
	}
	paid, tracked := edit.GetPaidSegment().GetSymbolicValue().GetQualifier(), edit.GetTrackingSegment().GetSymbolicValue().GetQualifier()
	switch {
	case edit.GetStartTime() != "":
		from, to, err := seconds(day, edit.GetStartDate()+"T"+edit.GetStartTime(), edit.GetEndDate()+"T"+edit.GetEndTime())
		if err != nil {
			return err
		}
		l.timed = append(l.timed, interval{day, from, to})
	case paid == fullDay || tracked == fullDay:
		l.whole[day] += 2
	case paid == halfDay || tracked == halfDay:
		l.whole[day]++
	}
	return nil
}

// intervals returns whole days, and times joined where they touch.
func (l *leave) intervals() []*schedulingv1.LeaveInterval {
	var out []*schedulingv1.LeaveInterval
	for _, day := range slices.Sorted(maps.Keys(l.whole)) {
		if l.whole[day] >= 2 {
			out = append(out, &schedulingv1.LeaveInterval{Day: int32(day)})
		}
	}
	slices.SortFunc(l.timed, func(a, b interval) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.start, b.start))
	})
	var last *schedulingv1.LeaveInterval
	for _, t := range l.timed {
		if last != nil {
			if between := int64(t.day-civil.Date(last.Day)) * civil.SecondsPerDay; between+int64(t.start) <= int64(last.EndSecond) {
				last.EndSecond = max(last.EndSecond, int32(between)+t.end)
				continue
			}
		}
		last = &schedulingv1.LeaveInterval{Day: int32(t.day), StartSecond: t.start, EndSecond: t.end}
		out = append(out, last)
	}
	return out
}
