package token

import (
	"sync"
	"time"
)

// How many refused log-ins of a tenant have a row of their own within a while, in
// one process. Each address has its bound (see loginlimit), but there are many addresses.
const (
	budgetWindow = 5 * time.Second
	budgetRows   = 50
)

// budget bounds the rows of refused log-ins. Its zero value is ready for use.
type budget struct {
	mu    sync.Mutex
	until time.Time
	taken map[int64]int // by tenant; operators make those
}

// take reports whether there is a row left for a refusal of a tenant.
func (b *budget) take(tenantID int64, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !now.Before(b.until) {
		b.until, b.taken = now.Add(budgetWindow), map[int64]int{}
	}
	if b.taken[tenantID] >= budgetRows {
		return false
	}
	b.taken[tenantID]++
	return true
}
