// Package revoked keeps the tokens that ended before their time, and lists them for the
// other services.
package revoked

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/revocation"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Store keeps revocations in the database. It is the authn.Revocations of the
// auth service itself, where the rows decide.
type Store struct {
	pool  *pg.Pool
	clock clock.Clock
	log   *slog.Logger
	wake  chan struct{}
}

const (
	sweepEvery = 10 * time.Minute
	sweepBatch = 10_000
)

// NewStore makes a Store.
func NewStore(pool *pg.Pool, clk clock.Clock, log *slog.Logger) *Store {
	return &Store{pool: pool, clock: clk, log: log, wake: make(chan struct{}, 1)}
}

// Token revokes one access token, which expires by itself at a time, and stores
// the event of it.
func (s *Store) Token(ctx context.Context, e audit.Event, jti string, expires time.Time) error {
	err := e.WriteWith(ctx, s.pool, `INSERT INTO revocation (tenant_id, key, created_at, expires_at)
		VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, e.Tenant, revocation.TokenKey(jti), s.clock.Now(), expires)
	if err != nil {
		return fmt.Errorf("revoke token: %w", err)
	}
	s.Published()
	return nil
}

// Family revokes a refresh token, given by its hash, and all access tokens that
// were made by it, and stores the event of it. There may be none.
func (s *Store) Family(ctx context.Context, e audit.Event, refreshHash []byte) error {
	err := e.WriteWith(ctx, s.pool, endFamilies+` WHERE tenant_id = $1 AND refresh_hash = $3`+endedRows,
		e.Tenant, s.clock.Now(), refreshHash)
	if err != nil {
		return fmt.Errorf("revoke token family: %w", err)
	}
	s.Published()
	return nil
}

// FederatedSID is the family of all tokens of identity providers that mean a
// user.
func FederatedSID(userID int64) string { return "u-" + strconv.FormatInt(userID, 10) }

// federatedUntil is for how long the tokens of identity providers are revoked
// whose user is removed: for longer than others remember them.
const federatedUntil = 10 * time.Minute

// Persons revokes all tokens of the users of persons, in the transaction that
// removes the users. The caller calls Published when it has committed.
func Persons(ctx context.Context, tx pg.Querier, tenantID int64, persons []int64, now time.Time) error {
	if err := lockUsers(ctx, tx, tenantID, persons); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, endFamilies+` WHERE tenant_id = $1 AND user_id IN
		(SELECT id FROM app_user WHERE tenant_id = $1 AND person_id = ANY($3))`+endedRows, tenantID, now, persons)
	if err != nil {
		return fmt.Errorf("revoke tokens of users: %w", err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO revocation (tenant_id, key, created_at, expires_at)
		SELECT $1, 's.u-' || id, $2, $4 FROM app_user WHERE tenant_id = $1 AND person_id = ANY($3)
		ON CONFLICT DO NOTHING`, tenantID, now, persons, now.Add(federatedUntil))
	if err != nil {
		return fmt.Errorf("revoke tokens of identity providers: %w", err)
	}
	return nil
}

// boundLife is longer than any access token lives.
const boundLife = 45 * 24 * time.Hour

// Everything revokes all tokens of a tenant that were issued up to the second of now, in
// the transaction of the caller.
func Everything(ctx context.Context, tx pg.Querier, tenantID int64, now time.Time) error {
	_, err := tx.Exec(ctx, `INSERT INTO revocation (tenant_id, key, created_at, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT DO NOTHING`, tenantID, revocation.BoundKey(now), now, now.Add(boundLife))
	if err != nil {
		return fmt.Errorf("revoke all tokens: %w", err)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM token_family WHERE tenant_id = $1`, tenantID); err != nil {
		return fmt.Errorf("remove all refresh tokens: %w", err)
	}
	return nil
}

// A family whose access tokens are all over needs no revocation.
const (
	endFamilies = `WITH ended AS (DELETE FROM token_family`
	endedRows   = ` RETURNING sid, access_until)
		INSERT INTO revocation (tenant_id, key, created_at, expires_at)
		SELECT $1, 's.' || sid, $2, access_until FROM ended WHERE access_until > $2 ON CONFLICT DO NOTHING`
)

// Published hastens that others learn of what was committed.
func (s *Store) Published() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Revoked reports whether the principal's token was revoked.
func (s *Store) Revoked(ctx context.Context, p *authn.Principal) (bool, error) {
	var revoked bool
	err := s.pool.QueryRow(tenant.With(ctx, p.Tenant), `SELECT EXISTS (SELECT FROM revocation
		WHERE tenant_id = $1 AND (key IN ($2, $3) OR key BETWEEN 'b.' AND 'b.:' AND CASE WHEN key LIKE 'b.%' THEN substr(key, 3)::bigint >= $4 ELSE false END))`,
		p.Tenant, revocation.TokenKey(p.JTI), revocation.FamilyKey(p.SID), p.IssuedAt.Unix()).Scan(&revoked)
	if err != nil {
		return false, fmt.Errorf("look for revocations: %w", err)
	}
	return revoked, nil
}

// row is one revocation of any tenant.
type row struct {
	version int64
	key     string
	expires time.Time
}

// page returns at most limit revocations behind a position, and the horizon:
// every transaction before it had ended when the page was read.
func (s *Store) page(ctx context.Context, version int64, key string, limit int) (rows []row, horizon int64, err error) {
	found, err := s.pool.Query(tenant.All(ctx), `SELECT h.horizon, r.version, r.key, r.expires_at
		FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon) h
		LEFT JOIN LATERAL (
			SELECT version, key, expires_at FROM revocation
			WHERE (version, key) > (CASE WHEN $2 = '' AND $1 > h.horizon THEN 0 ELSE $1 END, $2) AND expires_at > $3
			ORDER BY version, key LIMIT $4) r ON true`, version, key, s.clock.Now(), limit)
	if err != nil {
		return nil, 0, fmt.Errorf("list revocations: %w", err)
	}
	var r struct {
		version *int64
		key     *string
		expires *time.Time
	}
	_, err = pgx.ForEachRow(found, []any{&horizon, &r.version, &r.key, &r.expires}, func() error {
		if r.key != nil {
			rows = append(rows, row{*r.version, *r.key, *r.expires})
		}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list revocations: %w", err)
	}
	return rows, horizon, nil
}

// Run removes expired rows now and then until ctx ends.
func (s *Store) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := s.sweep(ctx, sweepBatch); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "expired revocations could not be removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

const sweeps pg.Unaudited = "what has expired goes by itself"

// sweep removes at most limit revocations that have expired, of all tenants.
func (s *Store) sweep(ctx context.Context, limit int) error {
	_, err := sweeps.Exec(tenant.All(ctx), s.pool, `DELETE FROM revocation WHERE (tenant_id, key) IN (
		SELECT tenant_id, key FROM revocation WHERE expires_at <= $1 LIMIT $2)`, s.clock.Now(), limit)
	if err != nil {
		return fmt.Errorf("remove expired revocations: %w", err)
	}
	return nil
}
