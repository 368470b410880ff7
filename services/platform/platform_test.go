package platform_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	_ "github.com/rotaloom/rotaloom/proto/contracts" // Every limit.
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/platform"
)

const write = optionsv1.Throttle_THROTTLE_WRITE

// fixture is the service with everything around it but a network.
type fixture struct {
	pool   *pg.Pool
	rates  platformv1.RateLimitServiceClient
	limits platformv1.LimitServiceClient
}

// schedules keep their history for three days.
type schedules struct {
	schedulingv1.UnimplementedScheduleChangeServiceServer
}

func (schedules) GetScheduleHistory(context.Context, *schedulingv1.GetScheduleHistoryRequest) (*schedulingv1.ScheduleHistory, error) {
	return &schedulingv1.ScheduleHistory{KeepMicroseconds: proto.Int64((72 * time.Hour).Microseconds())}, nil
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	scheduling := rpctest.Local(t)
	schedulingv1.RegisterScheduleChangeServiceServer(scheduling, schedules{})
	sets, err := platform.Migrations()
	require.NoError(t, err)
	b := &fixture{pool: pgtest.New(t, sets...)}
	service, err := platform.New(t.Context(), platform.Config{
		Rates: ratelimit.Defaults{Write: ratelimit.Policy{Rate: 0.01, Burst: 100}}, BodyBytes: 1 << 20,
	}, platform.Deps{
		Backends:   serve.Backends{Pool: b.pool, Clock: clock.System{}, Log: pgtest.Log(t), Registry: prometheus.NewRegistry()},
		Scheduling: scheduling.Conn("platform", nil),
	})
	require.NoError(t, err)
	require.NoError(t, service.Check(t.Context()))
	local := rpctest.Local(t)
	service.Register(local)
	conn := local.Conn("test", nil)
	b.rates, b.limits = platformv1.NewRateLimitServiceClient(conn), platformv1.NewLimitServiceClient(conn)
	return b
}

func inTenant(t *testing.T, id int64) context.Context { return tenant.With(t.Context(), id) }

func (b *fixture) lease(t *testing.T, ctx context.Context, spent, returned, wanted int64) *platformv1.LeaseRateResponse {
	t.Helper()
	response, err := b.rates.LeaseRate(ctx, &platformv1.LeaseRateRequest{
		Caller: "ada", Throttle: write, Spent: spent, Returned: returned, Wanted: wanted,
	})
	require.NoError(t, err)
	return response
}

func TestLeasesComeOutOfOneAllowance(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	first := b.lease(t, ctx, 0, 0, 60)
	assert.EqualValues(t, 60, first.GetGranted())
	assert.EqualValues(t, 40, first.GetRemaining())
	assert.Equal(t, 0.01, first.GetRate())
	assert.Zero(t, first.GetRetryAfterMs())

	second := b.lease(t, ctx, 10, 0, 60)
	assert.EqualValues(t, 30, second.GetGranted(), "what was let through before is settled first")
	assert.InDelta(t, 100_000, second.GetRetryAfterMs(), 5_000)
	assert.Zero(t, b.lease(t, ctx, 5, 0, 0).GetRemaining())
	assert.Zero(t, b.lease(t, ctx, 0, 4, 10).GetGranted(), "one is still owed")
	assert.EqualValues(t, 2, b.lease(t, ctx, 0, 3, 10).GetGranted())
	assert.EqualValues(t, 100, b.lease(t, ctx, 0, 500, 0).GetRemaining(), "never more than the burst")

	assert.EqualValues(t, 99, b.lease(t, inTenant(t, 2), 1, 0, 0).GetRemaining(), "another tenant")
	assert.EqualValues(t, 99, b.lease(t, t.Context(), 1, 0, 0).GetRemaining(), "nobody known")
	assert.EqualValues(t, 98, b.lease(t, t.Context(), 1, 0, 0).GetRemaining())
}

