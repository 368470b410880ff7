package calculation

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// isHoliday reports whether a selected holiday overlaps a day.
func (c *Timecard) isHoliday(day civil.Date) bool {
	_, found := slices.BinarySearch(c.of.Holidays, day)
	return found
}

// bookCredits books the holiday credits of the pay rules.
func (c *Timecard) bookCredits(add bookTime) {
	for _, day := range c.of.Holidays {
		credit := c.input.Rule(day).Credit
		if credit == nil || !c.weeks.Contains(day) || !c.isEmployed(day) || c.clocks.On(day).Skips(day) {
			continue
		}
		add(day, paysetup.Ref(credit.PayCode), "", scheduledTime{unlessWorked: credit.UnlessWorked}, worktime.Edit{Seconds: credit.Length})
	}
}

// isEmployed reports whether an employee is employed on a day, as far as timekeeping has the data.
func (e *employee) isEmployed(day civil.Date) bool {
	if e.hired != nil && day < *e.hired {
		return false
	}
	return !slices.ContainsFunc(e.terminated, func(days civil.Range) bool { return days.Contains(day) })
}
