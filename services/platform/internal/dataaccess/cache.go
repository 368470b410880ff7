package dataaccess

import (
	"math"
	"time"

	"github.com/rotaloom/rotaloom/pkg/cache"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/encoding"
)

// cacheKey identifies a cached result of a caller. It includes the caller's permissions and visible employees,
// so that the same user does not get an earlier result after losing rights, and the clock of the tenant.
type cacheKey struct {
	tenant             int64
	ahead              time.Duration
	subject            string
	rights, visibility [32]byte
	tag, further       string
}

// results caches results for a limited time, within a number of bytes. Each replica has its own cache.
type results struct {
	*cache.Cache[cacheKey, *encoding.Result]
}

// maxShare prevents one result from evicting most of the others.
const maxShare = 4

func newResults(clk clock.Clock, maxBytes int) results {
	return results{cache.New[cacheKey](clk, cache.Config[*encoding.Result]{
		Entries: math.MaxInt, Weight: maxBytes, MaxShare: maxShare, WeightOf: func(r *encoding.Result) int { return r.Bytes },
	})}
}

// get returns the cached result of the same request, or nil.
func (r results) get(key cacheKey, digest [32]byte) *encoding.Result {
	if found, ok := r.Get(key); ok && found.Digest == digest {
		return found
	}
	return nil
}

// putResult caches a result, replacing an earlier one with the same key. It returns false if the result is too large.
func (r results) putResult(key cacheKey, found *encoding.Result) bool {
	return r.Put(key, found, found.Expires)
}
