package fault

import (
	"iter"
	"maps"
	"slices"
)

// InOrder visits the properties of a request by their paths, in alphabetical order, so
// that the same request fails with the same error each time.
func InOrder[V any](properties map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, path := range slices.Sorted(maps.Keys(properties)) {
			if !yield(path, properties[path]) {
				return
			}
		}
	}
}
