package token

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

// tenantOf returns the tenant whose users call under a host name, and
// otherwise, whenever nobody claims the name, the default one.
func tenantOf(ctx context.Context, db pg.Querier, host string, otherwise int64) (int64, error) {
	if host == "" {
		return otherwise, nil
	}
	var id int64
	err := db.QueryRow(tenant.All(ctx), `SELECT id FROM tenant WHERE lower(host) = lower($1)`, host).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return otherwise, nil
	}
	if err != nil {
		return 0, fmt.Errorf("find tenant: %w", err)
	}
	return id, nil
}

// tenantDisabled reports whether an operator switched a tenant off.
func tenantDisabled(ctx context.Context, db pg.Querier, id int64) (bool, error) {
	var disabled bool
	err := db.QueryRow(ctx, `SELECT disabled_at IS NOT NULL FROM tenant WHERE id = $1`, id).Scan(&disabled)
	if err != nil {
		return false, fmt.Errorf("find tenant: %w", err)
	}
	return disabled, nil
}

// client is an application that users log in with.
type client struct {
	tenantID int64
	id       string
	// profile is the access profile of the client's own work, and ownSID the family
	// of its tokens.
	profile, ownSID string
	// scopes narrow what is done by the client's tokens; none do not.
	scopes []string

	passwordGrant, refreshGrant, clientGrant bool
}

// may reports whether a grant is switched on for the client.
func (c *client) may(grant string) bool {
	return map[string]bool{
		grantPassword: c.passwordGrant, grantRefresh: c.refreshGrant, grantClient: c.clientGrant,
	}[grant]
}

// clientWith returns the client with an id and a secret, or nil. A tenant that is
// switched off has no clients.
func clientWith(ctx context.Context, db pg.Querier, tenantID int64, id, secret string) (*client, error) {
	c := &client{tenantID: tenantID, id: id}
	var hash []byte
	var enabled bool
	err := db.QueryRow(ctx, `SELECT c.secret_hash, c.enabled, c.password_grant, c.refresh_grant, c.client_grant, c.access_profile, c.scopes, c.own_sid
		FROM client c JOIN tenant t ON t.id = c.tenant_id AND t.disabled_at IS NULL
		WHERE c.tenant_id = $1 AND c.client_id = $2`, tenantID, id).Scan(
		&hash, &enabled, &c.passwordGrant, &c.refreshGrant, &c.clientGrant, &c.profile, &c.scopes, &c.ownSID)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("find client: %w", err)
	}
	given := sha256.Sum256([]byte(secret))
	if subtle.ConstantTimeCompare(hash, given[:]) != 1 || !enabled {
		return nil, nil
	}
	return c, nil
}

// user is who logs in.
type user struct {
	id       int64
	personID int64
	name     string
	hash     string
	profile  profile.Profile
	// lockedOut says that commons does not let the person log in now.
	lockedOut bool
}

const selectUser = `SELECT u.id, coalesce(u.person_id, 0), u.username, u.password_hash,
		u.access_profile, coalesce(p.permissions, '{}') AS permissions, coalesce(p.row_scope, 'own') AS row_scope, coalesce(p.own_record_actions, '{}') AS own_record_actions, u.locked_out
	FROM app_user u
	LEFT JOIN access_profile p ON p.tenant_id = u.tenant_id AND p.name = u.access_profile`

const byName = ` WHERE u.tenant_id = $1 AND u.username_key = $2`

// userNamed returns the user with a name, or nil.
func userNamed(ctx context.Context, db pg.Querier, tenantID int64, name string) (*user, error) {
	return scanUser(db.QueryRow(ctx, selectUser+byName, tenantID, username.KeyOf(name)))
}

func scanUser(row pgx.Row, more ...any) (*user, error) {
	u := &user{}
	err := row.Scan(append([]any{&u.id, &u.personID, &u.name, &u.hash, &u.profile.Name, &u.profile.Grants, &u.profile.Rows, &u.profile.OwnActions, &u.lockedOut}, more...)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find user: %w", err)
	}
	return u, nil
}
