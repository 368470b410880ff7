package calculation

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// WorkedTime returns the totals of up to 500 employees on up to 366 days, in the order of the ids,
// from one snapshot. It does not check which employees the caller may see. It calls commons, so do
// not call it inside a transaction.
func (r *Reader) WorkedTime(ctx context.Context, ids []int64, days civil.Range) ([]*timekeepingv1.EmployeeWorkedTime, error) {
	if err := checkSize(len(ids), days, MaxEmployees*MaxDays); err != nil {
		return nil, err
	}
	timecards, err := r.Read(ctx, ids, Window{Days: days})
	if err != nil {
		return nil, err
	}
	out := make([]*timekeepingv1.EmployeeWorkedTime, len(timecards))
	for i, c := range timecards {
		out[i] = c.WorkedTime()
	}
	return out, nil
}

// checkSize refuses reads of too many employees or days, or of no day.
func checkSize(employees int, days civil.Range, maxEmployeeDays int) error {
	if days.Empty() {
		return fault.Invalid(fault.CodeBadRequest, "The range has no days.")
	}
	for _, l := range []struct {
		quantity        string
		actual, allowed int
	}{
		{"employees", employees, MaxEmployees},
		{"days", days.Days(), MaxDays},
		{"employees * days", employees * days.Days(), maxEmployeeDays},
	} {
		if l.actual > l.allowed {
			return fault.OverLimit(fault.CodeBadRequest, http.StatusBadRequest, l.quantity+" in the request", l.actual, l.allowed, fault.SplitRequest)
		}
	}
	return nil
}

// WorkedTime returns the totals of a card.
func (c *Timecard) WorkedTime() *timekeepingv1.EmployeeWorkedTime {
	out := &timekeepingv1.EmployeeWorkedTime{EmployeeId: c.ID}
	for _, d := range c.NonEmptyDays() {
		out.Totals = append(out.Totals, d.GetTotals()...)
		for _, e := range d.GetExceptions() {
			if name := e.GetExceptionType().GetName(); name == string(worktime.MissedIn) || name == string(worktime.MissedOut) {
				out.MissedPunches++
			}
		}
	}
	if c.Through != nil {
		out.SignedOffThrough = c.Through.String()
	}
	out.PayRule, _ = c.setup.Rules.On(c.of.PayRule(c.Days.To-1), c.Days.To-1)
	return out
}

// WorkedShifts returns the shifts that up to 500 employees worked on up to 366 days, and on up to
// 30,000 employee days, in the order of the ids. It leaves out employees without a shift.
// Signed-off days are calculated from their present punches. It does not check which employees the
// caller may see. It calls other services, so do not call it inside a transaction.
func (r *Reader) WorkedShifts(ctx context.Context, ids []int64, days civil.Range) ([]*schedulingv1.EmployeeWorkedShifts, error) {
	if err := checkSize(len(ids), days, MaxEmployeeDays); err != nil {
		return nil, err
	}
	// The stored data of signed-off days has the displayed times of shifts, but not their instants.
	timecards, err := r.Read(ctx, ids, Window{Days: days, Signed: true, Across: true})
	if err != nil {
		return nil, err
	}
	var out []*schedulingv1.EmployeeWorkedShifts
	for _, c := range timecards {
		if list := c.actualShifts(); len(list) > 0 {
			out = append(out, &schedulingv1.EmployeeWorkedShifts{EmployeeId: c.ID, Shifts: list})
		}
	}
	return out, nil
}

// actualShifts returns the shifts on the card's days that are not empty.
func (c *Timecard) actualShifts() []*schedulingv1.WorkedShift {
	var out []*schedulingv1.WorkedShift
	for i := range c.result.Shifts {
		shift := &c.result.Shifts[i]
		if !c.Days.Contains(shift.Day) {
			continue
		}
		if s := c.actualShift(shift); s.GetStart() < s.GetEnd() {
			out = append(out, s)
		}
	}
	return out
}

func (c *Timecard) actualShift(shift *worktime.Shift) *schedulingv1.WorkedShift {
	last := &shift.Spans[len(shift.Spans)-1]
	s := &schedulingv1.WorkedShift{Start: shift.Spans[0].Start, End: last.End}
	if first := shift.Spans[0].In; first >= 0 {
		s.StartPunchId = c.punches[first].ID
	}
	for _, item := range shift.Items {
		s.Work = append(s.Work, item.Start, item.End)
	}
	if shift.Running {
		s.End = max(last.Start, c.input.Now)
	}
	for i, n := range shift.Scheduled {
		planned := c.input.Schedule[n]
		if i == 0 {
			s.ScheduledStart = proto.Int64(planned.Start)
		}
		if shift.Running {
			s.End = max(s.End, planned.End)
		}
	}
	if shift.Running && last.Start < s.GetEnd() {
		s.Work = append(s.Work, last.Start, s.GetEnd())
	}
	return s
}

