package card

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// keepDaysBeforeMoves calculates the days before each change of the time zone as they were before
// it. The schedule of the day of a change moves by up to a day, so that punches of the days before
// it could pair and match in another way.
func (c *Card) keepDaysBeforeMoves() {
	for _, day := range slices.Backward(c.clocks.Moves()) {
		if day <= c.weeks.From-daysBefore || day >= c.weeks.To+daysAfter {
			continue
		}
		older := *c.input
		older.Clocks = c.clocks.Before(day)
		older.Schedule = c.planned(older.Clocks)
		c.result = join(worktime.Calculate(&older), c.result, day)
		c.renumber(&older, day)
	}
}

// join returns the days before a day from one result, and the others from another one.
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

// renumber lets the shifts before a day, which were calculated from an older input, refer to the
// schedule of the card.
func (c *Card) renumber(older *worktime.Input, day civil.Date) {
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
