package token

import (
	"context"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	// hostsFor is how long it takes until a new host name of a tenant counts.
	hostsFor = 5 * time.Second
	// maxHosts bounds the names that are remembered; callers choose them.
	maxHosts = 1000
)

// hosts remembers whose users call under which host names.
type hosts struct {
	mu      sync.RWMutex
	tenants map[string]int64
	until   time.Time
}

// tenantOf answers the tenant whose users call under the host name of a request.
func (h *Handler) tenantOf(ctx context.Context) (int64, error) {
	host, now := hostOf(ctx), h.Clock.Now()
	h.hosts.mu.RLock()
	id, known := h.hosts.tenants[host]
	known = known && now.Before(h.hosts.until)
	h.hosts.mu.RUnlock()
	if known {
		return id, nil
	}
	id, err := tenantOf(ctx, h.Pool, host, tenant.Default)
	if err != nil {
		return 0, err
	}
	h.hosts.mu.Lock()
	defer h.hosts.mu.Unlock()
	if !now.Before(h.hosts.until) || len(h.hosts.tenants) >= maxHosts {
		h.hosts.tenants, h.hosts.until = map[string]int64{}, now.Add(hostsFor)
	}
	h.hosts.tenants[host] = id
	return id, nil
}
