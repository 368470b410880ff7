package holiday

import (
	"slices"
	"time"

	"github.com/rickar/cal/v2"
)

// added lists public holidays that the library lacks. Each starts in the year in which a law
// introduced it.
var added = map[string][]*cal.Holiday{
	// Law 14.759 of 2023.
	"BR": {fixedSince("Dia Nacional de Zumbi e da Consciência Negra", time.November, 20, 2024)},
	// Law 151 of 2025.
	"IT": {fixedSince("San Francesco d'Assisi", time.October, 4, 2026)},
	// Act of 6 December 2024 on days off.
	"PL": {fixedSince("Wigilia Bożego Narodzenia", time.December, 24, 2025)},
}

// ending is the last year of a holiday that a law abolished as a day off.
type ending struct {
	month time.Month
	day   int
	year  int
}

// ended lists holidays that have no end in the library.
var ended = map[string][]ending{
	// Act 241 of 1993 as amended.
	"SK": {{time.November, 17, 2024}},
}

// fixedSince returns a holiday on a fixed date of each year, from the given year on.
func fixedSince(name string, month time.Month, day, year int) *cal.Holiday {
	return &cal.Holiday{Name: name, Type: cal.ObservancePublic, Month: month, Day: day, StartYear: year, Func: cal.CalcDayOfMonth}
}

// applyLaw returns the holidays of a region under present law.
func applyLaw(region string, list []*cal.Holiday) []*cal.Holiday {
	out := slices.Clone(list)
	for i, h := range out {
		for _, end := range ended[region] {
			if h.Month == end.month && h.Day == end.day {
				out[i] = h.Clone(&cal.Holiday{EndYear: end.year})
			}
		}
	}
	return append(out, added[region]...)
}
