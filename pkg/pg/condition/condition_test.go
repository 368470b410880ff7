package condition_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/pg/condition"
)

func TestDense(t *testing.T) {
	t.Parallel()
	every := func(n int, step int64) []int64 {
		ids := make([]int64, n)
		for i := range ids {
			ids[i] = 7 + int64(i)*step
		}
		return ids
	}
	for name, c := range map[string]struct {
		ids   []int64
		dense bool
	}{
		"none":                   {nil, false},
		"few":                    {every(64, 1), false},
		"all of a range":         {every(65, 1), true},
		"every second":           {every(200, 2), true},
		"every third":            {every(200, 3), false},
		"one far away":           {append(every(200, 1), 1_000_000), false},
		"as far as numbers go":   {append(every(200, 1), math.MinInt64, math.MaxInt64), false},
		"in descending order":    {reverse(every(100, 1)), true},
		"the same one each time": {slices.Repeat([]int64{5}, 100), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			least, greatest, dense := condition.Dense(c.ids)
			assert.Equal(t, c.dense, dense)
			if dense {
				assert.Equal(t, slices.Min(c.ids), least)
				assert.Equal(t, slices.Max(c.ids), greatest)
			}
		})
	}
}

func reverse(ids []int64) []int64 {
	slices.Reverse(ids)
	return ids
}
