package token

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// family is the set of tokens from one log-in.
type family struct {
	sid string
	// expiresAt is the end of the refresh token, and accessUntil the end of the last access token so far.
	expiresAt, accessUntil time.Time
	// scope is the scope that the log-in requested.
	scope string
}

// errOutdated reports that data of the log-in changed while it ran, so its tokens would be outdated.
var errOutdated = errors.New("the user, their profile, the client or the tenant was changed during the log-in")

// insertFamily stores the family of a log-in and its audit event, provided that the data in its tokens is still
// current. It locks the rows with that data until the commit: a concurrent change waits, and then finds and
// revokes the family.
func insertFamily(ctx context.Context, db pg.Querier, e audit.Event, c *client, u *user, refreshToken string, f family, now time.Time) error {
	hash := sha256.Sum256([]byte(refreshToken))
	err := e.WriteWith(ctx, db, `WITH p AS (SELECT permissions, row_scope, own_record_actions FROM access_profile WHERE tenant_id = $1 AND name = $10 FOR SHARE)
		INSERT INTO token_family (tenant_id, sid, user_id, client_id, refresh_hash, created_at, expires_at, access_until, scope)
		VALUES ($1, $2, (SELECT u.id FROM app_user u
			JOIN client c ON c.tenant_id = u.tenant_id AND c.client_id = $4
			JOIN tenant t ON t.id = u.tenant_id
			WHERE u.tenant_id = $1 AND u.id = $3 AND NOT u.locked_out AND u.access_profile = $10 AND u.password_hash = $14
				AND coalesce((SELECT permissions FROM p), '{}') = $11 AND coalesce((SELECT row_scope FROM p), 'own') = $12
				AND coalesce((SELECT own_record_actions FROM p), '{}') = $15
				AND c.enabled AND c.password_grant AND c.scopes = $13 AND t.disabled_at IS NULL
			FOR SHARE OF u, c, t), $4, $5, $6, $7, $8, $9)`,
		e.Tenant, f.sid, u.id, e.Client, hash[:], now, f.expiresAt, f.accessUntil, f.scope,
		u.profile.Name, u.profile.Grants, u.profile.Rows, c.scopes, u.hash, u.profile.OwnActions)
	if pgerr.IsNull(err, "user_id") {
		return errOutdated
	}
	return err
}

// sweepFamilies removes at most limit expired families of all tenants, and returns their number.
func sweepFamilies(ctx context.Context, db pg.Querier, now time.Time, limit int) (int64, error) {
	done, err := db.Exec(tenant.All(ctx), `DELETE FROM token_family WHERE (tenant_id, sid) IN (
		SELECT tenant_id, sid FROM token_family WHERE expires_at <= $1 LIMIT $2)`, now, limit)
	if err != nil {
		return 0, fmt.Errorf("remove token families: %w", err)
	}
	return done.RowsAffected(), nil
}
