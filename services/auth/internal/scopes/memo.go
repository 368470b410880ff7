package scopes

import (
	"strings"
	"sync"
)

// maxMemo bounds what is remembered; a tenant has few profiles, and its clients
// few scopes.
const maxMemo = 1000

// memo remembers the permissions of grants within scopes: finding them compiles
// patterns, which costs more than signing a token.
type memo struct {
	mu    sync.RWMutex
	known map[string][]string
}

// get answers what find answers. Nobody changes the answer.
func (m *memo) get(grants, scopes []string, find func() []string) []string {
	key := strings.Join(grants, " ") + "\n" + strings.Join(scopes, " ")
	m.mu.RLock()
	permissions, ok := m.known[key]
	m.mu.RUnlock()
	if ok {
		return permissions
	}
	permissions = find()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= maxMemo {
		m.known = map[string][]string{}
	}
	m.known[key] = permissions
	return permissions
}
