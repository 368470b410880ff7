package civil_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// Somebody moves from Berlin to Auckland on 2 March, and to New York on 9 March.
func TestClocks(t *testing.T) {
	t.Parallel()
	zone := func(name string) *civil.Zone {
		z, err := civil.LoadZone(name)
		require.NoError(t, err)
		return z
	}
	berlin, auckland, newYork := zone("Europe/Berlin"), zone("Pacific/Auckland"), zone("America/New_York")
	moved := civil.NewClocks(berlin).From(civil.Of(2026, 3, 2), auckland).From(civil.Of(2026, 3, 9), newYork)
	for day, want := range map[civil.Date]*civil.Zone{
		civil.Beginning: berlin, civil.Of(2026, 3, 1): berlin, civil.Of(2026, 3, 2): auckland, civil.Of(2026, 3, 8): auckland,
		civil.Of(2026, 3, 9): newYork, civil.Forever: newYork,
	} {
		t.Run(day.String(), func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want.Name(), moved.On(day).Name())
		})
	}
	for instant, want := range map[string]string{
		"2026-03-01T10:59:59Z": "2026-03-01T11:59:59", // 23:59:59 in Auckland
		"2026-03-01T11:00:00Z": "2026-03-02T00:00:00",
		"2026-03-08T12:00:00Z": "2026-03-09T01:00:00", // New York has not begun the day.
		"2026-03-09T03:59:59Z": "2026-03-09T16:59:59",
		"2026-03-09T04:00:00Z": "2026-03-09T00:00:00",
	} {
		t.Run(instant, func(t *testing.T) {
			t.Parallel()
			at, err := time.Parse(time.RFC3339, instant)
			require.NoError(t, err)
			assert.Equal(t, want, moved.At(at).String())
		})
	}
	assert.Equal(t, []civil.Date{civil.Of(2026, 3, 2), civil.Of(2026, 3, 9)}, moved.Moves())
	assert.Empty(t, civil.NewClocks(berlin).Moves())
	for first, want := range map[civil.Date]string{civil.Of(2026, 3, 2): "Europe/Berlin", civil.Of(2026, 3, 3): "Pacific/Auckland", civil.Of(2026, 3, 9): "Pacific/Auckland", civil.Of(2026, 3, 10): "America/New_York"} {
		t.Run("before "+first.String(), func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, moved.Before(first).On(civil.Forever).Name())
		})
	}
	cursor := moved.Cursor()
	for _, day := range []civil.Date{civil.Of(2026, 3, 1), civil.Of(2026, 3, 2), civil.Of(2026, 3, 1)} {
		from, until := cursor.Interval(day, 22*3600, 30*3600)
		assert.Equal(t, moved.On(day).Unix(day.At(22*3600)), from)
		assert.Equal(t, int64(8*3600), until-from, "a night stays in the zone of its first day")
	}
	assert.Equal(t, berlin.Unix(civil.Of(2026, 3, 1).At(0)), moved.Unix(civil.Of(2026, 3, 1).At(0)))
}
