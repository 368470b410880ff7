package civil_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

func TestRange(t *testing.T) {
	t.Parallel()
	january := civil.Through(day(t, "2026-01-01"), day(t, "2026-01-31"))
	assert.Equal(t, "2026-01-01..2026-02-01", january.String())
	assert.Equal(t, 31, january.Days())
	assert.True(t, january.Contains(january.From))
	assert.False(t, january.Contains(january.To))

	second := civil.Range{From: january.From.AddDays(7), To: january.From.AddDays(14)}
	assert.True(t, january.Covers(second))
	assert.False(t, second.Covers(january))
	assert.True(t, january.Covers(january))
	assert.False(t, january.Covers(civil.Range{From: january.From - 1, To: january.To}))
	assert.False(t, january.Covers(civil.Range{From: january.From, To: january.To + 1}))
	assert.True(t, second.Overlaps(january))
	assert.Equal(t, second, january.Intersect(second))

	next := civil.Range{From: january.To, To: january.To + 5}
	assert.False(t, january.Overlaps(next), "touching is not overlapping")
	assert.Equal(t, civil.Range{}, january.Intersect(next))

	backwards := civil.Range{From: january.To, To: january.From}
	assert.True(t, backwards.Empty())
	assert.Zero(t, backwards.Days())
	assert.True(t, january.Covers(backwards))
	assert.False(t, january.Overlaps(backwards))
	assert.Equal(t, civil.Range{From: civil.Beginning, To: civil.Forever}, civil.Range{From: -1 << 31, To: 1<<31 - 1}.Clamp())
}

// Lists of ranges against sets of days.
func TestRangeListsAgainstSets(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		a, b := randomRanges(random), randomRanges(random)
		inA, inB := days(a), days(b)
		a, b = civil.Normalise(a), civil.Normalise(b)
		requireNormalised(t, a)
		if days(a) != inA {
			require.FailNow(t, "Normalise changed the days", "%v", a)
		}

		difference := civil.AppendDifference(nil, a, b)
		requireNormalised(t, difference)
		inDifference := days(difference)
		for d := range inA {
			if inDifference[d] != (inA[d] && !inB[d]) {
				require.FailNow(t, "wrong days", "%v and %v: difference %v", a, b, difference)
			}
		}
	}
}

func randomRanges(random *rand.Rand) []civil.Range {
	list := make([]civil.Range, random.IntN(6))
	for i := range list {
		from := civil.Date(random.IntN(50))
		list[i] = civil.Range{From: from, To: from + civil.Date(random.IntN(12)-2)}
	}
	return list
}

func days(list []civil.Range) (in [64]bool) {
	for _, r := range list {
		for d := r.From; d < r.To; d++ {
			in[d] = true
		}
	}
	return in
}

func requireNormalised(t *testing.T, list []civil.Range) {
	t.Helper()
	for i, r := range list {
		if r.Empty() || i > 0 && list[i-1].To >= r.From {
			require.FailNow(t, "not normalised", "%v", list)
		}
	}
}

func TestRangeInWords(t *testing.T) {
	t.Parallel()
	week := civil.Through(day(t, "2026-03-02"), day(t, "2026-03-08"))
	assert.Equal(t, "the days 2026-03-02 to 2026-03-08", week.Words())
	week.To = civil.Forever
	assert.Equal(t, "the days from 2026-03-02 on", week.Words())
}
