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

// tenantByHost returns the tenant with a host name, or fallback if no tenant has it.
func tenantByHost(ctx context.Context, db pg.Querier, host string, fallback int64) (int64, error) {
	if host == "" {
		return fallback, nil
	}
	var id int64
	err := db.QueryRow(tenant.All(ctx), `SELECT id FROM tenant WHERE lower(host) = lower($1)`, host).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return fallback, nil
	}
	if err != nil {
		return 0, fmt.Errorf("find tenant: %w", err)
	}
	return id, nil
}

// tenantDisabled reports whether an operator disabled a tenant.
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
	// profile is the access profile for the client's own work, and ownSID the family of its own tokens.
	profile, ownSID string
	// scopes narrow the client's tokens; an empty list does not.
	scopes []string

	passwordGrant, refreshGrant, clientGrant bool
}

// may reports whether a grant is enabled for the client.
func (c *client) may(grant string) bool {
	return map[string]bool{
		grantPassword: c.passwordGrant, grantRefresh: c.refreshGrant, grantClient: c.clientGrant,
	}[grant]
}

// authenticateClient returns the client with an id and a secret, or nil. It finds no clients of a disabled
// tenant.
func authenticateClient(ctx context.Context, db pg.Querier, id, secret string) (*client, error) {
	tenantID := tenant.Of(ctx)
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
	sentHash := sha256.Sum256([]byte(secret))
	if subtle.ConstantTimeCompare(hash, sentHash[:]) != 1 || !enabled {
		return nil, nil
	}
	return c, nil
}

// user is the user who logs in.
type user struct {
	id       int64
	personID int64
	name     string
	hash     string
	profile  profile.Profile
	// lockedOut means that commons currently prevents the person from logging in.
	lockedOut bool
}

const selectUser = `SELECT u.id, coalesce(u.person_id, 0), u.username, u.password_hash,
		u.access_profile, coalesce(p.permissions, '{}') AS permissions, coalesce(p.row_scope, 'own') AS row_scope, coalesce(p.own_record_actions, '{}') AS own_record_actions, u.locked_out
	FROM app_user u
	LEFT JOIN access_profile p ON p.tenant_id = u.tenant_id AND p.name = u.access_profile`

const byName = ` WHERE u.tenant_id = $1 AND u.username_key = $2`

// findUser returns the user with a name, or nil.
func findUser(ctx context.Context, db pg.Querier, name string) (*user, error) {
	return scanUser(db.QueryRow(ctx, selectUser+byName, tenant.Of(ctx), username.LookupKey(name)))
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
