package clock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

func TestClocksSpeakUTC(t *testing.T) {
	t.Parallel()
	tokyo := time.FixedZone("tokyo", 9*60*60)
	start := time.Date(2026, 3, 1, 8, 0, 0, 0, tokyo)

	var fake clock.Clock = clock.NewFake(start)
	assert.Equal(t, time.UTC, fake.Now().Location())
	assert.True(t, start.Equal(fake.Now()))
	assert.Equal(t, time.UTC, clock.System{}.Now().Location())
}

func TestFakeMovesOnlyWhenAdvanced(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	fake := clock.NewFake(start)

	assert.Equal(t, start, fake.Now())
	assert.Equal(t, start.Add(time.Hour), fake.Advance(time.Hour))
	assert.Equal(t, start.Add(time.Hour), fake.Now())
	fake.Set(start.AddDate(-1, 0, 0))
	assert.Equal(t, start.AddDate(-1, 0, 0), fake.Now())
}

func TestAStopwatchRuns(t *testing.T) {
	t.Parallel()
	watch := clock.Start()
	first := watch.Elapsed()
	assert.GreaterOrEqual(t, first, time.Duration(0))
	assert.GreaterOrEqual(t, watch.Elapsed(), first)
	assert.Greater(t, clock.Stopwatch{}.Elapsed(), 24*time.Hour, "the zero stopwatch has always run")
}
