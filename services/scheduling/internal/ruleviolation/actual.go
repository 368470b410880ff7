package ruleviolation

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleevaluation"
)

// daysAround is the number of days around the range that are searched for shifts that touch it. A
// shift lasts at most a day, and timekeeping uses the clock at the place of a punch, which can be
// on another day than the employee's clock.
const daysAround = 2

// actual has the worked shifts of employees on days that are over.
type actual struct {
	// today is the start of the current day of each employee, in Unix seconds.
	today  map[int64]int64
	worked map[int64][]ruleevaluation.Worked
}

// neededShifts returns the range of worked shifts that the rule sets of a plan need, or nil if no
// rule set uses actual hours.
func neededShifts(p *plan, days civil.Range, employees []projection.Employee, now time.Time) *schedulingv1.WorkedShiftsNeeded {
	var window civil.Range
	out := &schedulingv1.WorkedShiftsNeeded{}
	for i := range p.sets {
		s := &p.sets[i]
		if !s.actual || len(s.rules) == 0 {
			continue
		}
		need := s.calendar.Window(days, s.rules)
		if out.GetRuleSet() == "" {
			window, out.RuleSet = need, s.ref.GetQualifier()
		}
		window = civil.Range{From: min(window.From, need.From), To: max(window.To, need.To)}
	}
	if out.GetRuleSet() == "" {
		return nil
	}
	last := civil.Beginning
	for i := range employees {
		last = max(last, employees[i].Zone.At(now).Date)
		out.EmployeeIds = append(out.EmployeeIds, employees[i].ID)
	}
	out.From, out.To = int32(max(window.From-daysAround, civil.Beginning)), int32(min(window.To, last)+daysAround)
	return out
}

// covers reports whether a request contains the needed worked shifts.
func covers(sent *schedulingv1.WorkedShifts, need *schedulingv1.WorkedShiftsNeeded) bool {
	return sent != nil && (need.GetFrom() >= need.GetTo() || sent.GetFrom() <= need.GetFrom() && sent.GetTo() >= need.GetTo())
}

// newActual returns the worked shifts of employees before today.
func newActual(sent *schedulingv1.WorkedShifts, employees []projection.Employee, now time.Time) *actual {
	out := &actual{today: make(map[int64]int64, len(employees)), worked: make(map[int64][]ruleevaluation.Worked, len(sent.GetEmployees()))}
	for i := range employees {
		e := &employees[i]
		out.today[e.ID] = e.Zone.Unix(e.Zone.At(now).Date.At(0))
	}
	for _, e := range sent.GetEmployees() {
		for _, s := range e.GetShifts() {
			out.worked[e.GetEmployeeId()] = append(out.worked[e.GetEmployeeId()], workedShift(s))
		}
	}
	return out
}

func workedShift(s *schedulingv1.WorkedShift) ruleevaluation.Worked {
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

// shifts returns the shifts of an employee that rules on actual hours measure.
func (a *actual) shifts(id int64, scheduled []ruleevaluation.Shift) []ruleevaluation.Shift {
	return ruleevaluation.Actual(scheduled, a.worked[id], a.today[id])
}

// showWorked converts a worked shift to the clock of its employee.
func showWorked(zone *civil.Zone, s *ruleevaluation.Shift) *schedulingv1.ScheduleRuleWorkedShift {
	out := &schedulingv1.ScheduleRuleWorkedShift{StartDateTime: zone.At(time.Unix(s.Start, 0)).String(), EndDateTime: zone.At(time.Unix(s.End, 0)).String()}
	if s.ID != 0 {
		out.StartPunchId = proto.Int64(s.ID)
	}
	return out
}