func TestTheAllowanceGrows(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	b.lease(t, ctx, 0, 0, 100)
	_, err := b.pool.Exec(ctx, "UPDATE rate_bucket SET updated_at = clock_timestamp() - interval '1000 s' WHERE tenant_id = 1")
	require.NoError(t, err)
	assert.EqualValues(t, 10, b.lease(t, ctx, 0, 0, 50).GetGranted())
	_, err = b.pool.Exec(ctx, "UPDATE rate_bucket SET updated_at = clock_timestamp() + interval '1 day' WHERE tenant_id = 1")
	require.NoError(t, err)
	assert.Zero(t, b.lease(t, ctx, 0, 0, 50).GetGranted(), "a clock that was set back")
}

func TestCompetitorsGetNoMoreThanThereIs(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	var granted atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				granted.Add(b.lease(t, ctx, 0, 0, 3).GetGranted())
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 100, granted.Load())
}

func (b *fixture) putRateLimit(ctx context.Context, class, client string, rate float64, burst int64) (*platformv1.RateLimit, error) {
	req := &platformv1.PutRateLimitRequest{ThrottleClass: class, RateLimit: &platformv1.RateLimit{Rate: rate, Burst: burst}}
	if client != "" {
		req.ClientId = proto.String(client)
	}
	return b.rates.PutRateLimit(ctx, req)
}

func TestTheNarrowestRateHolds(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	origin := func(client string) string {
		t.Helper()
		r, err := b.rates.GetRateLimit(ctx, &platformv1.GetRateLimitRequest{ThrottleClass: "write", ClientId: proto.String(client)})
		require.NoError(t, err)
		return r.GetOrigin()
	}
	assert.Equal(t, "INSTALLATION", origin("ada"))
	_, err := b.putRateLimit(ctx, "write", "", 0.02, 50)
	require.NoError(t, err)
	_, err = b.putRateLimit(ctx, "write", "ada", 0.03, 7)
	require.NoError(t, err)
	assert.Equal(t, "CLIENT", origin("ada"))
	assert.Equal(t, "TENANT", origin("bob"))
	assert.EqualValues(t, 7, b.lease(t, ctx, 0, 0, 100).GetGranted())
	assert.EqualValues(t, 100, b.lease(t, inTenant(t, 2), 0, 0, 100).GetGranted(), "another tenant's is not touched")

	list, err := b.rates.ListRateLimits(ctx, &platformv1.ListRateLimitsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetRateLimits(), 2)
	assert.Equal(t, "ada", list.GetRateLimits()[1].GetClientId())
	_, err = b.rates.DeleteRateLimit(ctx, &platformv1.DeleteRateLimitRequest{ThrottleClass: "write", ClientId: proto.String("ada")})
	require.NoError(t, err)
	assert.Equal(t, "TENANT", origin("ada"))
}

func TestRefusedRates(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	for _, test := range []struct {
		class  string
		rate   float64
		burst  int64
		status int
		code   string
	}{
		{"writing", 1, 1, 404, fault.CodeNotFound},
		{"unspecified", 1, 1, 404, fault.CodeNotFound},
		{"write", 0, 1, 400, "WRL-60001"},
		{"write", 1, 0, 400, "WRL-60001"},
		{"write", 1e9, 1, 400, "WRL-60001"},
		{"login", 1, 1, 400, "WRL-60003"},
		{"write", 0.11, 1000, 400, "WRL-60004"},
		{"write", 0.1, 1001, 400, "WRL-60004"},
	} {
		t.Run(test.class, func(t *testing.T) {
			_, err := b.putRateLimit(ctx, test.class, "", test.rate, test.burst)
			refused := fault.FromError(err)
			assert.Equal(t, test.code, refused.Code, test)
			assert.Equal(t, test.status, refused.Status, test)
		})
	}
	_, err := b.rates.DeleteRateLimit(ctx, &platformv1.DeleteRateLimitRequest{ThrottleClass: "write"})
	assert.True(t, fault.HasStatus(err, 404))
}

