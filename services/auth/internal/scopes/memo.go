package scopes

import (
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/cache"
)

// maxMemo is the largest number of cached results; a tenant has few profiles, and its clients have few scopes.
const maxMemo = 1000

// memo caches the permissions of grants within scopes, because computing them compiles patterns, which costs
// more than signing a token.
type memo struct {
	cache *cache.Cache[string, []string]
}

func newMemo() memo {
	return memo{cache.NewLasting[string](cache.Config[[]string]{Entries: maxMemo})}
}

// get returns the cached result of find. Callers must not modify it.
func (m memo) get(grants, scopes []string, find func() []string) []string {
	key := strings.Join(grants, " ") + "\n" + strings.Join(scopes, " ")
	permissions, ok := m.cache.Get(key)
	if !ok {
		permissions = find()
		m.cache.Put(key, permissions, time.Time{})
	}
	return permissions
}
