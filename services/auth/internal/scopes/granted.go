package scopes

import (
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
)

// Granted is the scope of a token.
type Granted struct {
	catalog *Catalog
	// identity and permissions are the scopes of the two kinds.
	identity, permissions []string
}

// Of returns everything that a client's scopes permit. An empty list permits everything.
func (c *Catalog) Of(allowed []string) Granted {
	return Granted{catalog: c, identity: identity, permissions: orAllScopes(allowed)}
}

// Restrict returns the part of the scope that a request asks for; the request contains scopes separated by
// spaces. A request without permission scopes gets all of them. ok is false if none of the requested
// permissions remains.
func (g Granted) Restrict(request string) (restricted Granted, ok bool) {
	requested := strings.Fields(request)
	if len(requested) == 0 {
		return g, true
	}
	out := Granted{catalog: g.catalog, permissions: g.permissions}
	var wanted []string
	for _, s := range requested {
		switch {
		case slices.Contains(g.identity, s):
			if !slices.Contains(out.identity, s) {
				out.identity = append(out.identity, s)
			}
		case !slices.Contains(ignored, s) && !slices.Contains(identity, s):
			wanted = append(wanted, s)
		}
	}
	if len(wanted) > 0 {
		out.permissions = g.catalog.meet(g.permissions, wanted)
	}
	return out, len(out.permissions) > 0
}

// Text returns the scope as it appears in tokens and responses.
func (g Granted) Text() string {
	out := slices.Clone(g.identity)
	if !slices.Contains(g.permissions, everything) {
		out = append(out, g.permissions...)
	}
	if len(out) == 0 {
		return everything
	}
	return strings.Join(out, " ")
}

// Permissions returns the permissions that a profile grants within the scope, in the short form for tokens,
// because tokens travel with every request.
func (g Granted) Permissions(grants []string) []string {
	return g.catalog.memo.get(grants, g.permissions, func() []string {
		return g.catalog.shortenPermissions(profile.Expand(g.catalog.patterns(g.permissions), profile.Expand(grants, g.catalog.permissions)))
	})
}
