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
	id                          string
	passwordGrant, refreshGrant bool
}

// clientWith answers the client with an id and a secret, or nil.
func clientWith(ctx context.Context, db pg.Querier, tenantID int64, id, secret string) (*client, error) {
	c := &client{id: id}
	var hash []byte
	var enabled bool
	err := db.QueryRow(ctx, `SELECT secret_hash, enabled, password_grant, refresh_grant FROM client
		WHERE tenant_id = $1 AND client_id = $2`, tenantID, id).Scan(&hash, &enabled, &c.passwordGrant, &c.refreshGrant)
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
	sid       string
	expiresAt time.Time
}

func insertFamily(ctx context.Context, db pg.Querier, tenantID, userID int64, clientID, refreshToken string, f family, now time.Time) error {
	hash := sha256.Sum256([]byte(refreshToken))
	_, err := db.Exec(ctx, `INSERT INTO token_family (tenant_id, sid, user_id, client_id, refresh_hash, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, tenantID, f.sid, userID, clientID, hash[:], now, f.expiresAt)
	if err != nil {
		return fmt.Errorf("store token family: %w", err)
	}
	return nil
}

// refreshed answers the user and the family of a refresh token that the client
// may still use, or nil.
func refreshed(ctx context.Context, db pg.Querier, tenantID int64, clientID, refreshToken string, now time.Time) (*user, family, error) {
	hash := sha256.Sum256([]byte(refreshToken))
	var f family
	u, err := scanUser(db.QueryRow(ctx, `SELECT u.*, f.sid, f.expires_at FROM token_family f
		JOIN LATERAL (`+selectUser+` WHERE u.tenant_id = $1 AND u.id = f.user_id) u ON true
		WHERE f.tenant_id = $1 AND f.refresh_hash = $2 AND f.client_id = $3 AND f.expires_at > $4`,
		tenantID, hash[:], clientID, now), &f.sid, &f.expiresAt)
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
