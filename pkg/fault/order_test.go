package fault_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

func TestPropertiesAreVisitedInOrder(t *testing.T) {
	t.Parallel()
	for range 20 {
		var paths []string
		for path, value := range fault.InOrder(map[string]int{"c": 3, "a": 1, "b": 2, "d": 4}) {
			if value == 4 {
				break
			}
			paths = append(paths, path)
		}
		assert.Equal(t, []string{"a", "b", "c"}, paths)
	}
}
