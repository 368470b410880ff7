package card

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// WorkedTime returns what the timecards of up to 500 employees add up to on up to 366
// days, in the order of the ids, as it is at one moment. It narrows nothing to whom a
// caller may see. It calls commons, so that it has no place in a transaction.
func (r *Reader) WorkedTime(ctx context.Context, tenantID int64, ids []int64, days civil.Range) ([]*timekeepingv1.EmployeeWorkedTime, error) {
	if n := len(ids); n > MaxEmployees || days.Empty() || days.Days() > MaxDays {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d employees on %d days are more than the allowed %d on %d, or none.", n, days.Days(), MaxEmployees, MaxDays))
	}
	cards, err := r.Read(ctx, tenantID, ids, Window{Days: days})
	if err != nil {
		return nil, err
	}
	out := make([]*timekeepingv1.EmployeeWorkedTime, len(cards))
	for i, c := range cards {
		out[i] = c.WorkedTime()
	}
	return out, nil
}

// WorkedTime returns what a card adds up to.
func (c *Card) WorkedTime() *timekeepingv1.EmployeeWorkedTime {
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

// WorkedShifts returns the shifts that up to 500 employees worked on up to 366 days, and on up
// to 30,000 days of all of them, in the order of the ids; employees without a shift are left
// out. Days that are signed off are calculated from their punches of today. It narrows nothing
// to whom a caller may see. It calls other services, so that it has no place in a transaction.
func (r *Reader) WorkedShifts(ctx context.Context, tenantID int64, ids []int64, days civil.Range) ([]*schedulingv1.EmployeeWorkedShifts, error) {
	if n := len(ids); n > MaxEmployees || days.Empty() || days.Days() > MaxDays || n*days.Days() > MaxEmployeeDays {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d employees on %d days are more than the allowed %d on %d or %d together, or none.",
			n, days.Days(), MaxEmployees, MaxDays, MaxEmployeeDays))
	}
	// Days that are signed off keep what they show of a shift, and not its instants.
	cards, err := r.Read(ctx, tenantID, ids, Window{Days: days, Signed: true, Across: true})
	if err != nil {
		return nil, err
	}
	var out []*schedulingv1.EmployeeWorkedShifts
	for _, c := range cards {
		if list := c.actualShifts(); len(list) > 0 {
			out = append(out, &schedulingv1.EmployeeWorkedShifts{EmployeeId: c.ID, Shifts: list})
		}
	}
	return out, nil
}

// actualShifts returns the shifts of the card's days that have some length.
func (c *Card) actualShifts() []*schedulingv1.WorkedShift {
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

func (c *Card) actualShift(shift *worktime.Shift) *schedulingv1.WorkedShift {
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

// Worked returns what was worked on a day.
func (c *Card) Worked(day civil.Date) worktime.Worked { return c.result.Days[day] }

// Running returns the day of a shift that goes on, if there is one on the days of the card.
func (c *Card) Running() (civil.Date, bool) {
	for i := range c.result.Shifts {
		if shift := &c.result.Shifts[i]; shift.Running && shift.Day < c.Days.To {
			return shift.Day, true
		}
	}
	return 0, false
}

// OpenFrom returns the instant from which punches belong to days after those of the
// timecard: the time at which the first of these days begins, but for punches of shifts that
// cross it.
func (c *Card) OpenFrom() int64 {
	open := c.input.Rule(c.Days.To).DayStartIn(c.zone, c.Days.To)
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
