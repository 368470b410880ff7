package fault

import (
	"iter"
	"maps"
	"slices"
)

// InOrder visits the properties of a request in the alphabetical order of their paths, so that the
// same request always fails with the same error.
func InOrder[V any](properties map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, path := range slices.Sorted(maps.Keys(properties)) {
			if !yield(path, properties[path]) {
				return
			}
		}
	}
}
