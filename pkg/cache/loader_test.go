package cache_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/cache"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

type question int

func (q question) String() string { return strconv.Itoa(int(q)) }

// newLoader returns a Loader of 2 entries at most that weigh 10 together.
func newLoader(clk clock.Clock) *cache.Loader[question, int] {
	return cache.NewLoader[question](clk, cache.LoaderConfig[int]{
		TTL:     func(v int) time.Duration { return time.Duration(v) * time.Second },
		Timeout: time.Minute,
		Config:  cache.Config[int]{Entries: 2, Weight: 10, WeightOf: func(v int) int { return v }},
	})
}

func TestLoaderKeepsValuesForAWhile(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Now())
	loader := newLoader(clk)
	asked := 0
	get := func(q question, v int) int {
		t.Helper()
		got, err := loader.Get(t.Context(), q, func(context.Context) (int, error) { asked++; return v, nil })
		require.NoError(t, err)
		return got
	}
	assert.Equal(t, 5, get(1, 5))
	assert.Equal(t, 5, get(1, 6), "remembered")
	clk.Advance(5 * time.Second)
	assert.Equal(t, 4, get(1, 4), "for as long as the response counts")
	get(2, 6)
	assert.Equal(t, 3, asked)
	assert.Equal(t, 4, get(1, 9), "ten in all fit")
	get(3, 1)
	assert.Equal(t, 4, get(1, 9), "what was used lately stays when there is a third one")
	assert.Equal(t, 5, get(2, 5), "and what was used longest ago goes")
	asked = 0
	get(4, 11)
	get(4, 11)
	assert.Equal(t, 2, asked, "what is too heavy is not kept")
}

// Each of the two bounds holds alone, and may be reached.
func TestLoaderMayFillItsBounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kept, forgotten []int // What responses weigh; each is of a question of its own.
	}{
		"one that weighs all":         {kept: []int{10}},
		"one that weighs too much":    {forgotten: []int{11}},
		"as many as may be":           {kept: []int{1, 1}},
		"one more, which weighs less": {forgotten: []int{1}, kept: []int{1, 1}},
		"two that weigh all":          {kept: []int{6, 4}},
		"two that weigh too much":     {forgotten: []int{6}, kept: []int{5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loader := newLoader(clock.NewFake(time.Now()))
			all := append(c.forgotten[:len(c.forgotten):len(c.forgotten)], c.kept...)
			for q, v := range all {
				_, err := loader.Get(t.Context(), question(q), func(context.Context) (int, error) { return v, nil })
				require.NoError(t, err)
			}
			for q := len(c.forgotten); q < len(all); q++ {
				_, err := loader.Get(t.Context(), question(q), func(context.Context) (int, error) { return 0, errors.New("asked again") })
				assert.NoError(t, err, q)
			}
			for q := range c.forgotten {
				_, err := loader.Get(t.Context(), question(q), func(context.Context) (int, error) { return 0, errors.New("asked again") })
				assert.Error(t, err, q)
			}
		})
	}
}

// The age of a response includes the time of loading it.
func TestLoaderCountsFromWhenLoadingBegan(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Now())
	loader := newLoader(clk)
	get := func(v int) int {
		t.Helper()
		got, err := loader.Get(t.Context(), 1, func(context.Context) (int, error) {
			clk.Advance(4 * time.Second)
			return v, nil
		})
		require.NoError(t, err)
		return got
	}
	assert.Equal(t, 5, get(5))
	assert.Equal(t, 5, get(6))
	clk.Advance(time.Second)
	assert.Equal(t, 7, get(7))
}

// A loader runs beside the request that needs its response, and would crash the program if it
// panicked: no other code recovers there.
func TestLoaderMakesAPanicAnError(t *testing.T) {
	t.Parallel()
	loader := newLoader(clock.System{})
	_, err := loader.Get(t.Context(), 1, func(context.Context) (int, error) { panic("broken") })
	require.ErrorContains(t, err, "broken")
	_, err = loader.Get(t.Context(), 1, func(context.Context) (int, error) { return 1, nil })
	require.NoError(t, err)
}

func TestLoaderKeepsNoErrors(t *testing.T) {
	t.Parallel()
	loader := newLoader(clock.System{})
	down := errors.New("down")
	_, err := loader.Get(t.Context(), 1, func(context.Context) (int, error) { return 0, down })
	require.ErrorIs(t, err, down)
	got, err := loader.Get(t.Context(), 1, func(context.Context) (int, error) { return 7, nil })
	require.NoError(t, err)
	assert.Equal(t, 7, got)
}

func TestLoaderGivesWhoWaitsTheValueOfWhoGaveUp(t *testing.T) {
	t.Parallel()
	loader := newLoader(clock.System{})
	started, finish := make(chan struct{}), make(chan struct{})
	impatient, giveUp := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := loader.Get(impatient, 1, func(context.Context) (int, error) {
			close(started)
			<-finish
			return 7, nil
		})
		gone <- err
	}()
	<-started
	giveUp()
	require.ErrorIs(t, <-gone, context.Canceled)
	close(finish)
	got, err := loader.Get(t.Context(), 1, func(context.Context) (int, error) { return 8, nil })
	require.NoError(t, err)
	assert.Equal(t, 7, got)
}
