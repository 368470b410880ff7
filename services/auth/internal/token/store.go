package token

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// tenantOf answers the tenant whose users call under a host name, and
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

// client is an application that users log in with.
type client struct {
	tenantID int64
	id       string
	// profile is the access profile of the client's own work.
	profile string

	passwordGrant, refreshGrant, clientGrant bool
}

// may reports whether a grant is switched on for the client.
func (c *client) may(grant string) bool {
	return map[string]bool{
		grantPassword: c.passwordGrant, grantRefresh: c.refreshGrant, grantClient: c.clientGrant,
	}[grant]
}

// clientWith answers the client with an id and a secret, or nil.
func clientWith(ctx context.Context, db pg.Querier, tenantID int64, id, secret string) (*client, error) {
	c := &client{tenantID: tenantID, id: id}
	var hash []byte
	var enabled bool
	err := db.QueryRow(ctx, `SELECT secret_hash, enabled, password_grant, refresh_grant, client_grant, access_profile FROM client
		WHERE tenant_id = $1 AND client_id = $2`, tenantID, id).Scan(
		&hash, &enabled, &c.passwordGrant, &c.refreshGrant, &c.clientGrant, &c.profile)
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
	// granted are the permissions of the user's profile, "*" standing for any
	// text.
	granted []string
}

const selectUser = `SELECT u.id, coalesce(u.person_id, 0), u.username, u.password_hash, coalesce(p.permissions, '{}')
	FROM app_user u
	LEFT JOIN access_profile p ON p.tenant_id = u.tenant_id AND p.name = u.access_profile`

// userNamed answers the user with a name, compared without case, or nil.
func userNamed(ctx context.Context, db pg.Querier, tenantID int64, name string) (*user, error) {
	return scanUser(db.QueryRow(ctx, selectUser+` WHERE u.tenant_id = $1 AND lower(u.username) = lower($2)`, tenantID, name))
}

func scanUser(row pgx.Row, more ...any) (*user, error) {
	u := &user{}
	err := row.Scan(append([]any{&u.id, &u.personID, &u.name, &u.hash, &u.granted}, more...)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find user: %w", err)
	}
	return u, nil
}

// family is the tokens that one log-in leads to.
type family struct {
	sid string
	// expiresAt ends the refresh token, and accessUntil the last access token
	// that was issued so far.
	expiresAt, accessUntil time.Time
}

func insertFamily(ctx context.Context, db pg.Querier, tenantID, userID int64, clientID, refreshToken string, f family, now time.Time) error {
	hash := sha256.Sum256([]byte(refreshToken))
	_, err := db.Exec(ctx, `INSERT INTO token_family (tenant_id, sid, user_id, client_id, refresh_hash, created_at, expires_at, access_until)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, tenantID, f.sid, userID, clientID, hash[:], now, f.expiresAt, f.accessUntil)
	if err != nil {
		return fmt.Errorf("store token family: %w", err)
	}
	return nil
}

// refreshed answers the user and the family of a refresh token that the client
// may still use, or nil, and notes how long the access token lives that is made
// of it. The note is what a revocation goes by: it waits for this statement, or
// this statement finds nothing.
func refreshed(ctx context.Context, db pg.Querier, tenantID int64, clientID, refreshToken string, now, accessUntil time.Time) (*user, family, error) {
	hash := sha256.Sum256([]byte(refreshToken))
	var f family
	u, err := scanUser(db.QueryRow(ctx, `WITH f AS (
			UPDATE token_family SET access_until = greatest(access_until, $5)
			WHERE tenant_id = $1 AND refresh_hash = $2 AND client_id = $3 AND expires_at > $4
			RETURNING user_id, sid, expires_at, access_until)
		SELECT u.*, f.sid, f.expires_at, f.access_until FROM f
		JOIN LATERAL (`+selectUser+` WHERE u.tenant_id = $1 AND u.id = f.user_id) u ON true`,
		tenantID, hash[:], clientID, now, accessUntil), &f.sid, &f.expiresAt, &f.accessUntil)
	return u, f, err
}

// sweepFamilies removes families that are over, of all tenants, at most limit
// of them, and answers how many it found.
func sweepFamilies(ctx context.Context, db pg.Querier, now time.Time, limit int) (int64, error) {
	done, err := db.Exec(tenant.All(ctx), `DELETE FROM token_family WHERE (tenant_id, sid) IN (
		SELECT tenant_id, sid FROM token_family WHERE expires_at <= $1 LIMIT $2)`, now, limit)
	if err != nil {
		return 0, fmt.Errorf("remove token families: %w", err)
	}
	return done.RowsAffected(), nil
}
