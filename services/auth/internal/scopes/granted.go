package scopes

import (
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
)

// Granted is the scope of a token.
type Granted struct {
	catalog *Catalog
	// identity and permissions are the scopes of either kind.
	identity, permissions []string
}

// Of returns what a client may have, by its scopes; an empty list is
// everything.
func (c *Catalog) Of(allowed []string) Granted {
	return Granted{catalog: c, identity: identity, permissions: orAllScopes(allowed)}
}

// Restrict returns what of the scope is granted to a request, which names what it
// wants, separated by spaces. A request that names no permissions gets all that
// there are. It returns false when nothing is left of those that it names.
func (g Granted) Restrict(request string) (Granted, bool) {
	asked := strings.Fields(request)
	if len(asked) == 0 {
		return g, true
	}
	out := Granted{catalog: g.catalog, permissions: g.permissions}
	var wanted []string
	for _, s := range asked {
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

// Text is the scope as tokens and responses have it.
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

// Permissions returns the permissions that a profile grants within the scope, as a
// token names them: short, for it travels with every request.
func (g Granted) Permissions(grants []string) []string {
	return g.catalog.memo.get(grants, g.permissions, func() []string {
		return g.catalog.shorten(profile.Expand(g.catalog.patterns(g.permissions), profile.Expand(grants, g.catalog.permissions)))
	})
}
