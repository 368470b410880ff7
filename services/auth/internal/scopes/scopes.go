// Package scopes says how far a token may be used, whoever its user is: what
// the client may ask for, what it asked for, and what of that is granted.
package scopes

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
)

// identity are the scopes that say something of the user, and nothing of what
// the token permits. The reference product grants these to everybody.
var identity = []string{"givenName", "mail", "nonce", "openid", "profile", "sn", "uid"}

// ignored are scopes of OpenID Connect that clients ask for out of habit. They
// are neither granted nor a narrowing.
var ignored = []string{"address", "email", "offline_access", "phone"}

// everything permits whatever the profile does.
const everything = "*"

var form = regexp.MustCompile(`^[a-z0-9_.*]{1,200}$`)

// Catalog knows what scopes mean.
type Catalog struct {
	// permissions are all that the contracts name.
	permissions []string
	// groups are names for patterns of permissions.
	groups map[string]string
	memo   memo
}

// NewCatalog makes the Catalog of permissions. Beside them and patterns of them,
// "read" and "write" are scopes, and each domain's name.
func NewCatalog(permissions []string) *Catalog {
	c := &Catalog{permissions: permissions, groups: map[string]string{"read": "*.read", "write": "*.write"}, memo: newMemo()}
	for _, p := range permissions {
		domain := domainOf(p)
		c.groups[domain] = domain + ".*"
	}
	return c
}

// Supported returns the scopes that have names of their own.
func (c *Catalog) Supported() []string {
	var names []string
	for name := range c.groups {
		names = append(names, name)
	}
	slices.Sort(names)
	return append(slices.Clone(identity), names...)
}

// Known reports whether a text is a scope that a client may be given: a
// permission, a pattern of permissions, or the name of a group of them.
func (c *Catalog) Known(scope string) bool {
	if c.groups[scope] != "" {
		return true
	}
	return form.MatchString(scope) && (strings.Contains(scope, "*") || slices.Contains(c.permissions, scope))
}

// patterns returns what scopes stand for. What is no scope stands for nothing.
func (c *Catalog) patterns(scopes []string) []string {
	var out []string
	for _, s := range scopes {
		switch {
		case c.groups[s] != "":
			out = append(out, c.groups[s])
		case c.Known(s):
			out = append(out, s)
		}
	}
	return out
}

// Patterns returns the patterns of permissions that a client's scopes stand for.
func (c *Catalog) Patterns(scopes []string) []string { return c.patterns(orAllScopes(scopes)) }

// within reports whether a scope permits nothing beyond others.
func (c *Catalog) within(scope string, others []string) bool {
	patterns := c.patterns([]string{scope})
	return len(patterns) > 0 && profile.FirstExceeding(patterns, c.patterns(others)) == ""
}

// Narrows reports whether some of what one list of scopes of a client permits
// is not permitted by another one.
func (c *Catalog) Narrows(before, after []string) bool {
	return profile.FirstExceeding(c.patterns(orAllScopes(before)), c.patterns(orAllScopes(after))) != ""
}

// meet returns the scopes that permit what both a and b do. Where two patterns
// overlap and neither holds the other, they are the permissions of today that
// both match.
func (c *Catalog) meet(a, b []string) []string {
	var out []string
	for _, s := range a {
		if c.within(s, b) {
			out = append(out, s)
		}
	}
	for _, s := range b {
		if c.within(s, a) {
			out = append(out, s)
		}
	}
	both := profile.Expand(c.patterns(a), profile.Expand(c.patterns(b), c.permissions))
	for _, p := range both {
		if !c.within(p, out) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// shorten names permissions by "*" when they are all that there are, and those of a
// domain by "domain.*" when they are all of it. A permission that a later version adds
// is granted with the others of its domain until the token ends.
func (c *Catalog) shorten(permissions []string) []string {
	if len(permissions) > 0 && len(permissions) == len(c.permissions) {
		return []string{everything}
	}
	count := func(list []string) map[string]int {
		n := map[string]int{}
		for _, p := range list {
			n[domainOf(p)]++
		}
		return n
	}
	granted, all := count(permissions), count(c.permissions)
	var out []string
	for _, p := range permissions {
		if domain := domainOf(p); granted[domain] == all[domain] {
			p = domain + ".*"
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

func domainOf(permission string) string {
	domain, _, _ := strings.Cut(permission, ".")
	return domain
}

func orAllScopes(scopes []string) []string {
	if len(scopes) == 0 {
		return []string{everything}
	}
	return scopes
}
