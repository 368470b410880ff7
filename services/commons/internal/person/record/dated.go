package record

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// DatedElement is an element of a list with the days on which it applies.
type DatedElement struct {
	Days civil.Range
	// key distinguishes elements that may apply at the same time; value also contains the other
	// columns.
	key, value string
	Element    Element
}

// alwaysDays are the days of elements without dates.
var alwaysDays = civil.Range{From: civil.Beginning, To: civil.Forever}

// DatedElements returns the normalized elements of a list.
func (l List) DatedElements(r *Record) []DatedElement {
	elements := l.Elements(r)
	out := make([]DatedElement, len(elements))
	for i, e := range elements {
		out[i] = DatedElement{
			Days: alwaysDays,
			key:  l.Fingerprint(e, l.Keys), value: l.Fingerprint(e, len(l.Columns)), Element: e,
		}
		if !l.Undated {
			out[i].Days = CheckedRange(l.Dates(e))
		}
	}
	return out
}

// Set replaces the list of a record with the entries.
func (l List) Set(r *Record, entries []DatedElement) {
	l.Clear(r)
	for _, e := range entries {
		to := l.add(r)
		proto.Merge(to.Interface(), e.Element.Interface())
		if !l.Undated {
			l.SetDates(to, e.Days.From.String(), e.Days.To.String())
		}
	}
}

// overlay returns, in order, a list after new entries replaced the old ones on their days.
// A new entry that repeats the value of an old one, and ends earlier, ends it. Other days stay as they
// were. Adjacent entries with equal values are joined. Neither list has two entries with the same key on
// a day.
func overlay(old, fresh []DatedElement) []DatedElement {
	covered := map[string][]civil.Range{}
	for _, e := range fresh {
		covered[e.key] = append(covered[e.key], e.Days)
		for _, o := range old {
			if o.key == e.key && o.value == e.value && o.Days.Contains(e.Days.From) && e.Days.To < o.Days.To {
				covered[e.key] = append(covered[e.key], civil.Range{From: e.Days.To, To: o.Days.To})
			}
		}
	}
	for key, ranges := range covered {
		covered[key] = civil.Normalise(ranges)
	}
	out := slices.Clone(fresh)
	for _, e := range old {
		for _, left := range civil.AppendDifference(nil, []civil.Range{e.Days}, covered[e.key]) {
			kept := e
			kept.Days = left
			out = append(out, kept)
		}
	}
	return MergeAdjacent(out)
}

// MergeAdjacent sorts entries and joins adjacent ones with equal values.
func MergeAdjacent(entries []DatedElement) []DatedElement {
	slices.SortStableFunc(entries, func(a, b DatedElement) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.Days.From, b.Days.From))
	})
	out := entries[:0]
	for _, e := range entries {
		if n := len(out); n > 0 && out[n-1].value == e.value && out[n-1].Days.To >= e.Days.From {
			out[n-1].Days.To = max(out[n-1].Days.To, e.Days.To)
			continue
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b DatedElement) int {
		return cmp.Or(cmp.Compare(a.Days.From, b.Days.From), cmp.Compare(a.value, b.value))
	})
	return out
}

// EqualElements reports whether two ordered lists are equal.
func EqualElements(a, b []DatedElement) bool {
	return slices.EqualFunc(a, b, func(x, y DatedElement) bool { return x.Days == y.Days && x.value == y.value })
}

// DropEmpty removes entries with empty values: an empty text, an empty address, no wage.
func (l List) DropEmpty(entries []DatedElement) []DatedElement {
	if l.empty == nil {
		return entries
	}
	return slices.DeleteFunc(entries, func(e DatedElement) bool { return l.empty(e.Element) })
}
