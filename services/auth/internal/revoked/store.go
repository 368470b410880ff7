// Package revoked stores the tokens that were revoked before their end, and lists them for the other services.
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

// Store stores revocations in the database. It is the authn.Revocations of the auth service itself, which reads
// the rows directly.
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

// NewStore returns a Store.
func NewStore(pool *pg.Pool, clk clock.Clock, log *slog.Logger) *Store {
	return &Store{pool: pool, clock: clk, log: log, wake: make(chan struct{}, 1)}
}

// Token revokes one access token, which expires at a time, and writes its audit event.
func (s *Store) Token(ctx context.Context, e audit.Event, jti string, expires time.Time) error {
	err := e.WriteWith(ctx, s.pool, `INSERT INTO revocation (tenant_id, key, created_at, expires_at)
		VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, e.Tenant, revocation.TokenKey(jti), s.clock.Now(), expires)
	if err != nil {
		return fmt.Errorf("revoke token: %w", err)
	}
	s.WakePublisher()
	return nil
}

// Family revokes a refresh token, given by its hash, and all access tokens of its family, and writes the audit
// event. It does nothing if the token does not exist.
func (s *Store) Family(ctx context.Context, e audit.Event, refreshHash []byte) error {
	err := e.WriteWith(ctx, s.pool, endFamilies+` WHERE tenant_id = $1 AND refresh_hash = $3`+endedRows,
		e.Tenant, s.clock.Now(), refreshHash)
	if err != nil {
		return fmt.Errorf("revoke token family: %w", err)
	}
	s.WakePublisher()
	return nil
}

// FederatedSID returns the family of all identity-provider tokens of a user.
func FederatedSID(userID int64) string { return "u-" + strconv.FormatInt(userID, 10) }

// federatedUntil is how long the identity-provider tokens of a removed user stay revoked. It is longer than
// services cache such tokens.
const federatedUntil = 10 * time.Minute

// Persons revokes all tokens of the persons' users, in the transaction that removes the users. The caller calls
// WakePublisher after the commit.
func Persons(ctx context.Context, tx pg.Querier, persons []int64, now time.Time) error {
	tenantID := tenant.Of(ctx)
	if err := lockUsers(ctx, tx, persons); err != nil {
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

// boundLife is longer than the life of any access token.
const boundLife = 45 * 24 * time.Hour

// Everything revokes all tokens of a tenant that were issued up to the current second, in the caller's
// transaction.
func Everything(ctx context.Context, tx pg.Querier, now time.Time) error {
	tenantID := tenant.Of(ctx)
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

// A family without valid access tokens needs no revocation.
const (
	endFamilies = `WITH ended AS (DELETE FROM token_family`
	endedRows   = ` RETURNING sid, access_until)
		INSERT INTO revocation (tenant_id, key, created_at, expires_at)
		SELECT $1, 's.' || sid, $2, access_until FROM ended WHERE access_until > $2 ON CONFLICT DO NOTHING`
)

// WakePublisher makes the publisher publish committed revocations at once.
func (s *Store) WakePublisher() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Revoked reports whether the principal's token is revoked.
func (s *Store) Revoked(ctx context.Context, p *authn.Principal) (bool, error) {
	var revoked bool
	err := s.pool.QueryRow(tenant.With(ctx, p.Tenant), `SELECT EXISTS (SELECT FROM revocation
		WHERE tenant_id = $1 AND (key IN ($2, $3) OR key BETWEEN 'b.' AND 'b.:' AND CASE WHEN key LIKE 'b.%' THEN substr(key, 3)::bigint >= $4 ELSE false END))`,
		p.Tenant, revocation.TokenKey(p.JTI), revocation.SessionKey(p.SID), p.IssuedAt.Unix()).Scan(&revoked)
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

// page returns at most limit revocations after a position, and the horizon: all transactions before it had
// ended when the page was read.
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

// Run periodically removes expired rows until ctx ends.
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

const sweeps pg.Unaudited = "expired rows have no effect any longer"

// sweep removes at most limit expired revocations of all tenants.
func (s *Store) sweep(ctx context.Context, limit int) error {
	_, err := sweeps.Exec(tenant.All(ctx), s.pool, `DELETE FROM revocation WHERE (tenant_id, key) IN (
		SELECT tenant_id, key FROM revocation WHERE expires_at <= $1 LIMIT $2)`, s.clock.Now(), limit)
	if err != nil {
		return fmt.Errorf("remove expired revocations: %w", err)
	}
	return nil
}
