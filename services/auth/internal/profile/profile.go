package profile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

// Profile is a function access profile. The zero Profile permits nothing.
type Profile struct {
	Name string
	// Grants are permissions, "*" standing for any text.
	Grants []string
	// Rows says whose data its users see.
	Rows rowvisibility.Scope
	// OwnActions are the actions, or patterns of them, that users may take on their own
	// record although they are those of a manager.
	OwnActions []string
	// Version counts the changes of the profile.
	Version int64
}

// Named returns the profile with a name; one that permits nothing when there is
// no such profile.
func Named(ctx context.Context, db pg.Querier, tenantID int64, name string) (Profile, error) {
	found, err := query(ctx, db, `WHERE tenant_id = $1 AND name = $2`, tenantID, name)
	if err != nil || len(found) == 0 {
		return Profile{}, err
	}
	return found[0], nil
}

// CodeUnknown (400): there is no access profile with the name.
const CodeUnknown = "WRL-40005"

// Unknown is the error for a profile that is given and that does not exist.
func Unknown(name string) *fault.Error {
	return fault.Invalid(CodeUnknown, fmt.Sprintf("There is no function access profile %q.", name))
}

// RefuseUnknown refuses profiles that do not exist. "" is none.
func RefuseUnknown(ctx context.Context, db pg.Querier, tenantID int64, names ...string) error {
	found, err := ByName(ctx, db, tenantID, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, known := found[name]; name != "" && !known {
			return Unknown(name)
		}
	}
	return nil
}

// ByName returns those of the profiles with names that there are.
func ByName(ctx context.Context, db pg.Querier, tenantID int64, names []string) (map[string]Profile, error) {
	found, err := query(ctx, db, `WHERE tenant_id = $1 AND name = ANY($2)`, tenantID, names)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Profile, len(found))
	for _, p := range found {
		out[p.Name] = p
	}
	return out, nil
}

// heldBy returns the profile of a principal as it is now. A principal whom the store
// does not know has what its token says.
func heldBy(ctx context.Context, db pg.Querier, p *authn.Principal) (Profile, error) {
	source, name := `SELECT access_profile FROM app_user WHERE tenant_id = $1 AND username_key = $2`, username.KeyOf(p.Subject)
	if revoked.IsClientCredentials(p.SID) {
		name = p.Subject
		source = `SELECT access_profile FROM client WHERE tenant_id = $1 AND client_id = $2`
	}
	found, err := query(ctx, db, `WHERE tenant_id = $1 AND name IN (`+source+`)`, p.Tenant, name)
	if err != nil {
		return Profile{}, err
	}
	if len(found) == 0 {
		return Profile{Grants: p.Permissions, Rows: rowvisibility.Scope(p.Rows), OwnActions: p.OwnActions}, nil
	}
	return found[0], nil
}

// Privileged reports whether users of the profile may change what others may do: users,
// clients, profiles or identity providers.
func (p Profile) Privileged(all []string) bool {
	return slices.Contains(p.Grants, "*") || slices.ContainsFunc(Expand(p.Grants, all), func(permission string) bool {
		return strings.HasPrefix(permission, "auth.") && strings.HasSuffix(permission, ".write")
	})
}

// FirstExceeding returns the first of some grants that goes beyond those that somebody
// holds, or "". A pattern is within another only when everything is that it
// will ever match.
func FirstExceeding(grants, held []string) string {
	for _, grant := range grants {
		if !slices.ContainsFunc(held, func(h string) bool { return pattern(h).MatchString(grant) }) {
			return grant
		}
	}
	return ""
}

// query returns the profiles that a condition chooses.
func query(ctx context.Context, db pg.Querier, where string, args ...any) ([]Profile, error) {
	result, err := db.Query(ctx, `SELECT name, permissions, row_scope, own_record_actions, version FROM access_profile `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("find access profiles: %w", err)
	}
	found, err := pgx.CollectRows(result, pgx.RowToStructByPos[Profile])
	if err != nil {
		return nil, fmt.Errorf("find access profiles: %w", err)
	}
	return found, nil
}
