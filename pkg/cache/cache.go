// Package cache caches values in memory, with bounds of number, weight and time.
//
// All caches of the product are of this kind: they evict the least recently used entry first, each
// entry expires at the time that Put sets, and the clock is a parameter. The list of entries is
// golang-lru's.
package cache

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

// Config bounds a cache.
type Config[V any] struct {
	// Entries is the largest number of entries.
	Entries int
	// Weight bounds the total weight of the entries, by WeightOf. Without WeightOf, only their
	// number is bounded.
	Weight   int
	WeightOf func(V) int
	// MaxShare bounds the weight of one entry to Weight/MaxShare; heavier entries are not cached. 0
	// means 1.
	MaxShare int
}

// Cache is a bounded cache. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	cfg   Config[V]
	clock clock.Clock

	mu     sync.Mutex
	lru    *simplelru.LRU[K, entry[V]]
	weight int
}

type entry[V any] struct {
	value  V
	until  time.Time
	weight int
}

func (e entry[V]) counts(now time.Time) bool { return e.until.IsZero() || now.Before(e.until) }

// New returns an empty cache. It panics if cfg.Entries is below one.
func New[K comparable, V any](clk clock.Clock, cfg Config[V]) *Cache[K, V] {
	c := &Cache[K, V]{cfg: cfg, clock: clk}
	var err error
	c.lru, err = simplelru.NewLRU(cfg.Entries, func(_ K, e entry[V]) { c.weight -= e.weight })
	if err != nil {
		panic(err) // The only error is a number below one.
	}
	return c
}

// NewLasting returns an empty cache for entries that do not expire, which needs no clock.
func NewLasting[K comparable, V any](cfg Config[V]) *Cache[K, V] { return New[K](stopped{}, cfg) }

// stopped is the clock of caches without expiry.
type stopped struct{}

func (stopped) Now() time.Time { return time.Time{} }

// Get returns the value of a key, and whether it exists and has not expired.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	now := c.clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.lru.Get(key)
	if ok && !e.counts(now) {
		c.lru.Remove(key)
		return entry[V]{}.value, false
	}
	return e.value, ok
}

// Put caches a value until an instant, or without expiry for the zero time. It replaces the key's
// value. It returns false if the value is too heavy; the old value is removed in that case too.
func (c *Cache[K, V]) Put(key K, value V, until time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.putEntry(key, value, until)
}

func (c *Cache[K, V]) putEntry(key K, value V, until time.Time) bool {
	weight := 0
	if c.cfg.WeightOf != nil {
		weight = c.cfg.WeightOf(value)
	}
	c.lru.Remove(key) // Adding alone would not subtract the weight of the old value.
	if weight > c.cfg.Weight/max(c.cfg.MaxShare, 1) {
		return false
	}
	for c.weight+weight > c.cfg.Weight {
		c.lru.RemoveOldest()
	}
	c.weight += weight
	c.lru.Add(key, entry[V]{value, until, weight})
	return true
}

// PutNew is Put for a key without a current value. It returns false if the key has one, or if the
// value is too heavy.
func (c *Cache[K, V]) PutNew(key K, value V, until time.Time) bool {
	now := c.clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.lru.Peek(key); ok && e.counts(now) {
		return false
	}
	return c.putEntry(key, value, until)
}

// Remove removes the value of a key, if it exists.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(key)
}

// Len returns the number of entries, including expired ones.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Len()
}
