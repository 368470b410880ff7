package calculation

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// Employee returns the ref of the employee of a timecard.
func (e *employee) Employee() *commonv1.Ref {
	return &commonv1.Ref{Id: proto.Int64(e.ID), Qualifier: proto.String(e.number), Name: proto.String(e.number)}
}

// NonEmptyDays returns the days of a timecard that have content: signed-off days as they were
// signed off, other days as they are calculated.
func (c *Timecard) NonEmptyDays() []*timekeepingv1.TimecardDay {
	days := map[civil.Date]*timekeepingv1.TimecardDay{}
	of := func(day civil.Date) *timekeepingv1.TimecardDay {
		if days[day] == nil {
			days[day] = &timekeepingv1.TimecardDay{Date: day.String(), WorkedSeconds: c.result.Days[day].All, WeekSeconds: c.result.Days[day].Week}
		}
		return days[day]
	}
	for i := range c.result.Shifts {
		if shift := &c.result.Shifts[i]; c.shows(shift.Day) {
			d := of(shift.Day)
			d.WorkedShifts = append(d.WorkedShifts, c.workedShift(shift))
			if c.showsPunches {
				d.Punches = append(d.Punches, c.shiftPunches(shift)...)
			}
		}
	}
	for punch, day := range c.repeatedPunches() {
		if c.showsPunches && c.shows(day) {
			d := of(day)
			d.Punches = append(d.Punches, c.punches[punch].ToProto(nil))
			slices.SortStableFunc(d.Punches, func(a, b *timekeepingv1.Punch) int { return strings.Compare(a.GetPunchDtm(), b.GetPunchDtm()) })
		}
	}
	for _, e := range c.edits {
		if c.shows(e.Day) {
			of(e.Day).PayCodeEdits = append(of(e.Day).PayCodeEdits, e.ToProto(c.setup))
		}
	}
	for i := range c.scheduledTimes {
		if b := &c.scheduledTimes[i]; c.shows(b.day) {
			of(b.day).SchedulePayCodeEdits = append(of(b.day).SchedulePayCodeEdits, b.toProto())
		}
	}
	for _, e := range c.result.Exceptions {
		if c.shows(e.Day) {
			of(e.Day).Exceptions = append(of(e.Day).Exceptions, c.exception(e))
		}
	}
	for _, planned := range c.input.Schedule {
		if c.shows(planned.Day) {
			of(planned.Day).ScheduleShifts = append(of(planned.Day).ScheduleShifts, c.scheduleShift(c.shifts[planned.Number], planned))
		}
	}
	for key, total := range c.totals(c.Days) {
		d := of(key.Day)
		d.Totals = append(d.Totals, total)
	}
	for _, d := range days {
		slices.SortFunc(d.Totals, compareTotals)
	}
	c.showLate()
	for day, d := range c.signed {
		if c.Days.Contains(day) {
			days[day] = d
		}
	}
	out := make([]*timekeepingv1.TimecardDay, 0, len(days))
	for _, day := range slices.Sorted(maps.Keys(days)) {
		out = append(out, days[day])
	}
	return out
}

// repeatedPunches returns the days of the ignored punches. An ignored punch belongs to the shift of
// the punch that it repeats.
func (c *Timecard) repeatedPunches() map[int]civil.Date {
	if len(c.result.Repeated) == 0 {
		return nil
	}
	days := map[int]civil.Date{}
	for i := range c.result.Shifts {
		for _, span := range c.result.Shifts[i].Spans {
			days[span.In], days[span.Out] = c.result.Shifts[i].Day, c.result.Shifts[i].Day
		}
	}
	out := make(map[int]civil.Date, len(c.result.Repeated))
	for _, r := range c.result.Repeated {
		out[r.Punch] = days[r.Of]
	}
	return out
}

func (c *Timecard) local(punch int, at int64) string {
	return c.punches[punch].Local(at).String()
}

