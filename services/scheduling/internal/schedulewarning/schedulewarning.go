// Package schedulewarning finds the shifts of a change that a planner should look at: duplicates,
// overlaps, short rests, clock changes and hidden entries. It is a pure function of an employee's
// spans before and after the change, and of the entries that were made by hand.
//
// Only shifts that the change adds are reported, together with their neighbours. Shifts are
// compared on [HorizonDays] days from the first changed day.
package schedulewarning

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Code is the name of a kind of warning in responses.
type Code string

// The codes of warnings.
const (
	// DuplicateShift: another pattern or an entry made by hand has a shift with the same times.
	DuplicateShift Code = "DUPLICATE_SHIFT"
	// OverlappingShift: another shift overlaps a new shift, and its times are not the same.
	OverlappingShift Code = "OVERLAPPING_SHIFT"
	// ShortRest: less than [MinRest] lies between a new shift and its neighbour, and both are not
	// one working day of at most [MaxWorkingDay].
	ShortRest Code = "SHORT_REST"
	// HidesHandEntry: the change hides an entry that was changed by hand.
	HidesHandEntry Code = "HIDES_HAND_ENTRY"
	// ClockChange: a clock change makes a new shift longer or shorter.
	ClockChange Code = "CLOCK_CHANGE"
	// EmptyChange: the change leaves the schedules of all its employees as they were.
	EmptyChange Code = "EMPTY_CHANGE"
)

// Codes lists all codes in the order of responses.
var Codes = []Code{DuplicateShift, OverlappingShift, ShortRest, HidesHandEntry, ClockChange, EmptyChange}

const (
	// HorizonDays is the number of days, from the first changed day on, whose shifts are compared.
	HorizonDays = 92
	// MinRest is the shortest sufficient rest, in seconds.
	MinRest = 11 * 3600
	// MaxWorkingDay is the longest time from the beginning of the first shift to the end of the last
	// shift of one working day, in seconds. Breaks between these shifts are not rests, so that a
	// split shift causes no warning: MinRest still fits into 24 hours.
	MaxWorkingDay = 24*3600 - MinRest
	// MaxDates is the largest number of dates of a warning.
	MaxDates = 10
)

// HandEntry is a shift that was made or changed by hand, as wall-clock times in the zone of the
// employee.
type HandEntry struct{ Start, End civil.DateTime }

// HiddenShift identifies a generated entry that is not shown, because an entry that was changed by hand hides it.
type HiddenShift struct {
	Day     civil.Date
	Lane    uint8
	Ordinal uint8
}

// Change is the schedule of an employee before and after a change.
type Change struct {
	// Before and After are the employee's spans.
	Before, After []span.Span
	// Zone is the time zone of the employee.
	Zone *civil.Zone
	// HandEntries are the shown shifts that were made by hand. Pass those that overlap
	// [Finder.Window], in any order.
	HandEntries []HandEntry
	// Hidden are the generated entries that entries made by hand hide after the change.
	Hidden []HiddenShift
	// Withdrawn are the days of the entries made by hand that the change hides.
	Withdrawn []civil.Date
}

// isPlain reports whether the change depends only on spans and zone.
func (c *Change) isPlain() bool {
	return len(c.HandEntries)+len(c.Hidden)+len(c.Withdrawn) == 0
}

// Warning is a reason to look at the schedule of an employee.
type Warning struct {
	Code Code
	// AssignmentID is the assignment of the new shifts; 0 for HidesHandEntry and EmptyChange.
	AssignmentID int64
	// Dates are the days on which the shifts begin, ascending, at most [MaxDates]. For a short rest,
	// it is the day on which the later shift begins.
	Dates []civil.Date
	// Text describes the warning on the first date in English.
	Text string
}

// maxRemembered limits the remembered results. Most employees of a change share one of a few.
const maxRemembered = 8

// Finder finds the warnings of many employees one after the other, and reuses its memory. It is not
// safe for concurrent use.
type Finder struct {
	// Pattern returns the compiled cycle of a pattern. Patterns without one have no shifts.
	Pattern func(id int64) *rotation.Pattern

	shifts, active []shift
	remembered     []result
	oldest         int
}

// result has the warnings of a change that is plain.
type result struct {
	zone          *civil.Zone
	before, after []span.Span
	warnings      []Warning
}

// Window returns the days whose shifts are compared, together with their neighbours. It is empty if
// the change adds no shifts.
func Window(before, after []span.Span) civil.Range {
	first := civil.Forever
	for i := range after {
		for _, days := range addedDays(&after[i], before) {
			first = min(first, days.From)
		}
	}
	if first >= civil.Forever {
		return civil.Range{}
	}
	return civil.Range{From: first.AddDays(-1), To: first.AddDays(HorizonDays + 1)}.Clamp()
}

// Find returns the warnings of a change, ordered by code and assignment. The result is valid for
// any time; do not modify it.
func (f *Finder) Find(c *Change) []Warning {
	if !c.isPlain() {
		return f.find(c)
	}
	for i := range f.remembered {
		if r := &f.remembered[i]; r.zone == c.Zone && sameSpans(r.before, c.Before) && sameSpans(r.after, c.After) {
			return r.warnings
		}
	}
	r := result{zone: c.Zone, before: slices.Clone(c.Before), after: slices.Clone(c.After), warnings: f.find(c)}
	if len(f.remembered) < maxRemembered {
		f.remembered = append(f.remembered, r)
	} else {
		f.remembered[f.oldest] = r
		f.oldest = (f.oldest + 1) % maxRemembered
	}
	return r.warnings
}

// sameSpans reports whether two lists generate the same entries, apart from their ids.
func sameSpans(a, b []span.Span) bool {
	return slices.EqualFunc(a, b, func(x, y span.Span) bool {
		x.Series, y.Series = 0, 0
		return x == y
	})
}

// addedDays returns the days of s on which no span of others generates the same entries for the same
// assignment.
func addedDays(s *span.Span, others []span.Span) []civil.Range {
	var same []civil.Range
	for i := range others {
		o := &others[i]
		if s.AssignmentID == o.AssignmentID && s.Inherited == o.Inherited && s.PatternID == o.PatternID && s.DayCount == o.DayCount &&
			o.Position == rotation.Position(s.From, s.Position, o.From, s.DayCount) {
			same = append(same, s.Days().Intersect(o.Days()))
		}
	}
	return civil.AppendDifference(nil, []civil.Range{s.Days()}, civil.Normalise(same))
}
