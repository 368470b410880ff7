package scheduleevent

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	readLocks = `
SELECT employee_id, from_date, to_date FROM day_lock
WHERE tenant_id = $1 AND employee_id = ANY($2)`

	readLockedLeave = `
SELECT employee_id, lock_from, lock_to, from_day, body FROM locked_leave
WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id, lock_from, from_day, id`

	// maxShift is how many days before the leave a shift that it covers can begin.
	maxShift = 8
)

// frozenLeave is the leave that covers shifts on an employee's locked days.
type frozenLeave struct {
	locks     []civil.Range
	snapshots []leaveSnapshot
}

// leaveSnapshot is the leave at the time when days were locked.
type leaveSnapshot struct {
	days  civil.Range
	leave leave
}

// loadLockedLeave reads the locks of employees, and the leave at the time of the locks. Employees
// without locks are absent.
func loadLockedLeave(ctx context.Context, tx pgx.Tx, employeeIDs []int64) (map[int64]*frozenLeave, error) {
	tenantID := tenant.Of(ctx)
	found := map[int64]*frozenLeave{}
	entry := func(id int64) *frozenLeave {
		if found[id] == nil {
			found[id] = &frozenLeave{}
		}
		return found[id]
	}
	var id int64
	var days civil.Range
	var day civil.Date
	var body []byte
	batch := &pgx.Batch{}
	batch.Queue(readLocks, tenantID, employeeIDs).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&id, &days.From, &days.To}, func() error {
			entry(id).locks = append(entry(id).locks, days)
			return nil
		})
		return err
	})
	batch.Queue(readLockedLeave, tenantID, employeeIDs).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&id, &days.From, &days.To, &day, &body}, func() error {
			f := entry(id)
			if last := len(f.snapshots) - 1; last < 0 || f.snapshots[last].days != days {
				f.snapshots = append(f.snapshots, leaveSnapshot{days, leave{whole: map[civil.Date]int{}}})
			}
			return f.snapshots[len(f.snapshots)-1].leave.add(day, body)
		})
		return err
	})
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("scheduleevent: read leave of locked days: %w", err)
	}
	for _, f := range found {
		f.locks = civil.Normalise(f.locks)
	}
	return found, nil
}

// merge returns the effective leave: the current leave for shifts on open days, and the snapshots
// for shifts on locked days.
func (f *frozenLeave) merge(now []*schedulingv1.LeaveInterval) []*schedulingv1.LeaveInterval {
	if f == nil {
		return now
	}
	var out []*schedulingv1.LeaveInterval
	for _, s := range now {
		first, last := coveredDays(s)
		open := civil.AppendDifference(nil, []civil.Range{{From: first, To: last + 1}}, f.locks)
		if len(open) == 1 && open[0].From == first && open[0].To == last+1 {
			out = append(out, s)
			continue
		}
		for _, days := range open {
			out = append(out, limit(s, days))
		}
	}
	for _, k := range f.snapshots {
		for _, s := range k.leave.intervals() {
			out = append(out, limit(s, k.days))
		}
	}
	return out
}

// coveredDays returns the first and the last day of shifts that leave can cover.
func coveredDays(s *schedulingv1.LeaveInterval) (first, last civil.Date) {
	day := civil.Date(s.GetDay())
	if s.GetEndSecond() == 0 {
		return day, day
	}
	return day.AddDays(-maxShift), day.AddDays(int(s.GetEndSecond()-1) / civil.SecondsPerDay)
}

// limit returns leave that covers only shifts of some days.
func limit(s *schedulingv1.LeaveInterval, days civil.Range) *schedulingv1.LeaveInterval {
	out := proto.CloneOf(s)
	out.ShiftsFrom, out.ShiftsTo = proto.Int32(int32(days.From)), proto.Int32(int32(days.To))
	return out
}
