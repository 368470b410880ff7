package rows

import (
	"fmt"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

// What the cache may hold: so many callers, and so many ids of them all
// together, which is 32 MiB.
const (
	mostCallers = 10_000
	mostIDs     = 4 << 20
)

// key names a caller. A token of an older scope may still be good, so the
// scope is part of it.
type key struct {
	tenant, person int64
	scope          string
}

// String is the key as one text.
func (k key) String() string { return fmt.Sprintf("%d/%d/%s", k.tenant, k.person, k.scope) }

type entry struct {
	set   Set
	until time.Time
}

// cache remembers sets for a few seconds. When it is full it forgets
// everything: asking again is cheap, and entries do not live long anyway.
type cache struct {
	clock   clock.Clock
	mu      sync.RWMutex
	entries map[key]entry
	ids     int
}

func newCache(clk clock.Clock) *cache { return &cache{clock: clk, entries: map[key]entry{}} }

func (c *cache) get(k key) (Set, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, ok := c.entries[k]
	return e.set, ok && c.clock.Now().Before(e.until)
}

func (c *cache) put(k key, set Set) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.entries[k]; ok {
		c.ids -= len(old.set.ids)
		delete(c.entries, k)
	}
	if len(set.ids) > mostIDs {
		return
	}
	if len(c.entries) >= mostCallers || c.ids+len(set.ids) > mostIDs {
		clear(c.entries)
		c.ids = 0
	}
	c.entries[k] = entry{set, c.clock.Now().Add(freshness)}
	c.ids += len(set.ids)
}
