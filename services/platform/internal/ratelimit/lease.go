package ratelimit

import (
	"context"
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// lease is a lease request of an edge.
type lease struct {
	tenantID int64 // 0 for unknown callers
	caller   string
	class    optionsv1.Throttle
	// spent was admitted without a lease; returned was leased and not used.
	spent, returned, wanted int64
}

// takeTokens settles a lease in one statement: it locks the row while it computes, and concurrent statements
// wait. It uses the clock of the database only, so the edges' clocks do not matter.
//
// Requests that were admitted without a lease can push the allowance below zero, down to minus one burst. The
// requests that are refused later compensate for that.
//
// A time in the far future was written while the clock was ahead. Then tokens grow from now on.
//
//nolint:gosec // The tokens are those of a bucket, and no credentials.
const takeTokens = `
	INSERT INTO rate_bucket AS b (tenant_id, caller, throttle, tokens, granted, updated_at)
	VALUES ($1, $2, $3,
		greatest(-$5::float8, $5 - $6) - greatest(0, least($8, floor($5 - $6))),
		greatest(0, least($8, floor($5 - $6))), clock_timestamp())
	ON CONFLICT (tenant_id, caller, throttle) DO UPDATE SET (tokens, granted, updated_at) = (
		SELECT settled.tokens - given.n, given.n, grown.at
		FROM (SELECT CASE WHEN b.updated_at > clock_timestamp() + interval '1 minute' THEN clock_timestamp()
				ELSE greatest(clock_timestamp(), b.updated_at) END AS at) AS grown,
			LATERAL (SELECT greatest(-$5::float8, least($5, least($5, b.tokens
				+ $4 * greatest(0, extract(epoch FROM grown.at - b.updated_at)::float8)) - $6 + $7)) AS tokens) AS settled,
			LATERAL (SELECT greatest(0, least($8, floor(settled.tokens))) AS n) AS given)
	RETURNING tokens, granted`

// take settles a lease, and returns the remaining tokens and the granted ones.
func (s *Store) take(ctx context.Context, l lease, p ratelimit.Policy) (tokens float64, granted int64, err error) {
	err = leases.QueryRow(ctx, s.pool, takeTokens, l.tenantID, l.caller, int16(l.class), p.Rate,
		float64(p.Burst), float64(l.spent), float64(l.returned), float64(l.wanted)).Scan(&tokens, &granted)
	if err != nil {
		return 0, 0, fmt.Errorf("lease rate: %w", err)
	}
	return tokens, granted, nil
}

const (
	sweepEvery = time.Minute
	// evictAfter is how long an unused allowance is stored. By then, even slow rates have filled it again.
	evictAfter = time.Hour
	sweepBatch = 50_000
)

const leases pg.Unaudited = "counting requests is not an action of a user; the requests have audit rows of their own"

// Sweep removes allowances that have been unused for long.
func (s *Store) Sweep(ctx context.Context) error {
	for {
		tag, err := leases.Exec(ctx, s.pool, `DELETE FROM rate_bucket WHERE (tenant_id, caller, throttle) IN
			(SELECT tenant_id, caller, throttle FROM rate_bucket WHERE updated_at < clock_timestamp() - $1::interval LIMIT $2)`,
			evictAfter, sweepBatch)
		if err != nil {
			return fmt.Errorf("remove old allowances: %w", err)
		}
		if tag.RowsAffected() < sweepBatch {
			return nil
		}
	}
}
