package person

import (
	"cmp"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// entry is an element of a list with the days on which it holds.
type entry struct {
	days civil.Range
	// key tells apart what may hold at the same time, value also the rest.
	key, value string
	element    element
}

// always are the days of what has none.
var always = civil.Range{From: civil.Beginning, To: civil.Forever}

// entries answers the settled elements of a list.
func (l list) entries(r *record) []entry {
	elements := l.elements(r)
	out := make([]entry, len(elements))
	for i, e := range elements {
		out[i] = entry{
			days: always,
			key:  e.fingerprint(l.keys), value: e.fingerprint(len(e.values)), element: e,
		}
		if !l.undated {
			out[i].days = rangeOf(*e.effective, *e.expiration)
		}
	}
	return out
}

// put makes the entries the whole list of a record.
func (l list) put(r *record, entries []entry) {
	l.clear(r)
	for _, e := range entries {
		to := l.add(r)
		copyValues(to, e.element)
		if !l.undated {
			*to.effective, *to.expiration = e.days.From.String(), e.days.To.String()
		}
	}
}

// overlay answers a list after new entries replaced what held on their days,
// in order. Other days keep what they had; neighbours that say the same are
// joined. Neither list has two entries of a key on a day.
func overlay(old, fresh []entry) []entry {
	covered := map[string][]civil.Range{}
	for _, e := range fresh {
		covered[e.key] = append(covered[e.key], e.days)
	}
	for key, ranges := range covered {
		covered[key] = civil.Normalise(ranges)
	}
	out := slices.Clone(fresh)
	for _, e := range old {
		for _, left := range civil.AppendDifference(nil, []civil.Range{e.days}, covered[e.key]) {
			kept := e
			kept.days = left
			out = append(out, kept)
		}
	}
	return join(out)
}

// join sorts entries and joins neighbours that say the same.
func join(entries []entry) []entry {
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.days.From, b.days.From))
	})
	out := entries[:0]
	for _, e := range entries {
		if n := len(out); n > 0 && out[n-1].value == e.value && out[n-1].days.To >= e.days.From {
			out[n-1].days.To = max(out[n-1].days.To, e.days.To)
			continue
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.days.From, b.days.From), cmp.Compare(a.value, b.value))
	})
	return out
}

// same reports whether two ordered lists say the same.
func same(a, b []entry) bool {
	return slices.EqualFunc(a, b, func(x, y entry) bool { return x.days == y.days && x.value == y.value })
}

// kept leaves out the entries that say that there is nothing: an empty text, an
// empty address, no wage.
func (l list) kept(entries []entry) []entry {
	if l.empty == nil {
		return entries
	}
	return slices.DeleteFunc(entries, func(e entry) bool { return l.empty(e.element) })
}
