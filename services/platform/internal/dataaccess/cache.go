package dataaccess

import (
	"math"

	"github.com/rotaloom/rotaloom/pkg/cache"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/encoding"
)

// cacheKey is a tag of a caller. What the caller may do, and whom they see, is
// part of it: a result is not shown to the same user with fewer rights.
type cacheKey struct {
	tenant             int64
	subject            string
	rights, visibility [32]byte
	tag, further       string
}

// results keeps results for a while, within a number of bytes. It is of this
// process: another replica reads anew.
type results struct {
	*cache.Cache[cacheKey, *encoding.Result]
}

// No result may push out most of the others.
const maxShare = 4

func newResults(clk clock.Clock, maxBytes int) results {
	return results{cache.New[cacheKey](clk, cache.Config[*encoding.Result]{
		Entries: math.MaxInt, Weight: maxBytes, MaxShare: maxShare, WeightOf: func(r *encoding.Result) int { return r.Bytes },
	})}
}

// get returns the result of the same request; nil when there is none any more.
func (r results) get(key cacheKey, digest [32]byte) *encoding.Result {
	if found, ok := r.Get(key); ok && found.Digest == digest {
		return found
	}
	return nil
}

// put keeps a result, in place of what had its key, and reports whether it is
// not too large for that.
func (r results) put(key cacheKey, found *encoding.Result) bool {
	return r.Put(key, found, found.Expires)
}
