// Package tenant carries the tenant of a piece of work in its context.
//
// Everything that touches data takes the tenant from here: the explicit
// "WHERE tenant_id = $1" of every query, and the row-level security behind it,
// which pkg/pg switches on for each connection that it hands out.
package tenant

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// Default is the tenant of an installation that has only one.
const Default int64 = 1

// scope is what a context says. Zero means nothing, so that a context nobody
// filled sees nothing.
type scope struct {
	id  int64
	all bool
}

type key struct{}

// With returns a context for the work of one tenant. Tenants are positive; any
// other id leaves the context without a tenant, which sees no rows.
func With(ctx context.Context, id int64) context.Context {
	return context.WithValue(ctx, key{}, scope{id: max(id, 0)})
}

// Missing returns the fault (400) of a call between services that needs a tenant and
// has none. Tokens of users always have one.
func Missing() error {
	return fault.Invalid(fault.CodeBadRequest, "The call has no tenant. Send the tenant, or the token of a user.")
}

// Of returns the tenant of the context. pkg/rpc refuses calls without a tenant, and
// pkg/bus and background work take tenants one by one; in a context that has no tenant,
// or that stands for all of them, Of returns 0, which has no rows and may not write any.
func Of(ctx context.Context) int64 {
	id, _ := From(ctx)
	return id
}

// From returns the tenant of the context, for work that can be done without one. It
// returns false when the context has none, and when it stands for all of them.
func From(ctx context.Context) (int64, bool) {
	s, _ := ctx.Value(key{}).(scope)
	return s.id, s.id > 0
}

// All returns a context for background work over every tenant. Only the tables
// of the infrastructure (outbox, dead letters) let such work see their rows;
// to touch the data of a domain, take the tenants one by one using With.
func All(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, scope{all: true})
}

// IsAll reports whether the context stands for every tenant.
func IsAll(ctx context.Context) bool {
	s, _ := ctx.Value(key{}).(scope)
	return s.all
}
