package ruleevaluation

import (
	"cmp"
	"math"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// Interval is the time from Start until End, here in Unix seconds.
type Interval = segment.Interval

// Shift is a shift of the employee.
type Shift struct {
	ID int64
	// Interval is the shift including its breaks, which are not rest.
	Interval
	// Work has the intervals that count as hours: the shift without its breaks, in order.
	Work []Interval
	// Worked reports that the shift was worked; otherwise it is scheduled. The id of a worked shift
	// is the id of its first punch, or 0 without one.
	Worked bool
}

// Violation is a violation of a rule.
type Violation struct {
	// Rule is the index of the rule.
	Rule int
	// Days are the measured days: a day, a week, or a row of days.
	Days civil.Range
	// Measured is the measured value in the unit of the limit.
	Measured float64
	// Shifts are the indexes of the counted shifts, ascending.
	Shifts []int
}

// Evaluator evaluates the schedules of employees in one time zone. It is not safe for concurrent
// use.
type Evaluator struct {
	// Max ends the evaluation after more than this number of violations. Zero means no limit.
	Max int

	rules  []Rule
	days   civil.Range
	window civil.Range
	grid   grid

	// The data of the current employee.
	birth          *civil.Date
	shifts         []Shift
	longest        int64      // of any shift, in seconds
	work, presence []Interval // joined
	worked         []bool     // whether a shift begins on each day of the window
	found          []Violation
}

// New returns an evaluator that finds violations of the rules on days.
func New(zone *civil.Zone, calendar Calendar, rules []Rule, days civil.Range) *Evaluator {
	window := calendar.Window(days, rules)
	return &Evaluator{rules: rules, days: days, window: window, grid: newGrid(zone, calendar, window, days)}
}

// Evaluate returns the violations of an employee, by rule and day. Shifts must cover the calendar's
// Window, in order of their start. Rules for minors do not apply to employees without a birth date.
func (e *Evaluator) Evaluate(shifts []Shift, birth *civil.Date) []Violation {
	e.prepare(shifts, birth)
	for i, r := range e.rules {
		if e.Max > 0 && len(e.found) > e.Max {
			break
		}
		switch r.ID {
		case schedulerule.MaxHoursDay, schedulerule.MinorMaxHoursDay:
			e.checkDayHours(i, r)
		case schedulerule.MaxHoursWeek, schedulerule.MinorMaxHoursWeek:
			e.checkWeekHours(i, r)
		case schedulerule.MaxHoursNight, schedulerule.MinorNoNightWork:
			e.checkNightHours(i, r)
		case schedulerule.MaxDaysInRow:
			e.reportRows(i, r, func(day int) bool { return e.worked[day] }, e.shiftsBeginning)
		case schedulerule.MaxNightsInRow:
			e.reportRows(i, r, func(night int) bool { return e.workSeconds(e.grid.nights[night]) > 0 }, func(days civil.Range) []int {
				return e.shiftsDuring(Interval{Start: e.grid.nights[days.From-e.window.From].Start, End: e.grid.nights[days.To-1-e.window.From].End})
			})
		case schedulerule.MaxDaysWeek:
			e.checkWeekDays(i, r)
		case schedulerule.MinRestBetweenShifts:
			e.checkRest(i, r)
		case schedulerule.MinRestWeek:
			e.checkWeekRest(i, r)
		}
	}
	return e.found
}

func (e *Evaluator) prepare(shifts []Shift, birth *civil.Date) {
	e.birth, e.shifts, e.found = birth, shifts, nil
	e.work, e.presence = e.work[:0], e.presence[:0]
	e.worked = slices.Grow(e.worked[:0], e.window.Days())[:e.window.Days()]
	clear(e.worked)
	ascending, day := true, 0
	e.longest = 0
	for i := range shifts {
		s := &shifts[i]
		e.longest = max(e.longest, s.End-s.Start)
		e.presence = append(e.presence, s.Interval)
		for _, w := range s.Work {
			ascending = ascending && (len(e.work) == 0 || e.work[len(e.work)-1].Start <= w.Start)
			e.work = append(e.work, w)
		}
		if s.Start >= s.End {
			continue
		}
		for day < len(e.worked) && e.grid.days[day+1] <= s.Start {
			day++
		}
		if day < len(e.worked) && e.grid.days[day] <= s.Start {
			e.worked[day] = true
		}
	}
	if !ascending {
		slices.SortFunc(e.work, func(a, b Interval) int { return cmp.Compare(a.Start, b.Start) })
	}
	e.work, e.presence = join(e.work), join(e.presence)
}

// join joins ascending intervals that touch, and drops empty ones.
func join(list []Interval) []Interval {
	out := list[:0]
	for _, s := range list {
		if s.Start >= s.End {
			continue
		}
		if last := len(out) - 1; last >= 0 && s.Start <= out[last].End {
			out[last].End = max(out[last].End, s.End)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// hours returns the seconds of work in an interval.
func (e *Evaluator) workSeconds(in Interval) int64 {
	at, _ := slices.BinarySearchFunc(e.work, in.Start, func(w Interval, start int64) int {
		if w.End <= start {
			return -1
		}
		return 1
	})
	var sum int64
	for ; at < len(e.work) && e.work[at].Start < in.End; at++ {
		sum += min(e.work[at].End, in.End) - max(e.work[at].Start, in.Start)
	}
	return sum
}

// shiftsDuring returns the shifts that touch an interval.
func (e *Evaluator) shiftsDuring(in Interval) []int {
	var out []int
	for i := e.firstFrom(in.Start - e.longest); i < len(e.shifts) && e.shifts[i].Start < in.End; i++ {
		if s := &e.shifts[i]; s.End > in.Start && s.Start < s.End {
			out = append(out, i)
		}
	}
	return out
}

// shiftsBeginning returns the shifts that begin on days.
func (e *Evaluator) shiftsBeginning(days civil.Range) []int {
	in := e.grid.interval(days)
	var out []int
	for i := e.firstFrom(in.Start); i < len(e.shifts) && e.shifts[i].Start < in.End; i++ {
		if s := &e.shifts[i]; s.Start < s.End {
			out = append(out, i)
		}
	}
	return out
}

// firstFrom returns the index of the first shift that begins at or after an instant.
func (e *Evaluator) firstFrom(at int64) int {
	first, _ := slices.BinarySearchFunc(e.shifts, at, func(s Shift, at int64) int {
		if s.Start < at {
			return -1
		}
		return 1
	})
	return first
}

// seconds returns a limit of hours in seconds.
func (r Rule) seconds() int64 { return int64(math.Round(r.Limit * 3600)) }

// holds reports whether a rule applies to the employee on a day.
func (e *Evaluator) appliesOn(r Rule, day civil.Date) bool {
	return r.Age == 0 || e.birth != nil && ageOn(*e.birth, day) < r.Age
}

func (e *Evaluator) report(rule int, days civil.Range, measured float64, shifts []int) {
	e.found = append(e.found, Violation{Rule: rule, Days: days, Measured: measured, Shifts: shifts})
}
