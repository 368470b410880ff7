// Package authn says who is calling: it verifies access tokens, remembers what
// it verified, and carries the caller in the context.
package authn

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Principal is a caller whose identity was verified. Principals are shared by
// concurrent requests and never changed.
type Principal struct {
	// Tenant is what the caller belongs to; 0 for a service that did not say
	// for which tenant it works.
	Tenant int64
	// Subject is the user name, or "" for a service that works by itself.
	Subject string
	// PersonID is the person behind the user, or 0 when there is none.
	PersonID int64
	// Client is the OAuth client that the token was issued to.
	Client string
	// Scope of the token, space-separated.
	Scope string
	// Permissions that the token grants: a name, "*" for all, or "domain.*" for all of
	// a domain.
	Permissions []string
	// Rows says whose data the token shows: a rows.Scope. Nothing means the
	// least, the caller's own.
	Rows string
	// OwnActions are the actions, or patterns of them like those of Permissions, that the
	// caller may take on their own record.
	OwnActions []string
	// JTI and SID identify the token, and the family of tokens it is of.
	JTI, SID string
	// IssuedAt is when the token was issued, and Expiry when it ends.
	IssuedAt, Expiry time.Time
	// Service is the name of the trusted service that makes the call, for
	// itself or for the user; "" when the call comes from outside.
	Service string
}

// IsService reports whether a service calls for itself, without a user.
func (p *Principal) IsService() bool { return p.Subject == "" && p.Service != "" }

// Has reports whether the token grants the permission.
func (p *Principal) Has(permission string) bool { return grants(p.Permissions, permission) }

// MayActOnOwnRecord reports whether the token permits an action on the caller's own record.
func (p *Principal) MayActOnOwnRecord(action string) bool { return grants(p.OwnActions, action) }

// grants reports whether one of some names or patterns is or covers a name.
func grants(granted []string, name string) bool {
	return slices.ContainsFunc(granted, func(grant string) bool {
		if prefix, all := strings.CutSuffix(grant, "*"); all && (prefix == "" || strings.HasSuffix(prefix, ".")) {
			return strings.HasPrefix(name, prefix)
		}
		return grant == name
	})
}

// through returns the principal as called through a trusted service.
func (p *Principal) through(service string) *Principal {
	if service == p.Service {
		return p
	}
	c := *p
	c.Service = service
	return &c
}

type permissionKey struct{}

// WithPermission returns a context for the work of an operation that needs a
// permission: of the one that the user called, whichever service works for it.
func WithPermission(ctx context.Context, permission string) context.Context {
	return context.WithValue(ctx, permissionKey{}, permission)
}

// Permission returns the permission that the operation of the user needs for which
// a context works, or "" when it needs none or is not known.
func Permission(ctx context.Context) string {
	permission, _ := ctx.Value(permissionKey{}).(string)
	return permission
}

type principalKey struct{}

// caller is what the context holds: the principal, and the token with which
// further calls are made in its name.
type caller struct {
	principal *Principal
	token     string
}

// With returns a context for the work of p. The token, which may be empty, is
// handed on when the work calls other services.
func With(ctx context.Context, p *Principal, token string) context.Context {
	return context.WithValue(ctx, principalKey{}, caller{p, token})
}

// From returns the principal that a context works for.
func From(ctx context.Context) (*Principal, bool) {
	c, ok := ctx.Value(principalKey{}).(caller)
	return c.principal, ok && c.principal != nil
}

// Token returns the access token to hand on when the work of a context calls
// other services, or "".
func Token(ctx context.Context) string {
	c, _ := ctx.Value(principalKey{}).(caller)
	return c.token
}
