package calculation

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// Timecard is the calculated timecard of an employee on some days.
type Timecard struct {
	*employee
	Days  civil.Range
	setup *paysetup.Setup
	// weeks are the days that were read. regularRates are the regular rates of weeks by their first
	// days.
	weeks        civil.Range
	regularRates map[civil.Date]*big.Rat
	// historical means that signed-off days are calculated too.
	historical bool
	// showsPunches means that days include their punches.
	showsPunches bool

	input  *worktime.Input
	result *worktime.Result
	// shifts are the shifts of input.Schedule by their numbers. scheduledTimes are the other
	// entries of the schedule.
	shifts         []*schedulingv1.EmployeeShift
	scheduledTimes []scheduledTime
}

// calculate calculates the timecard of an employee.
func (e *employee) calculate(w Window, s *paysetup.Setup, now int64) *Timecard {
	c := &Timecard{employee: e, Days: w.Days, weeks: w.weeks(s.Rules), setup: s, historical: w.Signed, showsPunches: w.Bodies, input: &worktime.Input{Now: now, Before: e.before}}
	c.input.Excused, c.input.Holiday = c.excuses, c.isHoliday
	if s.Rules.Splits() && !w.Signed && e.Through != nil {
		c.input.Settled = func(day civil.Date) bool { return day <= *e.Through }
	}
	rules := map[civil.Date]*worktime.Rule{}
	c.input.Rule = func(day civil.Date) *worktime.Rule {
		rule, ok := rules[day]
		if !ok {
			_, rule = s.Rules.On(e.of.PayRule(day), day)
			rules[day] = rule
		}
		return rule
	}
	c.input.Punches = make([]worktime.Punch, len(e.punches))
	for i := range e.punches {
		c.input.Punches[i] = e.punches[i].Punch
		c.input.Punches[i].PayCode = s.Booked(e.punches[i].WorkRuleID, e.punches[i].WorkRule)
	}
	c.schedule()
	c.book()
	c.input.Schedule = c.scheduledShifts(c.clocks)
	c.result = worktime.Calculate(c.input)
	c.keepDaysBeforeMoves()
	c.measure()
	return c
}

// schedule adds the shifts of the schedule, without the time that leave replaces.
func (c *Timecard) schedule() {
	for _, shift := range c.of.Schedule.GetShifts() {
		day := civil.Date(shift.GetDay())
		left := &schedulingv1.EmployeeShift{Day: shift.GetDay()}
		for _, segment := range shift.GetSegments() {
			c.input.Work = append(c.input.Work, worktime.Interval{Day: day, Start: segment.GetStartSecond(), End: segment.GetEndSecond()})
			if segment.GetTaken() {
				continue
			}
			left.Segments = append(left.Segments, segment)
		}
		if len(left.GetSegments()) > 0 {
			c.shifts = append(c.shifts, left)
		}
	}
}

// scheduledShifts returns the scheduled shifts by the clocks of the employee, ascending.
func (c *Timecard) scheduledShifts(clocks civil.Clocks) []worktime.Scheduled {
	cursor := clocks.Cursor()
	out := make([]worktime.Scheduled, len(c.shifts))
	for i, shift := range c.shifts {
		start, end := shift.GetSegments()[0].GetStartSecond(), int32(0)
		for _, segment := range shift.GetSegments() {
			start, end = min(start, segment.GetStartSecond()), max(end, segment.GetEndSecond())
		}
		day := civil.Date(shift.GetDay())
		from, to := cursor.Interval(day, start, end)
		out[i] = worktime.Scheduled{Day: day, Start: from, End: to, Number: i}
	}
	if len(clocks.Moves()) > 0 {
		// The first day of a new time zone may begin before the day before it ends.
		slices.SortStableFunc(out, func(a, b worktime.Scheduled) int { return cmp.Compare(a.Start, b.Start) })
	}
	return out
}

// job returns the job of a part of a timecard. If the part has no job, it returns the primary job
// of the day.
func (e *employee) job(job string, day civil.Date) string {
	if job != "" {
		return job
	}
	for _, primary := range e.of.Pay.GetPrimaryJobs() {
		if civil.Date(primary.GetFrom()) <= day && day < civil.Date(primary.GetTo()) {
			return primary.GetText()
		}
	}
	return ""
}

// shows reports whether a day was requested and is calculated.
func (c *Timecard) shows(day civil.Date) bool {
	return c.Days.Contains(day) && c.isCalculated(day)
}

// isCalculated reports whether a day is calculated because it is not signed off.
func (c *Timecard) isCalculated(day civil.Date) bool {
	return c.historical || c.Through == nil || day > *c.Through
}

// keepDaysBeforeMoves calculates the days before each change of the time zone as they were before
// the change. The change moves the schedule of its day by up to a day, so punches of earlier days
// could otherwise pair and match differently.
func (c *Timecard) keepDaysBeforeMoves() {
	for _, day := range slices.Backward(c.clocks.Moves()) {
		if day <= c.weeks.From-daysBefore || day >= c.weeks.To+daysAfter {
			continue
		}
		older := *c.input
		older.Clocks = c.clocks.Before(day)
		older.Schedule = c.scheduledShifts(older.Clocks)
		c.result = join(worktime.Calculate(&older), c.result, day)
		c.renumber(&older, day)
	}
}

// join returns a result with the days before a day from one result, and the other days from another
// one.
func join(before, after *worktime.Result, day civil.Date) *worktime.Result {
	out := *after
	out.Shifts = append(keep(before.Shifts, func(s worktime.Shift) bool { return s.Day < day }), keep(after.Shifts, func(s worktime.Shift) bool { return s.Day >= day })...)
	out.Exceptions = append(keep(before.Exceptions, func(e worktime.Exception) bool { return e.Day < day }), keep(after.Exceptions, func(e worktime.Exception) bool { return e.Day >= day })...)
	out.Days = map[civil.Date]worktime.Worked{}
	for on, worked := range before.Days {
		if on < day {
			out.Days[on] = worked
		}
	}
	for on, worked := range after.Days {
		if on >= day {
			out.Days[on] = worked
		}
	}
	return &out
}

func keep[T any](list []T, wanted func(T) bool) (out []T) {
	for _, item := range list {
		if wanted(item) {
			out = append(out, item)
		}
	}
	return out
}

// renumber makes the shifts before a day, which were calculated from an older input, refer to the
// schedule of the timecard.
func (c *Timecard) renumber(older *worktime.Input, day civil.Date) {
	positions := make([]int, len(c.shifts))
	for i, planned := range c.input.Schedule {
		positions[planned.Number] = i
	}
	for i := range c.result.Shifts {
		shift := &c.result.Shifts[i]
		if shift.Day >= day {
			continue
		}
		for n, planned := range shift.Scheduled {
			shift.Scheduled[n] = positions[older.Schedule[planned].Number]
		}
	}
}
