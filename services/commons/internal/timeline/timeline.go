// Package timeline changes dated values.
package timeline

import "github.com/rotaloom/rotaloom/pkg/civil"

// Interval is a value with the days on which it applies.
type Interval[V any] struct {
	Days  civil.Range
	Value V
}

// Change returns the intervals with change applied on the given days. Other days stay as they
// were, and days without an interval stay without one. The given intervals must be in order
// and must not overlap; so are the returned ones.
func Change[V any](intervals []Interval[V], days civil.Range, change func(V) V) []Interval[V] {
	out := make([]Interval[V], 0, len(intervals)+2)
	for _, p := range intervals {
		if !p.Days.Overlaps(days) {
			out = append(out, p)
			continue
		}
		inside := p.Days.Intersect(days)
		out = add(out, civil.Range{From: p.Days.From, To: inside.From}, p.Value)
		out = add(out, inside, change(p.Value))
		out = add(out, civil.Range{From: inside.To, To: p.Days.To}, p.Value)
	}
	return out
}

// On returns the value that applies on a day.
func On[V any](intervals []Interval[V], day civil.Date) (V, bool) {
	for _, p := range intervals {
		if p.Days.Contains(day) {
			return p.Value, true
		}
	}
	var none V
	return none, false
}

func add[V any](out []Interval[V], days civil.Range, value V) []Interval[V] {
	if days.Empty() {
		return out
	}
	return append(out, Interval[V]{days, value})
}
