// Package cache keeps values in memory, within bounds of number, weight and time.
//
// All caches of the product are of this kind: what was used longest ago goes
// first, an entry counts until the time that it was put with, and the clock is
// passed in. The list of entries is golang-lru's.
package cache

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

// Config says how much a cache keeps.
type Config[V any] struct {
	// Entries is the most entries that are kept.
	Entries int
	// Weight is the most that all entries weigh together, by WeightOf. Without
	// WeightOf, only their number counts.
	Weight   int
	WeightOf func(V) int
	// MaxShare is the part of Weight that one entry may have: an entry that is
	// heavier than Weight/MaxShare is not kept. 0 means 1.
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

// New returns an empty cache. It panics when cfg.Entries is below one.
func New[K comparable, V any](clk clock.Clock, cfg Config[V]) *Cache[K, V] {
	c := &Cache[K, V]{cfg: cfg, clock: clk}
	var err error
	c.lru, err = simplelru.NewLRU(cfg.Entries, func(_ K, e entry[V]) { c.weight -= e.weight })
	if err != nil {
		panic(err) // Only a number below one is an error.
	}
	return c
}

// NewLasting returns an empty cache for entries without an end, which needs no clock.
func NewLasting[K comparable, V any](cfg Config[V]) *Cache[K, V] { return New[K](stopped{}, cfg) }

// stopped is the clock of caches without expiry.
type stopped struct{}

func (stopped) Now() time.Time { return time.Time{} }

// Get returns the value of a key, and whether there is one that still counts.
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

// Put keeps a value until an instant, or without end for the zero time. It takes
// the place of the key's former value. It returns false when the value is too
// heavy to be kept; the former one is gone then as well.
func (c *Cache[K, V]) Put(key K, value V, until time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.put(key, value, until)
}

func (c *Cache[K, V]) put(key K, value V, until time.Time) bool {
	weight := 0
	if c.cfg.WeightOf != nil {
		weight = c.cfg.WeightOf(value)
	}
	c.lru.Remove(key) // Adding in its place would not take its weight away.
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

// PutNew is Put for a key that has no value that still counts. It returns false
// when there is one, or the value is too heavy.
func (c *Cache[K, V]) PutNew(key K, value V, until time.Time) bool {
	now := c.clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.lru.Peek(key); ok && e.counts(now) {
		return false
	}
	return c.put(key, value, until)
}

// Remove removes the value of a key, if there is one.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(key)
}

// Len returns the number of entries, those that count no longer included.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Len()
}
