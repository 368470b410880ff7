package projection

import (
	"cmp"
	"slices"
)

// newest returns the states with the largest version of each id, by ascending
// id. A statement may touch a row only once, and transactions that touch rows
// in the same order do not wait for each other in a circle.
func newest[S any](states []S, id, version func(S) int64) []S {
	sorted := slices.Clone(states)
	slices.SortStableFunc(sorted, func(a, b S) int {
		return cmp.Or(cmp.Compare(id(a), id(b)), cmp.Compare(version(b), version(a)))
	})
	return slices.CompactFunc(sorted, func(a, b S) bool { return id(a) == id(b) })
}
