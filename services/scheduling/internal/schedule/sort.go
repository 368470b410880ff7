package schedule

import (
	"cmp"
	"slices"
	"strings"
)

// defaultOrder is the order when none is asked for.
var defaultOrder = []order{byAsked, byStart}

// sortEntries puts entries in order. What the wanted orders leave open is
// decided by employee, start and id.
func sortEntries(entries []entry, orders []order, persons []person) {
	if len(orders) == 0 {
		orders = defaultOrder
		gather(entries, persons)
	}
	compare := func(a, b entry) int {
		for _, o := range orders {
			if c := compareBy(o, &a, &b, persons); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(a.employee, b.employee), cmp.Compare(a.start, b.start), cmp.Compare(a.id, b.id))
	}
	if !slices.IsSortedFunc(entries, compare) {
		slices.SortFunc(entries, compare)
	}
}

// gather brings the entries of each person together, in the order in which the
// persons were asked for, and leaves them as they are among themselves. Entries
// come by person and day, so that mostly no more sorting is needed.
func gather(entries []entry, persons []person) {
	inOrder := func(a, b entry) int { return compareBy(byAsked, &a, &b, persons) }
	if slices.IsSortedFunc(entries, inOrder) {
		return
	}
	count := make([]int, len(persons))
	for i := range entries {
		count[entries[i].employee]++
	}
	next := make([]int, len(persons)) // where the next entry of a person goes
	at := 0
	for _, person := range asAsked(persons) {
		next[person] = at
		at += count[person]
	}
	for _, e := range slices.Clone(entries) {
		entries[next[e.employee]] = e
		next[e.employee]++
	}
}

func compareBy(o order, a, b *entry, persons []person) int {
	switch o {
	case byEmployee:
		return cmp.Compare(a.employee, b.employee)
	case byAsked:
		if a.employee == b.employee {
			return 0 // Open shifts have no employee.
		}
		return cmp.Compare(persons[a.employee].asked, persons[b.employee].asked)
	case byStart:
		return cmp.Compare(a.start, b.start)
	case byEnd:
		return cmp.Compare(a.end(), b.end())
	default:
		return strings.Compare(a.template.location, b.template.location)
	}
}
