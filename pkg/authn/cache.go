package authn

import (
	"crypto/sha256"
	"sync"
	"time"
)

// shards keep concurrent requests from waiting for one lock.
const shards = 32

// cache remembers verified tokens by their hash until they expire. It holds
// at most size tokens.
type cache struct {
	shards [shards]shard
}

type shard struct {
	mu      sync.RWMutex
	max     int
	entries map[[sha256.Size]byte]entry
}

// entry is what is remembered of a token: whose it is, or that it was refused (no
// principal), or that it was revoked.
type entry struct {
	principal *Principal
	until     time.Time
	revoked   bool
}

func newCache(size int) *cache {
	c := &cache{}
	for i := range c.shards {
		c.shards[i].max = max(size/shards, 1)
		c.shards[i].entries = map[[sha256.Size]byte]entry{}
	}
	return c
}

func (c *cache) get(key [sha256.Size]byte, now time.Time) (entry, bool) {
	s := c.shard(key)
	s.mu.RLock()
	e, ok := s.entries[key]
	s.mu.RUnlock()
	return e, ok && now.Before(e.until)
}

func (c *cache) put(key [sha256.Size]byte, p *Principal, until, now time.Time) {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.entries[key]; !ok && len(s.entries) >= s.max {
		s.makeRoom(now)
	}
	s.entries[key] = entry{principal: p, until: until}
}

// revoke notes of a token that is remembered that it was revoked.
func (c *cache) revoke(key [sha256.Size]byte) {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.entries[key]; ok && e.principal != nil {
		e.revoked = true
		s.entries[key] = e
	}
}

func (c *cache) drop(key [sha256.Size]byte) {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, key)
}

// makeRoom drops a few entries, taken as the map gives them: those that have
// expired, and one in any case. Dropping one that is still good costs one
// verification.
func (s *shard) makeRoom(now time.Time) {
	const looks = 16
	seen := 0
	for key, e := range s.entries {
		if seen == 0 || !now.Before(e.until) {
			delete(s.entries, key)
		}
		if seen++; seen == looks {
			return
		}
	}
}

func (c *cache) len() int {
	n := 0
	for i := range c.shards {
		c.shards[i].mu.RLock()
		n += len(c.shards[i].entries)
		c.shards[i].mu.RUnlock()
	}
	return n
}

func (c *cache) shard(key [sha256.Size]byte) *shard { return &c.shards[key[0]%shards] }
