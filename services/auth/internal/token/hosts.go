package token

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/names"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	// hostsFor is how long a host name is cached, and so the delay until a new name takes effect.
	hostsFor = 5 * time.Second
	// maxHosts is the number of cached names; callers choose the names.
	maxHosts = 1000
)

// hostTenant is the tenant of a host name. own reports whether a tenant has claimed the name; all other names
// belong to the default tenant.
type hostTenant struct {
	tenant int64
	own    bool
}

// refuseOtherTenant refuses a log-in that names a different tenant than its host name. It accepts the tenant's
// name, its id, or the first label of the host name. The error is the same as for a wrong password.
func (h *Handler) refuseOtherTenant(ctx context.Context, called string) error {
	if called == "" {
		return nil
	}
	id, err := h.requestTenant(ctx)
	if err != nil {
		return err
	}
	host := callerHost(ctx)
	if label, _, found := strings.Cut(host, "."); found && net.ParseIP(host) == nil && names.Key(label) == names.Key(called) {
		return nil
	}
	if called == strconv.FormatInt(id, 10) {
		return nil
	}
	var name string
	if err := h.Pool.QueryRow(tenant.With(ctx, id), `SELECT name FROM tenant WHERE id = $1`, id).Scan(&name); err != nil {
		return fmt.Errorf("find tenant: %w", err)
	}
	if names.Key(name) != names.Key(called) {
		return invalidGrant()
	}
	return nil
}

// requestTenant returns the tenant of the request's host name.
func (h *Handler) requestTenant(ctx context.Context) (int64, error) {
	n, err := h.resolveHost(ctx)
	return n.tenant, err
}

func (h *Handler) resolveHost(ctx context.Context) (hostTenant, error) {
	host, now := callerHost(ctx), h.Clock.Now()
	if n, ok := h.hosts.Get(host); ok {
		return n, nil
	}
	id, err := tenantByHost(ctx, h.Pool, host, 0)
	if err != nil {
		return hostTenant{}, err
	}
	n := hostTenant{id, true}
	if id == 0 {
		n = hostTenant{tenant: tenant.Default}
	}
	h.hosts.Put(host, n, now.Add(hostsFor))
	return n, nil
}
