// Package tenant carries the tenant of a piece of work in its context.
//
// All data access gets its tenant from here: the explicit "WHERE tenant_id = $1" of every query,
// and the row-level security behind it, which pkg/pg sets on each connection.
package tenant

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// Default is the tenant of an installation with a single tenant.
const Default int64 = 1

// scope is the context value. The zero scope means no tenant, so that an unset context sees no rows.
type scope struct {
	id  int64
	all bool
}

type key struct{}

// With returns a context for the work of one tenant. Ids of tenants are positive; any other id
// returns a context without a tenant, which sees no rows.
func With(ctx context.Context, id int64) context.Context {
	return context.WithValue(ctx, key{}, scope{id: max(id, 0)})
}

// Missing returns the fault (400) of a call between services that needs a tenant and has none.
// Users' tokens always have a tenant.
func Missing() error {
	return fault.Invalid(fault.CodeBadRequest, "The call has no tenant. Send the tenant, or the token of a user.")
}

// Of returns the tenant of the context. pkg/rpc rejects calls without a tenant, and pkg/bus and
// background work process tenants one by one. In a context without a tenant, or for all tenants, Of
// returns 0, which can neither read nor write rows.
func Of(ctx context.Context) int64 {
	id, _ := From(ctx)
	return id
}

// From returns the tenant of the context, for work that is possible without one. It returns false
// if the context has no tenant, or is for all tenants.
func From(ctx context.Context) (int64, bool) {
	s, _ := ctx.Value(key{}).(scope)
	return s.id, s.id > 0
}

// All returns a context for background work across all tenants. Only the tables of the
// infrastructure (outbox, dead letters) show their rows to such work; to read or write the data of
// a domain, process the tenants one by one using With.
func All(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, scope{all: true})
}

// IsAll reports whether the context is for all tenants.
func IsAll(ctx context.Context) bool {
	s, _ := ctx.Value(key{}).(scope)
	return s.all
}
