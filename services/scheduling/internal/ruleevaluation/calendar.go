// Package ruleevaluation measures the schedule of one employee by rules, and says
// where it breaks them. It does no I/O. All it measures are instants: a night in
// which the clock is set forward is an hour shorter.
package ruleevaluation

import (
	"math"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// lookback is how many days before the first one a row of days or nights is
// counted. It is what a rule may allow at most.
const lookback = 31

// Calendar says how time is divided where an employee is.
type Calendar struct {
	// WeekStart is the day with which weeks begin.
	WeekStart time.Weekday
	// NightStart and NightEnd are when the clock says that a night begins and ends:
	// on the next day, unless the end is after the start. A night belongs to the day
	// on which it begins.
	NightStart, NightEnd civil.TimeOfDay
}

// Rule is a rule of the catalogue with its values.
type Rule struct {
	// ID is that of the catalogue.
	ID int64
	// Limit is the value: hours, days or nights. A rule without one allows nothing.
	Limit float64
	// Age is that below which the rule holds, of a rule for minors.
	Age int
}

// WeekOf returns the week of a day.
func (c Calendar) WeekOf(day civil.Date) civil.Range {
	first := day.AddDays(-((int(day.Weekday()) - int(c.WeekStart) + 7) % 7))
	return civil.Range{From: first, To: first.AddDays(7)}
}

// Window returns the days whose shifts must be known so that rules can be evaluated
// on days; what began before and reaches into them as well.
func (c Calendar) Window(days civil.Range, rules []Rule) civil.Range {
	out := civil.Range{From: days.From, To: days.To}
	for _, r := range rules {
		need := days
		switch r.ID {
		case schedulerule.MaxHoursWeek, schedulerule.MaxDaysWeek, schedulerule.MinRestWeek, schedulerule.MinorMaxHoursWeek:
			need = civil.Range{From: c.WeekOf(days.From).From, To: c.WeekOf(days.To.AddDays(-1)).To}
		case schedulerule.MaxDaysInRow:
			need.From = days.From.AddDays(-lookback)
		case schedulerule.MaxNightsInRow:
			need = civil.Range{From: days.From.AddDays(-lookback), To: days.To.AddDays(1)}
		case schedulerule.MinRestBetweenShifts:
			need.From = days.From.AddDays(-int(math.Ceil(r.Limit/24)) - 1)
		case schedulerule.MaxHoursNight, schedulerule.MinorNoNightWork:
			need.To = days.To.AddDays(1)
		}
		out = civil.Range{From: min(out.From, need.From), To: max(out.To, need.To)}
	}
	return out
}

// grid is the calendar of a zone as instants, in Unix seconds.
type grid struct {
	first  civil.Date
	days   []int64    // the midnights from first on
	nights []Interval // of the days from first on
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
	for week := c.WeekOf(days.From); week.From < days.To; week = c.WeekOf(week.To) {
		g.weeks = append(g.weeks, week)
	}
	return g
}

// of returns the instants of days, which the grid has.
func (g *grid) of(days civil.Range) Interval {
	return Interval{Start: g.days[days.From-g.first], End: g.days[days.To-g.first]}
}

// ageOn returns how old somebody is on a day. Who was born on 29 February is a year
// older on 1 March of other years.
func ageOn(birth, day civil.Date) int {
	fromYear, fromMonth, fromDay := birth.Civil()
	year, month, dayOfMonth := day.Civil()
	age := year - fromYear
	if month < fromMonth || month == fromMonth && dayOfMonth < fromDay {
		age--
	}
	return age
}
