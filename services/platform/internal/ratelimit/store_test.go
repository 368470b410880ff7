package ratelimit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
	"github.com/rotaloom/rotaloom/services/platform/migrations"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// A clock that was ahead and is right again does not keep an allowance from growing.
func TestAllowancesGrowAfterTheClockWasAhead(t *testing.T) {
	t.Parallel()
	sets, err := serve.Migrations("platform_version", migrations.FS)
	require.NoError(t, err)
	pool := pgtest.New(t, sets...)
	s := NewStore(pool, ratelimit.Defaults{}, clock.System{})
	ctx := tenant.With(t.Context(), 1)
	l := lease{tenantID: 1, caller: "c", class: optionsv1.Throttle_THROTTLE_READ, wanted: 10}
	policy := ratelimit.Policy{Rate: 1000, Burst: 10}
	_, granted, err := s.take(ctx, l, policy)
	require.NoError(t, err)
	require.EqualValues(t, 10, granted)
	_, err = leases.Exec(ctx, pool, "UPDATE rate_bucket SET tokens = 0, updated_at = clock_timestamp() + interval '60 days'")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, granted, err := s.take(ctx, l, policy)
		require.NoError(t, err)
		return granted > 0
	}, 20*time.Second, 20*time.Millisecond)
}

// Rates that were read before a change, and arrive after it, are not used for a second.
func TestRatesThatAChangeHasReplacedAreNotRemembered(t *testing.T) {
	t.Parallel()
	s := NewStore(nil, ratelimit.Defaults{}, clock.System{})
	read := cachedRates{at: time.Now(), rates: map[key]ratelimit.Policy{{optionsv1.Throttle_THROTTLE_READ, ""}: {Rate: 1}}}

	s.putCache(7, read, s.changes)
	assert.Contains(t, s.cached, int64(7))

	changes := s.changes // A read begins,
	s.invalidate(7)      // a rate is set before it ends,
	s.putCache(7, read, changes)
	assert.NotContains(t, s.cached, int64(7), "and what was read is old")

	s.putCache(7, read, s.changes)
	assert.Contains(t, s.cached, int64(7))
}