// A rate that was set under a higher ceiling is limited to the current one.
func TestTheCeilingHoldsForWhatWasSetBefore(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	_, err := b.putRateLimit(ctx, "write", "ada", 0.1, 1000)
	require.NoError(t, err, "ten times what the installation has")
	_, err = b.pool.Exec(ctx, "UPDATE rate_limit SET rate = 50, burst = 5000 WHERE tenant_id = 1")
	require.NoError(t, err)
	require.Eventually(t, func() bool { // A process remembers rates for a second.
		got, err := b.rates.GetRateLimit(ctx, &platformv1.GetRateLimitRequest{ThrottleClass: "write", ClientId: proto.String("ada")})
		return err == nil && got.GetRate() == 0.1 && got.GetBurst() == 1000
	}, 10*time.Second, 10*time.Millisecond)
	assert.EqualValues(t, 1000, b.lease(t, ctx, 0, 0, 5000).GetGranted())
	list, err := b.rates.ListRateLimits(ctx, &platformv1.ListRateLimitsRequest{})
	require.NoError(t, err)
	assert.EqualValues(t, 1000, list.GetRateLimits()[0].GetBurst(), "as it holds")
}

func TestOldAllowancesGo(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	b.lease(t, ctx, 0, 0, 1)
	b.lease(t, inTenant(t, 2), 0, 0, 1)
	_, err := b.pool.Exec(ctx, "UPDATE rate_bucket SET updated_at = now() - interval '2 hours' WHERE tenant_id = 1")
	require.NoError(t, err)
	require.NoError(t, platform.Sweep(tenant.All(t.Context()), b.pool))
	var left int64
	require.NoError(t, b.pool.QueryRow(tenant.All(t.Context()), "SELECT sum(tenant_id) FROM rate_bucket").Scan(&left))
	assert.EqualValues(t, 2, left)
}

func TestLimitsAreThoseOfTheContracts(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	limits, err := b.limits.GetLimits(inTenant(t, 1), &platformv1.GetLimitsRequest{})
	require.NoError(t, err)
	require.Len(t, limits.GetRates(), 5)
	assert.EqualValues(t, 1<<20, limits.GetRequest().GetBodyBytes())
	from, err := time.Parse("2006-01-02T15:04:05", limits.GetHistoryFrom())
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(-60*time.Hour), from, 12*time.Hour+time.Minute)
	for _, r := range limits.GetRates() {
		assert.NotEmpty(t, r.GetOperations(), r.GetThrottleClass())
	}
	found := map[string]*platformv1.OperationLimit{}
	for _, o := range limits.GetOperations() {
		assert.NotEmpty(t, o.GetErrorCode(), o)
		assert.NotEmpty(t, o.GetCounted(), o)
		found[o.GetOperation()] = o
	}
	read := found["POST /v1/scheduling/shift_templates/multi_create"]
	require.NotNil(t, read)
	assert.EqualValues(t, 1000, read.GetMaximum())
	assert.EqualValues(t, 413, read.GetStatus())
	assert.Equal(t, "WFP-90003", read.GetErrorCode())
}

func BenchmarkLease(b *testing.B) {
	sets, err := platform.Migrations()
	require.NoError(b, err)
	pool := pgtest.New(b, sets...)
	service, err := platform.New(b.Context(), platform.Config{}, platform.Deps{Backends: serve.Backends{Pool: pool, Clock: clock.System{}, Log: pgtest.Log(b), Registry: prometheus.NewRegistry()}})
	require.NoError(b, err)
	local := rpctest.Local(b)
	service.Register(local)
	client := platformv1.NewRateLimitServiceClient(local.Conn("test", nil))
	ctx := tenant.With(b.Context(), 1)
	began := time.Now()
	for b.Loop() {
		if _, err := client.LeaseRate(ctx, &platformv1.LeaseRateRequest{Caller: "ada", Throttle: write, Wanted: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "leases/s")
}
