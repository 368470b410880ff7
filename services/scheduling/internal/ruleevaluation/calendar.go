// Package ruleevaluation evaluates rules on the schedule of one employee. It does no I/O. All times
// are instants: if the clock is set forward in a night, the night is an hour shorter.
package ruleevaluation

import (
	"math"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// maxBeyond is the number of days before and after the evaluated days that are examined for a row of
// days or nights. It equals the largest limit of a rule, so that no row that breaks a rule is missed.
const maxBeyond = 31

// Calendar defines the weeks and nights of an employee.
type Calendar struct {
	// WeekStart is the first day of a week.
	WeekStart time.Weekday
	// NightStart and NightEnd are the clock times of a night. A night ends on the next day unless
	// its end is after its start. It belongs to the day when it begins.
	NightStart, NightEnd civil.TimeOfDay
}

// Rule is a rule of the catalogue with its parameters.
type Rule struct {
	// ID is the id of the rule in the catalogue.
	ID int64
	// Limit is the limit in hours, days or nights. A rule without one allows nothing.
	Limit float64
	// Age is the age below which a rule for minors applies.
	Age int
}

// Week returns the week of a day.
func (c Calendar) Week(day civil.Date) civil.Range {
	first := day.AddDays(-((int(day.Weekday()) - int(c.WeekStart) + 7) % 7))
	return civil.Range{From: first, To: first.AddDays(7)}
}

// Window returns the days whose shifts are needed to evaluate rules on days. Shifts that began
// earlier and reach into the window are needed, too.
func (c Calendar) Window(days civil.Range, rules []Rule) civil.Range {
	out := civil.Range{From: days.From, To: days.To}
	for _, r := range rules {
		need := days
		switch r.ID {
		case schedulerule.MaxHoursWeek, schedulerule.MaxDaysWeek, schedulerule.MinRestWeek, schedulerule.MinorMaxHoursWeek:
			need = civil.Range{From: c.Week(days.From).From, To: c.Week(days.To.AddDays(-1)).To}
		case schedulerule.MaxDaysInRow:
			need = rowDays(days)
		case schedulerule.MaxNightsInRow:
			need = rowDays(days)
			need.To = need.To.AddDays(1)
		case schedulerule.MinRestBetweenShifts:
			need.From = days.From.AddDays(-int(math.Ceil(r.Limit/24)) - 1)
		case schedulerule.MaxHoursNight, schedulerule.MinorNoNightWork:
			need.To = days.To.AddDays(1)
		}
		out = civil.Range{From: min(out.From, need.From), To: max(out.To, need.To)}
	}
	return out
}

// rowDays returns the days that rows of days or nights on days may have.
func rowDays(days civil.Range) civil.Range {
	return civil.Range{From: days.From.AddDays(-maxBeyond), To: days.To.AddDays(maxBeyond)}
}

// grid is a calendar in a time zone as instants, in Unix seconds.
type grid struct {
	first  civil.Date
	days   []int64    // the midnights from day first on
	nights []Interval // the nights from day first on
	weeks  []civil.Range
}

func newGrid(zone *civil.Zone, c Calendar, window, days civil.Range) grid {
	g := grid{first: window.From}
	cursor := zone.Cursor()
	for day := window.From; day <= window.To; day++ {
		g.days = append(g.days, cursor.Unix(day.At(0)))
	}
	end := int32(c.NightEnd)
	if c.NightEnd <= c.NightStart {
		end += civil.SecondsPerDay
	}
	for day := window.From; day < window.To; day++ {
		from, to := cursor.Interval(day, int32(c.NightStart), end)
		g.nights = append(g.nights, Interval{Start: from, End: max(from, to)})
	}
	for week := c.Week(days.From); week.From < days.To; week = c.Week(week.To) {
		g.weeks = append(g.weeks, week)
	}
	return g
}

// interval returns the instants of days, which must be in the grid.
func (g *grid) interval(days civil.Range) Interval {
	return Interval{Start: g.days[days.From-g.first], End: g.days[days.To-g.first]}
}

// ageOn returns a person's age on a day. A person born on 29 February is a year older on 1 March of
// other years.
func ageOn(birth, day civil.Date) int {
	fromYear, fromMonth, fromDay := birth.Civil()
	year, month, dayOfMonth := day.Civil()
	age := year - fromYear
	if month < fromMonth || month == fromMonth && dayOfMonth < fromDay {
		age--
	}
	return age
}
