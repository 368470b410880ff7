// Package authn authenticates callers: it verifies access tokens, caches the results, and carries
// the caller in the context.
package authn

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Principal is an authenticated caller. Concurrent requests share principals, so they must not be
// changed.
type Principal struct {
	// Tenant is the caller's tenant; 0 for a service that did not name one.
	Tenant int64
	// Subject is the user name, or "" for a service that calls for itself.
	Subject string
	// PersonID is the user's person, or 0.
	PersonID int64
	// Client is the OAuth client that the token was issued to.
	Client string
	// Scope is the scope of the token, space-separated.
	Scope string
	// Permissions are the permissions that the token grants: a name, "*" for all, or "domain.*" for
	// all of a domain.
	Permissions []string
	// Rows is the row scope of the token, a rowvisibility.Scope. An empty one shows only the
	// caller's own data.
	Rows string
	// OwnActions are the actions that the caller may take on their own record. Patterns are allowed
	// as in Permissions.
	OwnActions []string
	// JTI identifies the token, and SID its session.
	JTI, SID string
	// IssuedAt is when the token was issued, and Expiry when it ends.
	IssuedAt, Expiry time.Time
	// Service is the name of the trusted service that makes the call, for itself or for the user;
	// "" if the call comes from outside.
	Service string
}

// IsService reports whether a service calls for itself, without a user.
func (p *Principal) IsService() bool { return p.Subject == "" && p.Service != "" }

// Has reports whether the token grants the permission.
func (p *Principal) Has(permission string) bool { return grants(p.Permissions, permission) }

// MayActOnOwnRecord reports whether the token permits an action on the caller's own record.
func (p *Principal) MayActOnOwnRecord(action string) bool { return grants(p.OwnActions, action) }

// grants reports whether one of the granted names or patterns covers a name.
func grants(granted []string, name string) bool {
	return slices.ContainsFunc(granted, func(grant string) bool {
		if prefix, all := strings.CutSuffix(grant, "*"); all && (prefix == "" || strings.HasSuffix(prefix, ".")) {
			return strings.HasPrefix(name, prefix)
		}
		return grant == name
	})
}

// through returns the principal of a call that a trusted service makes.
func (p *Principal) through(service string) *Principal {
	if service == p.Service {
		return p
	}
	c := *p
	c.Service = service
	return &c
}

type permissionKey struct{}

// WithPermission returns a context with the permission of the operation that the user called.
// Services that work for that operation keep it.
func WithPermission(ctx context.Context, permission string) context.Context {
	return context.WithValue(ctx, permissionKey{}, permission)
}

// Permission returns the permission of the user's operation that a context works for, or "" if it
// needs none or is not known.
func Permission(ctx context.Context) string {
	permission, _ := ctx.Value(permissionKey{}).(string)
	return permission
}

type principalKey struct{}

// caller is the context value: the principal, and the token for further calls in its name.
type caller struct {
	principal *Principal
	token     string
}

// With returns a context for the work of p. Calls of other services pass the token on; it may be
// "".
func With(ctx context.Context, p *Principal, token string) context.Context {
	return context.WithValue(ctx, principalKey{}, caller{p, token})
}

// From returns the principal of a context.
func From(ctx context.Context) (*Principal, bool) {
	c, ok := ctx.Value(principalKey{}).(caller)
	return c.principal, ok && c.principal != nil
}

// Token returns the access token to pass on to other services, or "".
func Token(ctx context.Context) string {
	c, _ := ctx.Value(principalKey{}).(caller)
	return c.token
}
