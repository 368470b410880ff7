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

// refuseOtherTenant refuses a log-in that names another tenant than its host name does: a
// tenant is called by its name, by its id or by the first label of the host name. What is
// answered is what a wrong password is.
func (h *Handler) refuseOtherTenant(ctx context.Context, called string) error {
	if called == "" {
		return nil
	}
	id, err := h.tenantOf(ctx)
	if err != nil {
		return err
	}
	host := hostOf(ctx)
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
