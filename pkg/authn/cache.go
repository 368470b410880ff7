package authn

import (
	"crypto/sha256"
	"time"

	"github.com/rotaloom/rotaloom/pkg/cache"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

// tokens caches verified tokens by their hash until they expire.
type tokens struct {
	*cache.Cache[[sha256.Size]byte, entry]
}

// entry is the cached result of a verification. A nil principal means that the token was rejected.
type entry struct {
	principal *Principal
	until     time.Time
	revoked   bool
}

func newTokens(clk clock.Clock, size int) tokens {
	return tokens{cache.New[[sha256.Size]byte](clk, cache.Config[entry]{Entries: size})}
}

func (t tokens) putToken(key [sha256.Size]byte, p *Principal, until time.Time) {
	t.Put(key, entry{principal: p, until: until}, until)
}

// revoke marks a cached token as revoked.
func (t tokens) revoke(key [sha256.Size]byte) {
	if e, ok := t.Get(key); ok && e.principal != nil {
		e.revoked = true
		t.Put(key, e, e.until)
	}
}
