package schedulewarning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// shift is a shift of the employee after the change.
type shift struct {
	start, end int64 // instants
	// day is the first day. from and to are the wall-clock seconds after its midnight.
	day        civil.Date
	from, to   int64
	assignment int64 // 0 for a shift made by hand
	added      bool
}

// find compares the shifts of a change.
func (f *Finder) find(c *Change) []Warning {
	var found findings
	for _, day := range c.Withdrawn {
		found.add(HidesHandEntry, 0, day, func() string {
			return fmt.Sprintf("The change hides the entry of %s that was changed by hand.", day)
		})
	}
	if window := Window(c.Before, c.After); !window.Empty() {
		f.collect(c, window)
		f.compare(&found)
		for i := range f.shifts {
			found.addClockChange(&f.shifts[i])
		}
	}
	return found.list()
}

// collect gathers the shown shifts of a window in order of their beginnings.
func (f *Finder) collect(c *Change, window civil.Range) {
	f.shifts = f.shifts[:0]
	cursor := c.Zone.Cursor()
	compared := civil.Range{From: window.From, To: window.To.AddDays(-1)}
	for i := range c.After {
		s := &c.After[i]
		pattern := f.Pattern(s.PatternID)
		if pattern == nil {
			continue
		}
		added := addedDays(s, c.Before)
		for day, e := range pattern.Entries(s.Run(), window) {
			if e.Kind != rotation.Shift || isHidden(c.Hidden, day, s, e) {
				continue
			}
			isNew := compared.Contains(day) && slices.ContainsFunc(added, func(r civil.Range) bool { return r.Contains(day) })
			one := shift{day: day, from: int64(e.StartSec), to: int64(e.EndSec), assignment: s.AssignmentID, added: isNew}
			one.start, one.end = cursor.Interval(day, e.StartSec, e.EndSec)
			f.shifts = append(f.shifts, one)
		}
	}
	for _, h := range c.HandEntries {
		start, end := h.Start.Normal(), h.End.Normal()
		f.shifts = append(f.shifts, shift{
			start: cursor.Unix(start), end: cursor.Unix(end), day: start.Date,
			from: int64(start.Seconds), to: int64(end.Date-start.Date)*civil.SecondsPerDay + int64(end.Seconds),
		})
	}
	slices.SortStableFunc(f.shifts, func(a, b shift) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
}

// isHidden reports whether an entry of a span is not shown on a day.
func isHidden(hidden []HiddenShift, day civil.Date, s *span.Span, e *rotation.Entry) bool {
	return slices.Contains(hidden, HiddenShift{Day: day, Lane: s.Lane, Ordinal: e.Ordinal})
}

// compare compares each shift with the earlier shifts that have not ended, or else with the last
// shift that has.
func (f *Finder) compare(found *findings) {
	f.active = f.active[:0]
	var last *shift // the earlier shift that ends last
	var dayStart int64
	for i := range f.shifts {
		s := &f.shifts[i]
		f.active = slices.DeleteFunc(f.active, func(a shift) bool { return a.end <= s.start })
		for k := range f.active {
			found.addOverlap(&f.active[k], s)
		}
		switch {
		case last == nil || s.start-last.end >= MinRest:
			dayStart = s.start
		case s.start >= last.end && s.end-dayStart > MaxWorkingDay:
			found.addRest(last, s)
			dayStart = s.start
		}
		f.active = append(f.active, *s)
		if last == nil || s.end > last.end {
			last = s
		}
	}
}

// findings collects warnings by code and assignment.
type findings struct{ warnings []Warning }

func (f *findings) add(code Code, assignment int64, day civil.Date, text func() string) {
	i := slices.IndexFunc(f.warnings, func(w Warning) bool { return w.Code == code && w.AssignmentID == assignment })
	if i < 0 {
		f.warnings = append(f.warnings, Warning{Code: code, AssignmentID: assignment, Dates: []civil.Date{day}, Text: text()})
		return
	}
	if w := &f.warnings[i]; len(w.Dates) < MaxDates && !slices.Contains(w.Dates, day) {
		w.Dates = append(w.Dates, day)
	}
}

// addOverlap records that a later shift begins before an earlier one ends.
func (f *findings) addOverlap(earlier, later *shift) {
	if !earlier.added && !later.added {
		return
	}
	added, other := later, earlier
	if !later.added {
		added, other = earlier, later
	}
	if earlier.start == later.start && earlier.end == later.end {
		f.add(DuplicateShift, added.assignment, added.day, func() string {
			return fmt.Sprintf("On %s there are two shifts %s: %s has the same times.", added.day, added.times(), other.source())
		})
		return
	}
	f.add(OverlappingShift, added.assignment, added.day, func() string {
		return fmt.Sprintf("The shift %s on %s overlaps the shift %s on %s: %s.", added.times(), added.day, other.times(), other.day, other.source())
	})
}

// addRest records a short rest between two shifts.
func (f *findings) addRest(earlier, later *shift) {
	if !earlier.added && !later.added {
		return
	}
	assignment := later.assignment
	if !later.added {
		assignment = earlier.assignment
	}
	f.add(ShortRest, assignment, later.day, func() string {
		return fmt.Sprintf("There are %s of rest between the shift %s on %s and the shift %s on %s.", duration(later.start-earlier.end),
			earlier.times(), earlier.day, later.times(), later.day)
	})
}

// addClockChange records that a clock change alters the length of a new shift.
func (f *findings) addClockChange(s *shift) {
	by := s.end - s.start - (s.to - s.from)
	if !s.added || by == 0 {
		return
	}
	longer := "longer"
	if by < 0 {
		by, longer = -by, "shorter"
	}
	f.add(ClockChange, s.assignment, s.day, func() string {
		return fmt.Sprintf("A clock change makes the shift %s on %s %s %s.", s.times(), s.day, duration(by), longer)
	})
}

// list returns the warnings in the order of their codes and assignments, with ascending dates.
func (f *findings) list() []Warning {
	slices.SortFunc(f.warnings, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(slices.Index(Codes, a.Code), slices.Index(Codes, b.Code)), cmp.Compare(a.AssignmentID, b.AssignmentID))
	})
	for i := range f.warnings {
		slices.Sort(f.warnings[i].Dates)
	}
	return f.warnings
}

// times formats the wall-clock times of a shift.
func (s *shift) times() string {
	return clockTime(s.from) + "-" + clockTime(s.to)
}

func clockTime(seconds int64) string {
	seconds %= civil.SecondsPerDay
	return fmt.Sprintf("%02d:%02d", seconds/3600, seconds/60%60)
}

// source says where a shift comes from.
func (s *shift) source() string {
	if s.assignment == 0 {
		return "an entry made by hand"
	}
	if s.assignment < 0 { // A preview does not store it.
		return "another schedule pattern of the change"
	}
	return fmt.Sprintf("the schedule pattern assignment %d", s.assignment)
}

// duration formats seconds in hours and minutes.
func duration(seconds int64) string {
	var parts []string
	if hours := seconds / 3600; hours > 0 || seconds < 60 {
		parts = append(parts, fmt.Sprintf("%d h", hours))
	}
	if minutes := seconds / 60 % 60; minutes > 0 {
		parts = append(parts, fmt.Sprintf("%d min", minutes))
	}
	return strings.Join(parts, " ")
}
