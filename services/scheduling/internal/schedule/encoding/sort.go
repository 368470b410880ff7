package encoding

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

// defaultOrder is the order of requests that name none.
var defaultOrder = []request.Order{request.ByRequest, request.ByStart}

// sortEntries sorts entries by the orders, then by employee, start and id.
func sortEntries(entries []Entry, orders []request.Order, persons []Person) {
	if len(orders) == 0 {
		orders = defaultOrder
		gather(entries, persons)
	}
	compare := func(a, b Entry) int {
		for _, o := range orders {
			if c := compareBy(o, &a, &b, persons); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(a.Employee, b.Employee), cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
	}
	if !slices.IsSortedFunc(entries, compare) {
		slices.SortFunc(entries, compare)
	}
}

// gather groups the entries of each person in the order of the request, and keeps their order
// within a person. Entries arrive by person and day, so that mostly no other sorting is needed.
func gather(entries []Entry, persons []Person) {
	byRequest := func(a, b Entry) int { return compareBy(request.ByRequest, &a, &b, persons) }
	if slices.IsSortedFunc(entries, byRequest) {
		return
	}
	count := make([]int, len(persons))
	for i := range entries {
		count[entries[i].Employee]++
	}
	next := make([]int, len(persons)) // index of the next entry of each person
	at := 0
	for _, person := range requestOrder(persons) {
		next[person] = at
		at += count[person]
	}
	for _, e := range slices.Clone(entries) {
		entries[next[e.Employee]] = e
		next[e.Employee]++
	}
}

func compareBy(o request.Order, a, b *Entry, persons []Person) int {
	switch o {
	case request.ByEmployee:
		return cmp.Compare(a.Employee, b.Employee)
	case request.ByRequest:
		if a.Employee == b.Employee {
			return 0 // Open shifts have no employee.
		}
		return cmp.Compare(persons[a.Employee].requestIndex, persons[b.Employee].requestIndex)
	case request.ByStart:
		return cmp.Compare(a.Start, b.Start)
	case request.ByEnd:
		return cmp.Compare(a.End(), b.End())
	default:
		return strings.Compare(a.location(), b.location())
	}
}
