package entryid_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
)

func TestLayout(t *testing.T) {
	t.Parallel()
	id, err := entryid.Encode(entryid.Entry{Series: 1, Day: civil.Beginning})
	require.NoError(t, err)
	assert.Equal(t, int64(1)<<52|1<<19, id)

	id, err = entryid.Encode(entryid.Entry{Series: 3, Day: civil.Beginning + 5})
	require.NoError(t, err)
	assert.Equal(t, int64(1)<<52|3<<19|5, id)

	id, err = entryid.Encode(entryid.Entry{Series: entryid.MaxSeries, Day: civil.Forever - 1})
	require.NoError(t, err)
	assert.Less(t, id, int64(1)<<53)
	assert.Equal(t, id, int64(float64(id)), "a double holds it")
}

func TestGeneratedIDs(t *testing.T) {
	t.Parallel()
	for id, generated := range map[int64]bool{
		0: false, -1: false, entryid.FirstGenerated - 1: false, entryid.FirstGenerated: true,
		2*entryid.FirstGenerated - 1: true, 2 * entryid.FirstGenerated: false, math.MaxInt64: false,
	} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			assert.Equal(t, generated, entryid.IsGenerated(id), id)
		})
	}
}

func TestThereAndBack(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		e := entryid.Entry{
			Series: 1 + random.Int64N(entryid.MaxSeries), Day: civil.Beginning + civil.Date(random.Int32N(int32(civil.Forever-civil.Beginning))),
		}
		id, err := entryid.Encode(e)
		require.NoError(t, err)
		back, err := entryid.Decode(id)
		require.NoError(t, err)
		if !entryid.IsGenerated(id) || back != e {
			require.FailNow(t, "another entry came back", "%+v, %+v", e, back)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	good := entryid.Entry{Series: 207, Day: civil.Of(2026, 1, 5)}
	for name, spoil := range map[string]func(*entryid.Entry){
		"no series":       func(e *entryid.Entry) { e.Series = 0 },
		"negative series": func(e *entryid.Entry) { e.Series = -1 },
		"large series":    func(e *entryid.Entry) { e.Series = 1 << 33 },
		"before all days": func(e *entryid.Entry) { e.Day = civil.Beginning - 1 },
		"after all days":  func(e *entryid.Entry) { e.Day = civil.Forever },
		"far after":       func(e *entryid.Entry) { e.Day = math.MaxInt32 },
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			spoil(&bad)
			_, err := entryid.Encode(bad)
			assert.ErrorIs(t, err, entryid.ErrRange, name)
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []int64{
		0, -1, 1, 1 << 51, 1<<52 - 1, 1 << 52, 1<<52 | 1<<19, 1<<53 - 1, 1 << 53, 1<<53 | 1<<52 | 1<<19, math.MinInt64, math.MaxInt64,
		math.MinInt64 | 1<<52 | 1<<19,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id int64) {
		e, err := entryid.Decode(id)
		if err != nil {
			require.ErrorIs(t, err, entryid.ErrNotGenerated)
			require.Zero(t, e)
			return
		}
		require.True(t, entryid.IsGenerated(id))
		back, err := entryid.Encode(e)
		require.NoError(t, err)
		require.Equal(t, id, back)
	})
}

func BenchmarkEncode(b *testing.B) {
	b.ReportAllocs()
	e := entryid.Entry{Series: 207, Day: 20000}
	for range b.N {
		if _, err := entryid.Encode(e); err != nil {
			b.Fatal(err)
		}
	}
}
