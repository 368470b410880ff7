package backoff_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/backoff"
)

func TestBackoffDoublesUpToTheMost(t *testing.T) {
	t.Parallel()
	b := backoff.Backoff{First: 8 * time.Millisecond, Max: 20 * time.Millisecond}
	for i, most := range []time.Duration{8, 16, 20, 20} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			most *= time.Millisecond
			got := b.Next()
			assert.GreaterOrEqual(t, got, most/2)
			assert.LessOrEqual(t, got, most)
		})
	}
	assert.Equal(t, 4, b.Attempts())
	for range 100 {
		assert.GreaterOrEqual(t, b.Next(), b.Max/2, "no number of attempts overflows")
	}
	b.Reset()
	assert.Zero(t, b.Attempts())
	assert.LessOrEqual(t, b.Next(), b.First)
}

func TestAfterSoManyFailures(t *testing.T) {
	t.Parallel()
	b := backoff.Backoff{First: 30 * time.Second, Max: 6 * time.Hour}
	for failed, most := range map[int]time.Duration{
		0: 30 * time.Second, 1: 30 * time.Second, 2: time.Minute, 5: 8 * time.Minute, 10: 256 * time.Minute, 11: 6 * time.Hour, 1 << 30: 6 * time.Hour,
	} {
		t.Run(fmt.Sprint(failed), func(t *testing.T) {
			got := b.After(failed)
			assert.GreaterOrEqual(t, got, most/2, failed)
			assert.LessOrEqual(t, got, most, failed)
		})
	}
	assert.Zero(t, b.Attempts())
}

func TestWaitEndsWithTheContext(t *testing.T) {
	t.Parallel()
	b := backoff.Backoff{First: time.Hour, Max: time.Hour}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, b.Wait(ctx), context.Canceled)
	b = backoff.Backoff{First: 1, Max: 1}
	require.NoError(t, b.Wait(t.Context()))
}
