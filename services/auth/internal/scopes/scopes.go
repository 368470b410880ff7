// Package scopes determines how far a token may be used, independently of its user: the scopes of the client,
// the requested scopes, and the granted ones.
package scopes

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
)

// identity are the scopes for claims about the user. They permit nothing. The reference product grants them to
// all clients.
var identity = []string{"givenName", "mail", "nonce", "openid", "profile", "sn", "uid"}

// ignored are OpenID Connect scopes that clients often request. They are neither granted nor do they narrow the
// token.
var ignored = []string{"address", "email", "offline_access", "phone"}

// everything permits all that the profile permits.
const everything = "*"

var form = regexp.MustCompile(`^[a-z0-9_.*]{1,200}$`)

// Catalog interprets scopes.
type Catalog struct {
	// permissions are all permissions of the contracts.
	permissions []string
	// groups maps names to patterns of permissions.
	groups map[string]string
	memo   memo
}

// recruiting is the start of the permissions of recruiting, and recruitingScope of their scopes in the
// reference product.
const recruiting, recruitingScope = "recruiting.", "recruiting.domain."

// NewCatalog returns the Catalog of permissions. Besides permissions and patterns, the scopes are "read",
// "write", the name of each domain, and the scopes of recruiting in the reference product:
// "recruiting.domain.candidates.read" is the permission "recruiting.candidates.read".
func NewCatalog(permissions []string) *Catalog {
	c := &Catalog{permissions: permissions, groups: map[string]string{"read": "*.read", "write": "*.write"}, memo: newMemo()}
	for _, p := range permissions {
		domain := domainName(p)
		c.groups[domain] = domain + ".*"
		if resource, ok := strings.CutPrefix(p, recruiting); ok {
			c.groups[recruitingScope+resource] = p
		}
	}
	return c
}

// Supported returns the identity scopes and the names of groups.
func (c *Catalog) Supported() []string {
	var names []string
	for name := range c.groups {
		names = append(names, name)
	}
	slices.Sort(names)
	return append(slices.Clone(identity), names...)
}

// IsKnown reports whether a client may have a scope: a permission, a pattern of permissions, or the name of a
// group.
func (c *Catalog) IsKnown(scope string) bool {
	if c.groups[scope] != "" {
		return true
	}
	return form.MatchString(scope) && (strings.Contains(scope, "*") || slices.Contains(c.permissions, scope))
}

// patterns returns the patterns of scopes. It omits unknown scopes.
func (c *Catalog) patterns(scopes []string) []string {
	var out []string
	for _, s := range scopes {
		switch {
		case c.groups[s] != "":
			out = append(out, c.groups[s])
		case c.IsKnown(s):
			out = append(out, s)
		}
	}
	return out
}

// Patterns returns the permission patterns of a client's scopes.
func (c *Catalog) Patterns(scopes []string) []string { return c.patterns(orAllScopes(scopes)) }

// isWithin reports whether a scope permits nothing beyond others.
func (c *Catalog) isWithin(scope string, others []string) bool {
	patterns := c.patterns([]string{scope})
	return len(patterns) > 0 && profile.FirstExceeding(patterns, c.patterns(others)) == ""
}

// Narrows reports whether the scopes after lack something that the scopes before permit.
func (c *Catalog) Narrows(before, after []string) bool {
	return profile.FirstExceeding(c.patterns(orAllScopes(before)), c.patterns(orAllScopes(after))) != ""
}

// meet returns the scopes that permit what a and b both permit. If two patterns overlap and neither contains
// the other, it returns the current permissions that both match.
func (c *Catalog) meet(a, b []string) []string {
	var out []string
	for _, s := range a {
		if c.isWithin(s, b) {
			out = append(out, s)
		}
	}
	for _, s := range b {
		if c.isWithin(s, a) {
			out = append(out, s)
		}
	}
	both := profile.Expand(c.patterns(a), profile.Expand(c.patterns(b), c.permissions))
	for _, p := range both {
		if !c.isWithin(p, out) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// shortenPermissions abbreviates permissions to "*" if they are all permissions, and the permissions of a domain to
// "domain.*" if they are all of the domain. A permission that a later version adds is then granted together
// with its domain until the token ends.
func (c *Catalog) shortenPermissions(permissions []string) []string {
	if len(permissions) > 0 && len(permissions) == len(c.permissions) {
		return []string{everything}
	}
	count := func(list []string) map[string]int {
		n := map[string]int{}
		for _, p := range list {
			n[domainName(p)]++
		}
		return n
	}
	granted, all := count(permissions), count(c.permissions)
	var out []string
	for _, p := range permissions {
		if domain := domainName(p); granted[domain] == all[domain] {
			p = domain + ".*"
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

func domainName(permission string) string {
	domain, _, _ := strings.Cut(permission, ".")
	return domain
}

func orAllScopes(scopes []string) []string {
	if len(scopes) == 0 {
		return []string{everything}
	}
	return scopes
}