// workedShift converts a shift to the form of responses, in the time zone where its punches were
// made.
func (c *Timecard) workedShift(shift *worktime.Shift) *timekeepingv1.WorkedShift {
	out := &timekeepingv1.WorkedShift{
		ApplyDate: shift.Day.String(), BreakHours: amount.Hours(shift.Deducted),
		IsScheduled: proto.Bool(len(shift.Scheduled) > 0), IsOpen: proto.Bool(shift.Running),
	}
	var paid int64
	for _, item := range shift.Items {
		paid += item.End - item.Start
	}
	out.HoursWorked = amount.Hours(paid)
	for _, span := range shift.Spans {
		s := &timekeepingv1.WorkedSpan{OrgJob: orgjob.Ref(c.job(span.Job, shift.Day)), Paycode: paysetup.Ref(span.PayCode)}
		if span.In >= 0 {
			s.StartDateTime, s.StartPunchId = c.local(span.In, span.Start), proto.Int64(c.punches[span.In].ID)
		}
		if span.Out >= 0 {
			s.EndDateTime, s.EndPunchId = c.local(span.Out, span.End), proto.Int64(c.punches[span.Out].ID)
		}
		out.WorkedSpans = append(out.WorkedSpans, s)
	}
	out.StartDateTime, out.EndDateTime = out.WorkedSpans[0].GetStartDateTime(), out.WorkedSpans[len(out.WorkedSpans)-1].GetEndDateTime()
	return out
}

// shiftPunches returns the punches of a shift, without duplicates.
func (c *Timecard) shiftPunches(shift *worktime.Shift) []*timekeepingv1.Punch {
	var out []*timekeepingv1.Punch
	last := -1
	add := func(punch int, rounded int64) {
		if punch < 0 || punch == last {
			return
		}
		last = punch
		p := c.punches[punch].ToProto(nil)
		p.RoundedPunchDtm, p.IsScheduled = c.local(punch, rounded), proto.Bool(len(shift.Scheduled) > 0)
		out = append(out, p)
	}
	for _, span := range shift.Spans {
		add(span.In, span.Start)
		add(span.Out, span.End)
	}
	return out
}

// ExceptionTypes is the number of kinds of exceptions. Their ids are 1 to ExceptionTypes.
var ExceptionTypes = len(faults)

// faults are the exceptions in the order of their ids, from 1, with their display names.
var faults = []struct {
	fault worktime.Fault
	name  string
}{
	{worktime.MissedIn, "Missed In-Punch"},
	{worktime.MissedOut, "Missed Out-Punch"},
	{worktime.EarlyIn, "Early In"},
	{worktime.LateIn, "Late In"},
	{worktime.EarlyOut, "Early Out"},
	{worktime.LateOut, "Late Out"},
	{worktime.Unscheduled, "Unscheduled"},
	{worktime.Absent, "Unexcused Absence"},
	{worktime.LongShift, "Long Shift"},
}

func exceptionType(fault worktime.Fault) *timekeepingv1.TimecardExceptionType {
	for i, known := range faults {
		if known.fault == fault {
			return &timekeepingv1.TimecardExceptionType{Id: proto.Int64(int64(i + 1)), Name: string(fault), DisplayName: known.name}
		}
	}
	return &timekeepingv1.TimecardExceptionType{Name: string(fault)}
}

func (c *Timecard) exception(e worktime.Exception) *timekeepingv1.TimecardException {
	out := &timekeepingv1.TimecardException{ApplyDate: e.Day.String(), ExceptionType: exceptionType(e.Fault)}
	if e.Punch >= 0 {
		out.PunchId = proto.Int64(c.punches[e.Punch].ID)
	}
	if e.Amount != 0 {
		out.DifferenceInHours = amount.Hours(e.Amount)
	}
	return out
}

func (c *Timecard) scheduleShift(shift *schedulingv1.EmployeeShift, planned worktime.Scheduled) *timekeepingv1.TimecardScheduleShift {
	out := &timekeepingv1.TimecardScheduleShift{}
	day := civil.Date(shift.GetDay())
	for _, s := range shift.GetSegments() {
		out.Segments = append(out.Segments, &timekeepingv1.TimecardScheduleSegment{
			StartDateTime: day.At(s.GetStartSecond()).Normal().String(), EndDateTime: day.At(s.GetEndSecond()).Normal().String(), OrgJob: orgjob.Ref(c.job(s.GetJob(), day)),
		})
	}
	out.StartDateTime, out.EndDateTime = out.Segments[0].GetStartDateTime(), out.Segments[len(out.Segments)-1].GetEndDateTime()
	out.Hours = amount.Hours(planned.End - planned.Start)
	return out
}
