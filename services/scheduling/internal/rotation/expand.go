package rotation

import (
	"iter"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// Run is a range of days when a pattern repeats without interruption.
type Run struct {
	Days     civil.Range
	Position int32 // the cycle day on Days.From, counted from 0
}

// Entries yields the entries that begin on the days of a run and overlap the window's days, each
// with its day, ordered by day and ordinal. That includes entries that began before the window and
// reach into it; skip the days before the window to omit them.
//
// The entry is a view into the pattern; do not modify it. Ranging over the result allocates
// nothing.
func (p *Pattern) Entries(run Run, window civil.Range) iter.Seq2[civil.Date, *Entry] {
	return func(yield func(civil.Date, *Entry) bool) { p.expand(run, window, yield) }
}

func (p *Pattern) expand(run Run, window civil.Range, yield func(civil.Date, *Entry) bool) {
	if window.Empty() {
		return
	}
	day := max(run.Days.From, window.From.AddDays(-int(p.maxReach)))
	last := min(run.Days.To, window.To)
	if day >= last {
		return
	}
	position := p.Position(run.Days.From, run.Position, day)
	for dayCount := p.DayCount(); day < last; day++ {
		entries := p.entries[p.first[position]:p.first[position+1]]
		for i := range entries {
			e := &entries[i]
			if day < window.From && !e.reaches(day, window.From) {
				continue
			}
			if !yield(day, e) {
				return
			}
		}
		if position++; position == dayCount {
			position = 0
		}
	}
}

// reaches reports whether the entry, which began on day, has not ended when the day from begins.
func (e *Entry) reaches(day, from civil.Date) bool {
	return int64(e.EndSec) > (int64(from)-int64(day))*civil.SecondsPerDay
}
