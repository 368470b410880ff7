package ruleevaluation

import "github.com/rotaloom/rotaloom/pkg/civil"

func inHours(seconds int64) float64 { return float64(seconds) / 3600 }

func (e *Evaluator) checkHours(rule int, r Rule, days civil.Range, in Interval) {
	if seconds := e.workSeconds(in); seconds > r.seconds() && e.appliesOn(r, days.From) {
		e.report(rule, days, inHours(seconds), e.shiftsDuring(in))
	}
}

func (e *Evaluator) checkDayHours(rule int, r Rule) {
	for day := e.days.From; day < e.days.To; day++ {
		days := civil.Range{From: day, To: day + 1}
		e.checkHours(rule, r, days, e.grid.interval(days))
	}
}

func (e *Evaluator) checkWeekHours(rule int, r Rule) {
	for _, week := range e.grid.weeks {
		e.checkHours(rule, r, week, e.grid.interval(week))
	}
}

func (e *Evaluator) checkNightHours(rule int, r Rule) {
	for day := e.days.From; day < e.days.To; day++ {
		e.checkHours(rule, r, civil.Range{From: day, To: day + 1}, e.grid.nights[day-e.window.From])
	}
}

func (e *Evaluator) checkWeekDays(rule int, r Rule) {
	for _, week := range e.grid.weeks {
		count := 0
		for day := week.From; day < week.To; day++ {
			if e.worked[day-e.window.From] {
				count++
			}
		}
		if float64(count) > r.Limit {
			e.report(rule, week, float64(count), e.shiftsBeginning(week))
		}
	}
}

// reportRows reports the rows of days that exceed the limit and have one of the evaluated days. counts
// tells whether a day of the window counts. shifts returns the shifts of a row.
func (e *Evaluator) reportRows(rule int, r Rule, counts func(day int) bool, shifts func(civil.Range) []int) {
	within := rowDays(e.days)
	row := civil.Range{From: within.From}
	for day := row.From; day <= within.To && row.From < e.days.To; day++ {
		if day < within.To && counts(int(day-e.window.From)) {
			continue
		}
		row.To = day
		if float64(row.Days()) > r.Limit && row.To > e.days.From {
			e.report(rule, row, float64(row.Days()), shifts(row))
		}
		row.From = day + 1
	}
}

// checkRest reports rests that are too short, on the days when they end. Shifts that touch or
// overlap are one interval without rest.
func (e *Evaluator) checkRest(rule int, r Rule) {
	evaluated := e.grid.interval(e.days)
	day := e.days.From
	for i := 1; i < len(e.presence); i++ {
		rest := Interval{Start: e.presence[i-1].End, End: e.presence[i].Start}
		if rest.End < evaluated.Start || rest.End >= evaluated.End || rest.End-rest.Start >= r.seconds() {
			continue
		}
		for e.grid.days[day+1-e.window.From] <= rest.End {
			day++
		}
		around := Interval{Start: rest.Start - 1, End: rest.End + 1}
		e.report(rule, civil.Range{From: day, To: day + 1}, inHours(rest.End-rest.Start), e.shiftsDuring(around))
	}
}

// checkWeekRest reports the weeks whose longest rest within the week is too short.
func (e *Evaluator) checkWeekRest(rule int, r Rule) {
	at := 0
	for _, days := range e.grid.weeks {
		week := e.grid.interval(days)
		longest, free := int64(0), week.Start
		for at > 0 && e.presence[at-1].End > week.Start {
			at--
		}
		for ; at < len(e.presence) && e.presence[at].Start < week.End; at++ {
			longest = max(longest, e.presence[at].Start-free)
			free = max(free, e.presence[at].End)
		}
		if longest = max(longest, week.End-free); longest < r.seconds() {
			e.report(rule, days, inHours(longest), e.shiftsDuring(week))
		}
	}
}
