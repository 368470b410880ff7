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
	tenants map[string]named
	until   time.Time
}

// named is the tenant of a host name, and whether the name is its own: all others are
// the default tenant's.
type named struct {
	tenant int64
	own    bool
}

// tenantOf answers the tenant whose users call under the host name of a request.
func (h *Handler) tenantOf(ctx context.Context) (int64, error) {
	n, err := h.named(ctx)
	return n.tenant, err
}

func (h *Handler) named(ctx context.Context) (named, error) {
	host, now := hostOf(ctx), h.Clock.Now()
	h.hosts.mu.RLock()
	n, known := h.hosts.tenants[host]
	known = known && now.Before(h.hosts.until)
	h.hosts.mu.RUnlock()
	if known {
		return n, nil
	}
	id, err := tenantOf(ctx, h.Pool, host, 0)
	if err != nil {
		return named{}, err
	}
	if n = (named{id, true}); id == 0 {
		n = named{tenant: tenant.Default}
	}
	h.hosts.mu.Lock()
	defer h.hosts.mu.Unlock()
	if !now.Before(h.hosts.until) || len(h.hosts.tenants) >= maxHosts {
		h.hosts.tenants, h.hosts.until = map[string]named{}, now.Add(hostsFor)
	}
	h.hosts.tenants[host] = n
	return n, nil
}
