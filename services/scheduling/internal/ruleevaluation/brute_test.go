package ruleevaluation_test

import (
	"math"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleevaluation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// measured is a violation as the brute-force evaluator finds it.
type measured struct {
	rule        int
	from, to    string
	value       float64
	shiftMarker int // the number of shifts
}

// bruteForce evaluates rules minute by minute, by the clock of package time.
type bruteForce struct {
	calendar       ruleevaluation.Calendar
	days           civil.Range
	first          int64 // the instant of the first minute
	wall           []int64
	work, presence []bool
	begins         []int // how many shifts begin in a minute
	shifts         []ruleevaluation.Shift
	birth          *civil.Date
	known          map[int64]int
}

func newBruteForce(location *time.Location, calendar ruleevaluation.Calendar, days civil.Range, shifts []ruleevaluation.Shift, birth *civil.Date) *bruteForce {
	first := days.From.AddDays(-45).Time().Unix()
	count := (days.Days() + 95) * 24 * 60
	b := &bruteForce{
		calendar: calendar, days: days, first: first, shifts: shifts, birth: birth, known: map[int64]int{},
		wall: make([]int64, count), work: make([]bool, count), presence: make([]bool, count), begins: make([]int, count),
	}
	offset, until := 0, first // The offset is the same until then.
	for m := range b.wall {
		at := first + int64(m)*60
		if at >= until {
			now := time.Unix(at, 0).In(location)
			_, offset = now.Zone()
			until = math.MaxInt64
			if _, end := now.ZoneBounds(); !end.IsZero() {
				until = end.Unix()
			}
		}
		b.wall[m] = (at + int64(offset)) / 60
	}
	for _, s := range shifts {
		b.mark(b.presence, s.Interval)
		for _, w := range s.Work {
			b.mark(b.work, w)
		}
		if s.Start < s.End {
			b.begins[(s.Start-first)/60]++
		}
	}
	return b
}

func (b *bruteForce) mark(list []bool, in ruleevaluation.Interval) {
	for at := in.Start; at < in.End; at += 60 {
		list[(at-b.first)/60] = true
	}
}

// minute returns the first minute when the clock shows a time. If the clock skips the time, the
// result is as long after the skip as the time is after the beginning of the skipped range.
func (b *bruteForce) minute(day civil.Date, clock civil.TimeOfDay) int {
	wanted := (int64(day)*civil.SecondsPerDay + int64(clock)) / 60
	if m, ok := b.known[wanted]; ok {
		return m
	}
	m := 0
	for b.wall[m] < wanted {
		m++
	}
	if b.wall[m] != wanted {
		m += int(wanted - b.wall[m-1] - 1)
	}
	b.known[wanted] = m
	return m
}

func (b *bruteForce) midnight(day civil.Date) int { return b.minute(day, 0) }

func (b *bruteForce) night(day civil.Date) (from, to int) {
	next := day
	if b.calendar.NightEnd <= b.calendar.NightStart {
		next++
	}
	return b.minute(day, b.calendar.NightStart), b.minute(next, b.calendar.NightEnd)
}

func count(list []bool, from, to int) int {
	n := 0
	for m := from; m < to; m++ {
		if list[m] {
			n++
		}
	}
	return n
}

func (b *bruteForce) isWorked(day civil.Date) bool { return b.starting(day, day+1) > 0 }

// starting counts the shifts that begin on days.
func (b *bruteForce) starting(from, to civil.Date) int {
	n := 0
	for m := b.midnight(from); m < b.midnight(to); m++ {
		n += b.begins[m]
	}
	return n
}

// touching counts the shifts with a minute from one up to another.
func (b *bruteForce) touching(from, to int) int {
	n := 0
	for _, s := range b.shifts {
		for at := s.Start; at < s.End; at += 60 {
			if m := int(at-b.first) / 60; m >= from && m < to {
				n++
				break
			}
		}
	}
	return n
}

func (b *bruteForce) weeks() []civil.Date {
	var out []civil.Date
	for day := b.days.From - 6; day < b.days.To; day++ {
		if day.Weekday() == b.calendar.WeekStart {
			out = append(out, day)
		}
	}
	return out
}

func (b *bruteForce) isBelow(age int, day civil.Date) bool {
	if age == 0 {
		return true
	}
	if b.birth == nil {
		return false
	}
	return b.birth.Time().AddDate(age, 0, 0).After(day.Time())
}

func (b *bruteForce) evaluate(rules []ruleevaluation.Rule) []measured {
	var out []measured
	for i, r := range rules {
		add := func(from, to civil.Date, value float64, shifts int) {
			out = append(out, measured{i, from.String(), to.String(), value, shifts})
		}
		most := func(day, end civil.Date, from, to int) {
			if n := count(b.work, from, to); float64(n) > r.Limit*60 && b.isBelow(r.Age, day) {
				add(day, end, float64(n)/60, b.touching(from, to))
			}
		}
		switch r.ID {
		case schedulerule.MaxHoursDay, schedulerule.MinorMaxHoursDay:
			for day := b.days.From; day < b.days.To; day++ {
				most(day, day+1, b.midnight(day), b.midnight(day+1))
			}
		case schedulerule.MaxHoursWeek, schedulerule.MinorMaxHoursWeek:
			for _, week := range b.weeks() {
				most(week, week+7, b.midnight(week), b.midnight(week+7))
			}
		case schedulerule.MaxHoursNight, schedulerule.MinorNoNightWork:
			for day := b.days.From; day < b.days.To; day++ {
				from, to := b.night(day)
				most(day, day+1, from, to)
			}
		case schedulerule.MaxDaysWeek:
			for _, week := range b.weeks() {
				n := 0
				for day := week; day < week+7; day++ {
					if b.isWorked(day) {
						n++
					}
				}
				if float64(n) > r.Limit {
					add(week, week+7, float64(n), b.starting(week, week+7))
				}
			}
		case schedulerule.MaxDaysInRow:
			b.rows(r, b.isWorked, func(from, to civil.Date, n int) { add(from, to, float64(n), b.starting(from, to)) })
		case schedulerule.MaxNightsInRow:
			isNight := func(day civil.Date) bool {
				from, to := b.night(day)
				return count(b.work, from, to) > 0
			}
			b.rows(r, isNight, func(from, to civil.Date, n int) {
				begin, _ := b.night(from)
				_, end := b.night(to - 1)
				add(from, to, float64(n), b.touching(begin, end))
			})
		case schedulerule.MinRestBetweenShifts:
			b.rests(r, add)
		case schedulerule.MinRestWeek:
			for _, week := range b.weeks() {
				from, to := b.midnight(week), b.midnight(week+7)
				longest, free := 0, 0
				for m := from; m < to; m++ {
					if free++; b.presence[m] {
						free = 0
					}
					longest = max(longest, free)
				}
				if float64(longest) < r.Limit*60 {
					add(week, week+7, float64(longest)/60, b.touching(from, to))
				}
			}
		}
	}
	return out
}

// rows finds the rows of all days that are asked for, up to 31 days before and after them.
func (b *bruteForce) rows(r ruleevaluation.Rule, counts func(civil.Date) bool, found func(from, to civil.Date, n int)) {
	for day := b.days.From; day < b.days.To; day++ {
		if !counts(day) || day > b.days.From && counts(day-1) {
			continue
		}
		from, last := day, day
		for from > b.days.From-31 && counts(from-1) {
			from--
		}
		for last < b.days.To+30 && counts(last+1) {
			last++
		}
		if n := int(last-from) + 1; float64(n) > r.Limit {
			found(from, last+1, n)
		}
	}
}

func (b *bruteForce) rests(r ruleevaluation.Rule, add func(from, to civil.Date, value float64, shifts int)) {
	for day := b.days.From; day < b.days.To; day++ {
		for m := b.midnight(day); m < b.midnight(day+1); m++ {
			if !b.presence[m] || b.presence[m-1] {
				continue
			}
			last := m - 1
			for last >= 0 && !b.presence[last] {
				last--
			}
			if rest := m - 1 - last; last >= 0 && float64(rest) < r.Limit*60 {
				add(day, day+1, float64(rest)/60, b.touching(last, last+1)+b.touching(m, m+1))
			}
		}
	}
}
