package timeline

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// last is the end of the days that the test looks at.
const last = 40

func naive(intervals []Interval[int]) [last]int {
	var out [last]int
	for d := range out {
		out[d], _ = On(intervals, civil.Date(d))
	}
	return out
}

func TestChangesComparedWithDays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		intervals := []Interval[int]{{civil.Range{From: 2, To: 12}, 1}, {civil.Range{From: 15, To: 30}, 2}}
		want := naive(intervals)
		for step := range rapid.IntRange(1, 8).Draw(t, "steps") {
			from := rapid.IntRange(0, last-1).Draw(t, "from")
			to := rapid.IntRange(from, last).Draw(t, "to")
			value := step + 3
			intervals = Change(intervals, civil.Range{From: civil.Date(from), To: civil.Date(to)}, func(int) int { return value })
			for d := from; d < to; d++ {
				if want[d] != 0 {
					want[d] = value
				}
			}
			assert.Equal(t, want, naive(intervals))
			for i, p := range intervals {
				assert.False(t, p.Days.Empty())
				assert.True(t, i == 0 || intervals[i-1].Days.To <= p.Days.From, "in order and apart")
			}
		}
	})
}
