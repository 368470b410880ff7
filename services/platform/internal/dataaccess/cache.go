package dataaccess

import (
	"container/list"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
)

// result is what a request found, ready for any page of it. It is never changed
// after it was made.
type result struct {
	view   view
	label  labelForm
	rows   []*datav1.DataRow
	bounds []int32
	table  *table
	// read are all columns that were read; the first of them are shown.
	read  []*column
	shown int

	digest      [32]byte
	metadataKey string
	readAt      time.Time
	expires     time.Time
	bytes       int
}

// cacheKey is a tag of a caller. What the caller may do, and whom they see, is
// part of it: a result is not shown to the same user with fewer rights.
type cacheKey struct {
	tenant        int64
	subject       string
	rights, sight [32]byte
	tag, further  string
}

// cache keeps results for a while, those longest not asked for going first when
// there are too many. It is of this process: another replica reads anew.
type cache struct {
	clock clock.Clock
	// most bounds the bytes of all results.
	most int

	mu      sync.Mutex
	entries map[cacheKey]*list.Element
	// order has the last used first.
	order *list.List
	bytes int
}

type cached struct {
	key    cacheKey
	result *result
}

func newCache(clk clock.Clock, most int) *cache {
	return &cache{clock: clk, most: most, entries: map[cacheKey]*list.Element{}, order: list.New()}
}

// get answers the result of the same request; nil when there is none any more.
func (c *cache) get(key cacheKey, digest [32]byte) *result {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, there := c.entries[key]
	if !there {
		return nil
	}
	r := at.Value.(*cached).result
	if !c.clock.Now().Before(r.expires) {
		c.remove(at)
		return nil
	}
	if r.digest != digest {
		return nil
	}
	c.order.MoveToFront(at)
	return r
}

// put keeps a result, in place of what had its key, and reports whether it is
// not too large for that.
func (c *cache) put(key cacheKey, r *result) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, there := c.entries[key]; there {
		c.remove(at)
	}
	// No result may push out most of the others.
	if r.bytes > c.most/4 {
		return false
	}
	for c.bytes+r.bytes > c.most {
		c.remove(c.order.Back())
	}
	c.entries[key] = c.order.PushFront(&cached{key, r})
	c.bytes += r.bytes
	return true
}

func (c *cache) remove(at *list.Element) {
	e := c.order.Remove(at).(*cached)
	delete(c.entries, e.key)
	c.bytes -= e.result.bytes
}
