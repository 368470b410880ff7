package profile

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// Profile is a function access profile.
type Profile struct {
	Name string
	// Grants are permissions, "*" standing for any text.
	Grants []string
}

// Named answers what the profile with a name grants; nothing when there is no
// such profile.
func Named(ctx context.Context, db pg.Querier, tenantID int64, name string) ([]string, error) {
	found, err := query(ctx, db, `SELECT name, permissions FROM access_profile
		WHERE tenant_id = $1 AND name = $2`, tenantID, name)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0].Grants, nil
}

// Concerned answers the profiles with names, and those that the users of
// persons have now.
func Concerned(ctx context.Context, db pg.Querier, tenantID int64, names []string, persons []int64) ([]Profile, error) {
	return query(ctx, db, `SELECT name, permissions FROM access_profile
		WHERE tenant_id = $1 AND (name = ANY($2) OR name IN
			(SELECT access_profile FROM app_user WHERE tenant_id = $1 AND person_id = ANY($3)))
		ORDER BY name`, tenantID, names, persons)
}

// OfCaller answers what the profile of a principal grants now. A principal whom
// the store does not know has what its token says.
func OfCaller(ctx context.Context, db pg.Querier, p *authn.Principal) ([]string, error) {
	// Only the token of a user is of a family: a client has no refresh token.
	source := `SELECT access_profile FROM app_user WHERE tenant_id = $1 AND lower(username) = lower($2)`
	if p.SID == "" {
		source = `SELECT access_profile FROM client WHERE tenant_id = $1 AND client_id = $2`
	}
	found, err := query(ctx, db, `SELECT name, permissions FROM access_profile
		WHERE tenant_id = $1 AND name IN (`+source+`)`, p.Tenant, p.Subject)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return p.Permissions, nil
	}
	return found[0].Grants, nil
}

// Beyond answers the first of some grants that goes beyond those that somebody
// holds, or "". A pattern is within another only when everything is that it
// will ever match.
func Beyond(grants, held []string) string {
	for _, grant := range grants {
		if !slices.ContainsFunc(held, func(h string) bool { return pattern(h).MatchString(grant) }) {
			return grant
		}
	}
	return ""
}

func query(ctx context.Context, db pg.Querier, sql string, args ...any) ([]Profile, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("find access profiles: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Profile])
	if err != nil {
		return nil, fmt.Errorf("find access profiles: %w", err)
	}
	return found, nil
}