// Worked returns the work of a day.
func (c *Timecard) Worked(day civil.Date) worktime.Worked { return c.result.Days[day] }

// Running returns the day of a running shift, if the days of the card have one.
func (c *Timecard) Running() (civil.Date, bool) {
	for i := range c.result.Shifts {
		if shift := &c.result.Shifts[i]; shift.Running && shift.Day < c.Days.To {
			return shift.Day, true
		}
	}
	return 0, false
}

// OpenFrom returns the instant from which punches belong to days after the timecard: the start of
// the day after it, moved if the shifts around it have punches on the other side of that start.
func (c *Timecard) OpenFrom() int64 {
	open := c.input.Rule(c.Days.To).DayStartIn(c.clocks.On(c.Days.To), c.Days.To)
	for punch, day := range c.repeatedPunches() {
		if day < c.Days.To {
			open = max(open, c.punches[punch].At+1)
		}
	}
	for i := range c.result.Shifts {
		shift := &c.result.Shifts[i]
		for _, span := range shift.Spans {
			for _, punch := range []int{span.In, span.Out} {
				switch {
				case punch < 0:
				case shift.Day >= c.Days.To:
					open = min(open, c.punches[punch].At)
				default:
					open = max(open, c.punches[punch].At+1)
				}
			}
		}
	}
	return open
}

const (
	// readWorkedOn reads the work of signed-off days with later corrections, without days that have
	// no work. The row without a day contains the last signed-off day.
	readWorkedOn = `
SELECT NULL::date, NULL::bigint, (SELECT max(through) FROM timecard_signoff WHERE tenant_id = $1 AND employee_id = $2)
UNION ALL
SELECT day, worked, NULL FROM signed_day WHERE tenant_id = $1 AND employee_id = $2 AND day >= $3 AND day < $4 AND worked <> 0`

	// workedOnTries is the maximum number of attempts if a timecard is signed off or reopened
	// during the read.
	workedOnTries = 3
)

var errSignedWhileReading = fault.Conflict(fault.CodeStale, "The timecard was signed off or opened while it was read. Try again.")

// WorkedOn returns the paid seconds that an employee worked on each past day of a range. Past days
// are before today on the clock of the employee. Signed-off days use the work at the sign-off plus
// later corrections. Other days are calculated, so the cost grows with their number. Days without
// work are missing. It calls other services, so do not call it inside a transaction.
func (r *Reader) WorkedOn(ctx context.Context, employeeID int64, days civil.Range) (map[civil.Date]int64, error) {
	var out map[civil.Date]int64
	var err error
	for range workedOnTries {
		if out, err = r.tryWorkedOn(ctx, employeeID, days); !errors.Is(err, errSignedWhileReading) {
			return out, err
		}
	}
	return out, err
}

func (r *Reader) tryWorkedOn(ctx context.Context, employeeID int64, days civil.Range) (map[civil.Date]int64, error) {
	out, through, err := r.signedWork(ctx, employeeID, days)
	if err != nil {
		return nil, err
	}
	// No time zone is more than one day ahead of UTC.
	open := civil.Range{From: days.From, To: min(days.To, civil.FromTime(r.Now(ctx).UTC())+1)}
	if through != nil {
		open.From = max(open.From, *through+1)
	}
	for from := open.From; from < open.To; from += MaxDays {
		part := civil.Range{From: from, To: min(from+MaxDays, open.To)}
		timecards, err := r.Read(ctx, []int64{employeeID}, Window{Days: part})
		if err != nil {
			return nil, err
		}
		c := timecards[0]
		if !sameDay(c.Through, through) {
			return nil, errSignedWhileReading
		}
		today := c.clocks.At(r.Now(ctx)).Date
		for day := part.From; day < min(part.To, today); day++ {
			if seconds := c.Worked(day).All; seconds != 0 {
				out[day] = seconds
			}
		}
	}
	return out, nil
}

// signedWork returns the work of signed-off days, and the last signed-off day or nil.
func (r *Reader) signedWork(ctx context.Context, employeeID int64, days civil.Range) (map[civil.Date]int64, *civil.Date, error) {
	type row struct {
		day, through *civil.Date
		seconds      *int64
	}
	rows, err := pg.Collect(ctx, r.pool, func(from pgx.CollectableRow) (row, error) {
		var of row
		err := from.Scan(&of.day, &of.seconds, &of.through)
		return of, err
	}, readWorkedOn, tenant.Of(ctx), employeeID, days.From, days.To)
	if err != nil {
		return nil, nil, fmt.Errorf("read what was worked on signed-off days: %w", err)
	}
	out := make(map[civil.Date]int64, len(rows))
	var through *civil.Date
	for _, of := range rows {
		if of.day == nil {
			through = of.through
		} else {
			out[*of.day] = *of.seconds
		}
	}
	return out, through, nil
}

func sameDay(a, b *civil.Date) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
