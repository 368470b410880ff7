package ruleevaluation

import "github.com/rotaloom/rotaloom/pkg/civil"

func inHours(seconds int64) float64 { return float64(seconds) / 3600 }

func (e *Evaluator) maxHours(rule int, r Rule, days civil.Range, in Interval) {
	if seconds := e.hours(in); seconds > r.seconds() && e.holds(r, days.From) {
		e.report(rule, days, inHours(seconds), e.during(in))
	}
}

func (e *Evaluator) hoursOfDays(rule int, r Rule) {
	for day := e.days.From; day < e.days.To; day++ {
		days := civil.Range{From: day, To: day + 1}
		e.maxHours(rule, r, days, e.grid.of(days))
	}
}

func (e *Evaluator) hoursOfWeeks(rule int, r Rule) {
	for _, week := range e.grid.weeks {
		e.maxHours(rule, r, week, e.grid.of(week))
	}
}

func (e *Evaluator) hoursOfNights(rule int, r Rule) {
	for day := e.days.From; day < e.days.To; day++ {
		e.maxHours(rule, r, civil.Range{From: day, To: day + 1}, e.grid.nights[day-e.window.From])
	}
}

func (e *Evaluator) daysOfWeeks(rule int, r Rule) {
	for _, week := range e.grid.weeks {
		count := 0
		for day := week.From; day < week.To; day++ {
			if e.worked[day-e.window.From] {
				count++
			}
		}
		if float64(count) > r.Limit {
			e.report(rule, week, float64(count), e.begin(week))
		}
	}
}

// rows reports the rows of days that are longer than the limit on a day that is
// asked for. What counts says by day of the window; shifts returns those of days.
func (e *Evaluator) rows(rule int, r Rule, counts func(day int) bool, shifts func(civil.Range) []int) {
	row := civil.Range{From: e.days.From.AddDays(-lookback)}
	for day := row.From; day <= e.days.To; day++ {
		if day < e.days.To && counts(int(day-e.window.From)) {
			continue
		}
		row.To = day
		if float64(row.Days()) > r.Limit && row.To > e.days.From {
			e.report(rule, row, float64(row.Days()), shifts(row))
		}
		row.From = day + 1
	}
}

// restBetween reports the rests that are too short, on the days on which they end.
// Shifts that touch or overlap are one interval, and have no rest between them.
func (e *Evaluator) restBetween(rule int, r Rule) {
	asked := e.grid.of(e.days)
	day := e.days.From
	for i := 1; i < len(e.presence); i++ {
		rest := Interval{Start: e.presence[i-1].End, End: e.presence[i].Start}
		if rest.End < asked.Start || rest.End >= asked.End || rest.End-rest.Start >= r.seconds() {
			continue
		}
		for e.grid.days[day+1-e.window.From] <= rest.End {
			day++
		}
		around := Interval{Start: rest.Start - 1, End: rest.End + 1}
		e.report(rule, civil.Range{From: day, To: day + 1}, inHours(rest.End-rest.Start), e.during(around))
	}
}

// restOfWeeks reports the weeks whose longest rest, within the week, is too short.
func (e *Evaluator) restOfWeeks(rule int, r Rule) {
	at := 0
	for _, days := range e.grid.weeks {
		week := e.grid.of(days)
		longest, free := int64(0), week.Start
		for at > 0 && e.presence[at-1].End > week.Start {
			at--
		}
		for ; at < len(e.presence) && e.presence[at].Start < week.End; at++ {
			longest = max(longest, e.presence[at].Start-free)
			free = max(free, e.presence[at].End)
		}
		if longest = max(longest, week.End-free); longest < r.seconds() {
			e.report(rule, days, inHours(longest), e.during(week))
		}
	}
}
