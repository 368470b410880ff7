package token

import (
	"sync"
	"time"
)

// Limits for the audit rows of denied log-ins of a tenant, within one process. Each address has its own limit
// (see loginlimit), but there are many addresses.
const (
	budgetWindow = 5 * time.Second
	budgetRows   = 50
)

// budget limits the audit rows of denied log-ins. The zero value is ready for use.
type budget struct {
	mu    sync.Mutex
	until time.Time
	used  map[int64]int // by tenant; only operators create tenants
}

// take reports whether the tenant may have another row, and counts it.
func (b *budget) take(tenantID int64, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !now.Before(b.until) {
		b.until, b.used = now.Add(budgetWindow), map[int64]int{}
	}
	if b.used[tenantID] >= budgetRows {
		return false
	}
	b.used[tenantID]++
	return true
}
