package person

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// settleDates fills in the dates that a caller left out of a list and refuses
// those that disagree. An element begins on first unless it says otherwise. It
// ends never, or, in a list with one element for a day, where the next begins.
func settleDates(l list, elements []element, first civil.Date) error {
	if l.undated {
		return refuseTwice(l, elements)
	}
	ranges := make([]civil.Range, len(elements))
	for i, e := range elements {
		r, err := readDates(fmt.Sprintf("%s[%d]", l.path, i), e, first)
		if err != nil {
			return err
		}
		ranges[i] = r
	}
	for i, e := range elements {
		if l.keys == 0 && *e.expiration == "" {
			ranges[i].To = nextStart(ranges, ranges[i].From)
		}
		if ranges[i].Empty() {
			return fault.Invalid(CodeDates, fmt.Sprintf("%s[%d]: expirationDate %s is not after effectiveDate %s.", l.path, i, ranges[i].To, ranges[i].From))
		}
	}
	if err := refuseOverlaps(l, elements, ranges); err != nil {
		return err
	}
	for i, e := range elements {
		*e.effective, *e.expiration = ranges[i].From.String(), ranges[i].To.String()
	}
	return nil
}

// refuseOverlaps refuses elements that may not hold at the same time.
func refuseOverlaps(l list, elements []element, ranges []civil.Range) error {
	order := make([]int, len(elements))
	keys := make([]string, len(elements))
	for i, e := range elements {
		order[i], keys[i] = i, e.fingerprint(l.keys)
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(ranges[a].From, ranges[b].From))
	})
	for i := 1; i < len(order); i++ {
		a, b := order[i-1], order[i]
		if keys[a] == keys[b] && ranges[a].Overlaps(ranges[b]) {
			return fault.Invalid(CodeDates, fmt.Sprintf("%s[%d] and %s[%d] overlap.", l.path, min(a, b), l.path, max(a, b)))
		}
	}
	return nil
}

// refuseTwice refuses two elements with the same key.
func refuseTwice(l list, elements []element) error {
	seen := make(map[string]bool, len(elements))
	for i, e := range elements {
		key := e.fingerprint(l.keys)
		if seen[key] {
			return fault.Invalid(CodeBadValue, fmt.Sprintf("%s[%d]: the same %s is there twice.", l.path, i, l.columns[0].property))
		}
		seen[key] = true
	}
	return nil
}

func readDates(path string, e element, first civil.Date) (civil.Range, error) {
	r := civil.Range{From: first, To: civil.Forever}
	var err error
	if *e.effective != "" {
		if r.From, err = civil.ParseDate(*e.effective); err != nil {
			return r, fault.Invalid(fault.CodeDate, fmt.Sprintf("%s.effectiveDate: %s.", path, err))
		}
	}
	if *e.expiration != "" {
		if r.To, err = civil.ParseDate(*e.expiration); err != nil {
			return r, fault.Invalid(fault.CodeDate, fmt.Sprintf("%s.expirationDate: %s.", path, err))
		}
	}
	return r.Clamp(), nil
}

// nextStart answers the first start after a day, or forever.
func nextStart(ranges []civil.Range, after civil.Date) civil.Date {
	next := civil.Forever
	for _, r := range ranges {
		if r.From > after {
			next = min(next, r.From)
		}
	}
	return next
}

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
