package span

import "github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"

// Carry gives wanted spans the series of the current ones that generate the same entries: those of the same assignment
// first, then those of its lineage, from which it was split. What gets none keeps 0. A series is never on a day twice.
func Carry(current, wanted []Span, assignments []Assignment) {
	for _, related := range []func(c, w *Span) bool{
		func(c, w *Span) bool { return c.AssignmentID == w.AssignmentID },
		func(c, w *Span) bool { return sameLineage(assignments, c.AssignmentID, w.AssignmentID) },
	} {
		missing := false
		for i := range wanted {
			if wanted[i].Series == 0 {
				wanted[i].Series = inherited(current, wanted, i, related)
				missing = missing || wanted[i].Series == 0
			}
		}
		if !missing {
			return
		}
	}
}

// inherited returns the series of a current span that generates what wanted[i] does, one that shares days with it if
// there is one.
func inherited(current, wanted []Span, i int, related func(c, w *Span) bool) int64 {
	w, found := &wanted[i], int64(0)
	for k := range current {
		c := &current[k]
		if c.Series == 0 || !sameRotation(c, w) || !related(c, w) || taken(wanted, i, c.Series) {
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

// taken reports whether another wanted span has the series on a day of wanted[i].
func taken(wanted []Span, i int, series int64) bool {
	for k := range wanted {
		if k != i && wanted[k].Series == series && wanted[k].Days().Overlaps(wanted[i].Days()) {
			return true
		}
	}
	return false
}

// Number gives the spans that have no series one that take draws: the first of as many numbers as it is asked for.
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

// sameRotation reports whether the patterns of two spans are one, and at the same position on every day.
func sameRotation(a, b *Span) bool {
	return a.PatternID == b.PatternID && a.DayCount == b.DayCount && a.Inherited == b.Inherited &&
		b.Position == rotation.Position(a.From, a.Position, b.From, a.DayCount)
}

func sameLineage(assignments []Assignment, a, b int64) bool {
	lineage := lineageOf(assignments, a)
	return lineage != 0 && lineage == lineageOf(assignments, b)
}

func lineageOf(assignments []Assignment, id int64) int64 {
	for i := range assignments {
		if assignments[i].ID == id {
			return assignments[i].Lineage
		}
	}
	return 0
}
