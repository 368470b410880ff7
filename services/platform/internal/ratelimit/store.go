package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

const (
	// cacheTTL is how long the rates of a tenant are cached.
	cacheTTL = time.Second
	// maxCachedTenants is the number of tenants in the cache.
	maxCachedTenants = 4096
)

// Origin is the level of a rate.
type Origin string

// The origins, from the narrowest to the widest.
const (
	Client       Origin = "CLIENT"
	Tenant       Origin = "TENANT"
	Installation Origin = "INSTALLATION"
)

// Store stores rates and allowances. It is safe for concurrent use.
type Store struct {
	pool     *pg.Pool
	defaults ratelimit.Defaults
	clock    clock.Clock

	mu     sync.Mutex
	cached map[int64]cachedRates
	// changes counts the rates that this process has set.
	changes int64
}

type cachedRates struct {
	at    time.Time
	rates map[key]ratelimit.Policy
}

// key identifies a rate of a tenant. client is "" for the rate of all other clients.
type key struct {
	class  optionsv1.Throttle
	client string
}

// setRate is a row of rate_limit.
type setRate struct {
	key
	policy ratelimit.Policy
}

// NewStore returns a Store.
func NewStore(pool *pg.Pool, defaults ratelimit.Defaults, clk clock.Clock) *Store {
	return &Store{pool: pool, clock: clk, defaults: defaults, cached: map[int64]cachedRates{}}
}

// Rate returns the rate of a client, and its origin. Without a tenant, it returns the rate of
// the installation.
func (s *Store) Rate(ctx context.Context, class optionsv1.Throttle, client string) (ratelimit.Policy, Origin, error) {
	_, ok := tenant.From(ctx)
	if !ok {
		return s.defaults.Of(class), Installation, nil
	}
	rates, err := s.tenantRates(ctx)
	if err != nil {
		return ratelimit.Policy{}, "", err
	}
	if p, ok := rates[key{class, client}]; ok && client != "" {
		return p, Client, nil
	}
	if p, ok := rates[key{class, ""}]; ok {
		return p, Tenant, nil
	}
	return s.defaults.Of(class), Installation, nil
}

// tenantRates returns the rates that a tenant has set, at most a second old.
func (s *Store) tenantRates(ctx context.Context) (map[key]ratelimit.Policy, error) {
	tenantID := tenant.Of(ctx)
	s.mu.Lock()
	entry, ok := s.cached[tenantID]
	changes := s.changes
	s.mu.Unlock()
	if ok && s.clock.Now().Sub(entry.at) < cacheTTL {
		return entry.rates, nil
	}
	entry = cachedRates{at: s.clock.Now(), rates: map[key]ratelimit.Policy{}}
	rows, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		// The rate may have been set under a higher ceiling.
		entry.rates[row.key] = row.policy.AtMost(s.defaults.Max(row.class))
	}
	s.putCache(tenantID, entry, changes)
	return entry.rates, nil
}

// putCache caches rates that were read after the given number of changes. It drops them if there have been
// further changes, because they may be outdated.
func (s *Store) putCache(tenantID int64, read cachedRates, changes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes != changes {
		return
	}
	if len(s.cached) >= maxCachedTenants {
		clear(s.cached)
	}
	s.cached[tenantID] = read
}

// invalidate makes a change of this process visible at once.
func (s *Store) invalidate(tenantID int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	delete(s.cached, tenantID)
}

func (s *Store) list(ctx context.Context) ([]setRate, error) {
	rows, err := s.pool.Query(ctx, `SELECT throttle, client_id, rate, burst FROM rate_limit
		WHERE tenant_id = $1 ORDER BY throttle, client_id`, tenant.Of(ctx))
	if err != nil {
		return nil, fmt.Errorf("list rate limits: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (setRate, error) {
		var r setRate
		err := row.Scan(&r.class, &r.client, &r.policy.Rate, &r.policy.Burst)
		return r, err
	})
}

// putRate sets a rate. It returns false if the tenant has reached the limit.
func (s *Store) putRate(ctx context.Context, k key, p ratelimit.Policy) (bool, error) {
	tenantID := tenant.Of(ctx)
	defer s.invalidate(tenantID)
	err := pg.ExecOne(ctx, s.pool, `INSERT INTO rate_limit (tenant_id, throttle, client_id, rate, burst)
		SELECT $1, $2, $3, $4, $5
		WHERE (SELECT count(*) FROM rate_limit WHERE tenant_id = $1 AND (throttle, client_id) <> ($2, $3)) < $6
		ON CONFLICT (tenant_id, throttle, client_id)
		DO UPDATE SET rate = excluded.rate, burst = excluded.burst, updated_at = now()`,
		tenantID, int16(k.class), k.client, p.Rate, p.Burst, maxRates)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("set rate limit: %w", err)
	}
	return true, nil
}

// remove removes a rate, and reports whether it existed.
func (s *Store) remove(ctx context.Context, k key) (bool, error) {
	tenantID := tenant.Of(ctx)
	defer s.invalidate(tenantID)
	err := pg.ExecOne(ctx, s.pool, `DELETE FROM rate_limit WHERE tenant_id = $1 AND throttle = $2 AND client_id = $3`,
		tenantID, int16(k.class), k.client)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("remove rate limit: %w", err)
	}
	return true, nil
}

// Remaining returns the remaining requests of a caller, by class.
func (s *Store) Remaining(ctx context.Context, caller string, policies map[optionsv1.Throttle]ratelimit.Policy) (map[optionsv1.Throttle]int64, error) {
	tenantID := tenant.Of(ctx)
	classes := make([]int16, 0, len(policies))
	left := make(map[optionsv1.Throttle]int64, len(policies))
	for class, p := range policies {
		classes = append(classes, int16(class))
		left[class] = p.Burst // Unused allowances have no row.
	}
	var class int16
	var tokens, seconds float64
	err := pg.ForEach(ctx, s.pool, []any{&class, &tokens, &seconds}, func() error {
		p := policies[optionsv1.Throttle(class)]
		left[optionsv1.Throttle(class)] = max(int64(min(float64(p.Burst), tokens+p.Rate*seconds)), 0)
		return nil
	}, `SELECT throttle, tokens, greatest(0, extract(epoch FROM clock_timestamp() - updated_at)::float8)
		FROM rate_bucket WHERE tenant_id = $1 AND caller = $2 AND throttle = ANY($3)`, tenantID, caller, classes)
	if err != nil {
		return nil, fmt.Errorf("read allowances: %w", err)
	}
	return left, nil
}
