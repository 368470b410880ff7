package encoding

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// defaultOrder is the order of requests that name none.
var defaultOrder = []request.Order{request.ByRequest, request.ByStart}

// sortEntries sorts entries by the orders, then by employee, start and id.
func sortEntries(entries []window.Entry, orders []request.Order, persons []window.Person) {
	if len(orders) == 0 {
		orders = defaultOrder
		gather(entries, persons)
	}
	compare := func(a, b window.Entry) int {
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
func gather(entries []window.Entry, persons []window.Person) {
	byRequest := func(a, b window.Entry) int { return compareBy(request.ByRequest, &a, &b, persons) }
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

func compareBy(o request.Order, a, b *window.Entry, persons []window.Person) int {
	switch o {
	case request.ByEmployee:
		return cmp.Compare(a.Employee, b.Employee)
	case request.ByRequest:
		if a.Employee == b.Employee {
			return 0 // Open shifts have no employee.
		}
		return cmp.Compare(persons[a.Employee].RequestIndex, persons[b.Employee].RequestIndex)
	case request.ByStart:
		return cmp.Compare(a.Start, b.Start)
	case request.ByEnd:
		return cmp.Compare(a.End(), b.End())
	default:
		return strings.Compare(a.Location(), b.Location())
	}
}

// requestOrder returns the indexes of persons in the order of the request.
func requestOrder(persons []window.Person) []int32 {
	order := make([]int32, len(persons))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(persons[a].RequestIndex, persons[b].RequestIndex) })
	return order
}
