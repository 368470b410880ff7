package span

import "github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"

// Carry copies the series of current spans to the new spans that generate the same entries: first
// to spans of the same assignment, then to spans of assignments that were split from it. Other
// spans keep series 0. Spans of one series never overlap.
func Carry(current, target []Span, assignments []Assignment) {
	for _, related := range relations(assignments) {
		missing := false
		for i := range target {
			if target[i].Series == 0 {
				target[i].Series = carriedSeries(current, target, i, related)
				missing = missing || target[i].Series == 0
			}
		}
		if !missing {
			return
		}
	}
}

// CarryBack is Carry for spans that return: former are spans that were replaced, the first to be
// replaced first. A span that generates the same as a current one on the same days keeps its series.
// Otherwise it gets the series that it had on its days, and only then that of other days.
func CarryBack(current, former, target []Span, assignments []Assignment) {
	if len(former) == 0 {
		Carry(current, target, assignments)
		return
	}
	for _, related := range relations(assignments) {
		for i := range target {
			if target[i].Series == 0 && overlappingSeries(current, target, i, related) == 0 {
				target[i].Series = overlappingSeries(former, target, i, related)
			}
		}
	}
	Carry(current, target, assignments)
	Carry(former, target, assignments)
}

// relations are the spans that may have the same series: first those of the same assignment, then
// those of assignments that were split from it.
func relations(assignments []Assignment) [2]func(c, w *Span) bool {
	return [...]func(c, w *Span) bool{
		func(c, w *Span) bool { return c.AssignmentID == w.AssignmentID },
		func(c, w *Span) bool { return sameLineage(assignments, c.AssignmentID, w.AssignmentID) },
	}
}

// overlappingSeries returns the series of the first span that generates the same entries as
// wanted[i] on one of its days, or 0.
func overlappingSeries(spans, wanted []Span, i int, related func(c, w *Span) bool) int64 {
	w := &wanted[i]
	for k := range spans {
		c := &spans[k]
		if c.Series != 0 && c.Days().Overlaps(w.Days()) && sameRotation(c, w) && related(c, w) && !isTaken(wanted, i, c.Series) {
			return c.Series
		}
	}
	return 0
}

// carriedSeries returns the series of a current span that generates the same entries as wanted[i],
// preferably of one that overlaps it.
func carriedSeries(current, wanted []Span, i int, related func(c, w *Span) bool) int64 {
	w, found := &wanted[i], int64(0)
	for k := range current {
		c := &current[k]
		if c.Series == 0 || !sameRotation(c, w) || !related(c, w) || isTaken(wanted, i, c.Series) {
			continue
		}
		if c.Days().Overlaps(w.Days()) {
			return c.Series
		}
		if found == 0 {
			found = c.Series
		}
	}
	return found
}

// isTaken reports whether another span has the series on a day of wanted[i].
func isTaken(wanted []Span, i int, series int64) bool {
	for k := range wanted {
		if k != i && wanted[k].Series == series && wanted[k].Days().Overlaps(wanted[i].Days()) {
			return true
		}
	}
	return false
}

// Number assigns a series to each span without one. take allocates count numbers and returns the
// first.
func Number(spans []Span, assignments []Assignment, take func(count int32) (int64, error)) error {
	for i := range spans {
		s := &spans[i]
		if s.Series != 0 {
			continue
		}
		count := int32(0)
		for k := range assignments {
			if assignments[k].ID == s.AssignmentID {
				count = assignments[k].EntriesPerDay
			}
		}
		if count < 1 {
			count = rotation.MaxEntriesPerDay
		}
		var err error
		if s.Series, err = take(count); err != nil {
			return err
		}
	}
	return nil
}

// sameRotation reports whether two spans have the same pattern at the same position on every day.
func sameRotation(a, b *Span) bool {
	return a.PatternID == b.PatternID && a.DayCount == b.DayCount && a.Inherited == b.Inherited &&
		b.Position == rotation.Position(a.From, a.Position, b.From, a.DayCount)
}

func sameLineage(assignments []Assignment, a, b int64) bool {
	lineage := findLineage(assignments, a)
	return lineage != 0 && lineage == findLineage(assignments, b)
}

func findLineage(assignments []Assignment, id int64) int64 {
	for i := range assignments {
		if assignments[i].ID == id {
			return assignments[i].Lineage
		}
	}
	return 0
}
