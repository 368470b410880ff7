package ruleviolation

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleevaluation"
)

// readTimecards is the permission that whoever learns of actual hours needs, beside that of
// the operation.
const readTimecards = "timekeeping.timecard.read"

// What timekeeping is asked for at once.
const (
	maxWorkedEmployees    = 500
	maxWorkedDays         = 366
	maxWorkedEmployeeDays = 15_000
)

// daysAround is how many days before the first one a shift can begin that reaches into it,
// and after the last one that begins in it: a shift lasts at most a day, and timekeeping
// goes by the clock where punches are made, which can be on another day than that of the
// employee.
const daysAround = 2

// actual is what employees worked on days that are over.
type actual struct {
	// today is when the day of the employee begins, in Unix seconds.
	today  map[int64]int64
	worked map[int64][]ruleevaluation.Worked
}

// actualOf returns what employees worked, when a rule set of a plan uses it.
func (h *Handler) actualOf(ctx context.Context, p *plan, days civil.Range, employees []projection.Employee) (*actual, error) {
	var window civil.Range
	using := ""
	for i := range p.sets {
		s := &p.sets[i]
		if !s.actual || len(s.rules) == 0 {
			continue
		}
		need := s.calendar.Window(days, s.rules)
		if using == "" {
			window, using = need, s.ref.GetQualifier()
		}
		window = civil.Range{From: min(window.From, need.From), To: max(window.To, need.To)}
	}
	if using == "" {
		return nil, nil
	}
	if caller, ok := authn.From(ctx); ok && !caller.IsService() && !caller.Has(readTimecards) {
		return nil, fault.Forbidden(fault.CodeNoAccess, fmt.Sprintf("The rule set %.100q uses actual hours: it needs the permission %s. "+
			"Ask an administrator for it, or name other rule sets.", using, readTimecards))
	}
	out := &actual{today: make(map[int64]int64, len(employees)), worked: map[int64][]ruleevaluation.Worked{}}
	now := h.Clock.Now()
	last := civil.Beginning
	for i := range employees {
		e := &employees[i]
		day := e.Zone.At(now).Date
		last = max(last, day)
		out.today[e.ID] = e.Zone.Unix(day.At(0))
	}
	window = civil.Range{From: max(window.From-daysAround, civil.Beginning), To: min(window.To, last) + daysAround}
	return out, h.readWorked(ctx, out, window, employees)
}

// readWorked asks timekeeping for what employees worked, in bounded calls.
func (h *Handler) readWorked(ctx context.Context, out *actual, window civil.Range, employees []projection.Employee) error {
	for from := window.From; from < window.To; from += maxWorkedDays {
		days := civil.Range{From: from, To: min(from+maxWorkedDays, window.To)}
		atOnce := min(maxWorkedEmployees, maxWorkedEmployeeDays/days.Days())
		for first := 0; first < len(employees); first += atOnce {
			part := employees[first:min(first+atOnce, len(employees))]
			req := &timekeepingv1.ReadWorkedShiftsRequest{From: int32(days.From), To: int32(days.To), EmployeeIds: make([]int64, len(part))}
			for i := range part {
				req.EmployeeIds[i] = part[i].ID
			}
			response, err := h.Worked.ReadWorkedShifts(ctx, req)
			if err != nil {
				return fmt.Errorf("read what was worked: %w", err)
			}
			for _, e := range response.GetEmployees() {
				for _, s := range e.GetShifts() {
					out.worked[e.GetEmployeeId()] = append(out.worked[e.GetEmployeeId()], workedShift(s))
				}
			}
		}
	}
	return nil
}

func workedShift(s *timekeepingv1.ActualShift) ruleevaluation.Worked {
	out := ruleevaluation.Worked{
		Shift: ruleevaluation.Shift{
			ID: s.GetStartPunchId(), Worked: true, Interval: ruleevaluation.Interval{Start: s.GetStart(), End: s.GetEnd()},
		},
		Scheduled: s.ScheduledStart,
	}
	for work := s.GetWork(); len(work) > 1; work = work[2:] {
		out.Work = append(out.Work, ruleevaluation.Interval{Start: work[0], End: work[1]})
	}
	return out
}

// shifts returns what rules on actual hours measure of an employee.
func (a *actual) shifts(id int64, scheduled []ruleevaluation.Shift) []ruleevaluation.Shift {
	return ruleevaluation.Actual(scheduled, a.worked[id], a.today[id])
}

// showWorked shows a worked shift by the clock of its employee.
func showWorked(zone *civil.Zone, s *ruleevaluation.Shift) *schedulingv1.ScheduleRuleWorkedShift {
	out := &schedulingv1.ScheduleRuleWorkedShift{StartDateTime: zone.At(time.Unix(s.Start, 0)).String(), EndDateTime: zone.At(time.Unix(s.End, 0)).String()}
	if s.ID != 0 {
		out.StartPunchId = proto.Int64(s.ID)
	}
	return out
}
