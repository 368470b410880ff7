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
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

// Profile is a function access profile. The zero Profile permits nothing.
type Profile struct {
	Name string
	// Grants are permissions; "*" stands for any text.
	Grants []string
	// Rows selects the employees whose data the profile's users see.
	Rows rowvisibility.Scope
	// OwnActions are manager actions, or patterns of them, that users may do on their own record.
	OwnActions []string
	// Version counts the changes of the profile.
	Version int64
}

// Find returns the profile with a name, or an empty one if it does not exist.
func Find(ctx context.Context, db pg.Querier, name string) (Profile, error) {
	found, err := query(ctx, db, `WHERE tenant_id = $1 AND name = $2`, tenant.Of(ctx), name)
	if err != nil || len(found) == 0 {
		return Profile{}, err
	}
	return found[0], nil
}

// CodeUnknown (400): there is no access profile with the name.
const CodeUnknown = "WRL-40005"

// Unknown returns the error for a profile that does not exist.
func Unknown(name string) *fault.Error {
	return fault.Invalid(CodeUnknown, fmt.Sprintf("There is no function access profile %q.", name))
}

// RefuseUnknown refuses names of profiles that do not exist. It ignores "".
func RefuseUnknown(ctx context.Context, db pg.Querier, names ...string) error {
	found, err := ByName(ctx, db, names)
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

// ByName returns the existing profiles among names.
func ByName(ctx context.Context, db pg.Querier, names []string) (map[string]Profile, error) {
	found, err := query(ctx, db, `WHERE tenant_id = $1 AND name = ANY($2)`, tenant.Of(ctx), names)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Profile, len(found))
	for _, p := range found {
		out[p.Name] = p
	}
	return out, nil
}

// callerProfile returns the current profile of a principal. For a principal that is not in the database it
// returns the token's permissions.
func callerProfile(ctx context.Context, db pg.Querier, p *authn.Principal) (Profile, error) {
	source, name := `SELECT access_profile FROM app_user WHERE tenant_id = $1 AND username_key = $2`, username.LookupKey(p.Subject)
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

// Privileged reports whether users of the profile can change permissions of others: through users, clients,
// profiles or identity providers.
func (p Profile) Privileged(all []string) bool {
	return slices.Contains(p.Grants, "*") || slices.ContainsFunc(Expand(p.Grants, all), func(permission string) bool {
		return strings.HasPrefix(permission, "auth.") && strings.HasSuffix(permission, ".write")
	})
}

// FirstExceeding returns the first grant that exceeds the held ones, or "". A pattern counts as held only if a
// held pattern matches everything that it can ever match.
func FirstExceeding(grants, held []string) string {
	for _, grant := range grants {
		if !slices.ContainsFunc(held, func(h string) bool { return pattern(h).MatchString(grant) }) {
			return grant
		}
	}
	return ""
}

// query returns the profiles that match a condition.
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
