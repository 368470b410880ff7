package token

import (
	"context"
	"time"

	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	// hostsFor is how long it takes until a new host name of a tenant counts.
	hostsFor = 5 * time.Second
	// maxHosts bounds the names that are remembered; callers choose them.
	maxHosts = 1000
)

// named is the tenant of a host name, and whether the name is its own: all others are
// the default tenant's.
type named struct {
	tenant int64
	own    bool
}

// tenantOf returns the tenant whose users call under the host name of a request.
func (h *Handler) tenantOf(ctx context.Context) (int64, error) {
	n, err := h.named(ctx)
	return n.tenant, err
}

func (h *Handler) named(ctx context.Context) (named, error) {
	host, now := hostOf(ctx), h.Clock.Now()
	if n, known := h.hosts.Get(host); known {
		return n, nil
	}
	id, err := tenantOf(ctx, h.Pool, host, 0)
	if err != nil {
		return named{}, err
	}
	n := named{id, true}
	if id == 0 {
		n = named{tenant: tenant.Default}
	}
	h.hosts.Put(host, n, now.Add(hostsFor))
	return n, nil
}
