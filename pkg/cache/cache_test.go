package cache_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/cache"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

func weigh(v string) int { return len(v) }

func TestCacheKeepsWhatWasUsedLately(t *testing.T) {
	t.Parallel()
	c := cache.New[int](clock.System{}, cache.Config[string]{Entries: 2})
	c.Put(1, "one", time.Time{})
	c.Put(2, "two", time.Time{})
	c.Get(1)
	c.Put(3, "three", time.Time{})
	_, there := c.Get(2)
	assert.False(t, there, "it was used longest ago")
	got, there := c.Get(1)
	assert.True(t, there)
	assert.Equal(t, "one", got)
	assert.Equal(t, 2, c.Len())
}

func TestCacheBoundsTheWeight(t *testing.T) {
	t.Parallel()
	c := cache.New[int](clock.System{}, cache.Config[string]{Entries: 100, Weight: 8, MaxShare: 2, WeightOf: weigh})
	assert.False(t, c.Put(1, "fives", time.Time{}), "more than a half")
	for key := range 4 {
		assert.True(t, c.Put(key, "two", time.Time{}))
	}
	assert.Equal(t, 2, c.Len(), "two of three fit into eight")
	assert.True(t, c.Put(3, "4444", time.Time{}))
	assert.Equal(t, 2, c.Len(), "the weight of what is replaced is free")
	assert.False(t, c.Put(3, "55555", time.Time{}))
	_, there := c.Get(3)
	assert.False(t, there, "what is replaced by something too heavy is gone")
	c.Remove(2)
	assert.Zero(t, c.Len())
	assert.True(t, c.Put(1, "4444", time.Time{}))
	assert.True(t, c.Put(2, "4444", time.Time{}))
	assert.Equal(t, 2, c.Len(), "what was removed weighs nothing")
}

func TestCacheForgetsWhenTheTimeIsOver(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Now())
	c := cache.New[int](clk, cache.Config[string]{Entries: 2})
	assert.True(t, c.PutNew(1, "first", clk.Now().Add(time.Second)))
	assert.False(t, c.PutNew(1, "second", clk.Now().Add(time.Hour)))
	clk.Advance(time.Second - 1)
	_, there := c.Get(1)
	assert.True(t, there)
	clk.Advance(1)
	assert.True(t, c.PutNew(1, "second", clk.Now().Add(time.Second)), "the first counts no longer")
	clk.Advance(time.Second)
	_, there = c.Get(1)
	assert.False(t, there)
	assert.Zero(t, c.Len())
}

func TestCacheIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	c := cache.New[int](clock.System{}, cache.Config[string]{Entries: 10, Weight: 20, WeightOf: weigh})
	var running sync.WaitGroup
	for worker := range 8 {
		running.Go(func() {
			for i := range 1000 {
				key := (worker + i) % 20
				c.Put(key, strconv.Itoa(key), time.Time{})
				if got, there := c.Get(key); there {
					assert.Equal(t, strconv.Itoa(key), got)
				}
				c.Remove(key + 1)
			}
		})
	}
	running.Wait()
	assert.LessOrEqual(t, c.Len(), 10)
}
