package throttle_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/gateway/throttle"
	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

const read = optionsv1.Throttle_THROTTLE_READ

var ada = throttle.Key{Tenant: 7, Caller: "ada", Class: read}

// authority counts as the platform service does.
type authority struct {
	platformv1.RateLimitServiceClient

	mu       sync.Mutex
	policy   ratelimit.Policy
	delay    time.Duration
	err      error
	requests int
	tenant   int64
	tokens   map[string]float64
	at       map[string]time.Time
}

func newAuthority(rate float64, burst int64) *authority {
	return &authority{
		policy: ratelimit.Policy{Rate: rate, Burst: burst}, delay: 2 * time.Millisecond,
		tokens: map[string]float64{}, at: map[string]time.Time{},
	}
}

func (a *authority) LeaseRate(ctx context.Context, req *platformv1.LeaseRateRequest, _ ...grpc.CallOption) (*platformv1.LeaseRateResponse, error) {
	time.Sleep(a.delay) // The duration of the network; time is simulated.
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests++
	a.tenant, _ = tenant.From(ctx)
	if a.err != nil {
		return nil, a.err
	}
	key := req.GetCaller() + req.GetThrottle().String()
	if _, ok := a.tokens[key]; !ok {
		a.tokens[key], a.at[key] = float64(a.policy.Burst), time.Now()
	}
	burst := float64(a.policy.Burst)
	tokens := min(burst, a.tokens[key]+a.policy.Rate*time.Since(a.at[key]).Seconds())
	tokens = max(min(tokens-float64(req.GetSpent())+float64(req.GetReturned()), burst), -burst)
	granted := int64(max(min(float64(req.GetWanted()), math.Floor(tokens)), 0))
	tokens -= float64(granted)
	a.tokens[key], a.at[key] = tokens, time.Now()
	response := &platformv1.LeaseRateResponse{
		Granted: granted, Remaining: int64(max(tokens, 0)), Rate: a.policy.Rate, Burst: a.policy.Burst,
	}
	if granted < req.GetWanted() {
		response.RetryAfterMs = max(int64(math.Ceil(1000*(1-tokens)/a.policy.Rate)), 25)
	}
	return response, nil
}

func (a *authority) set(change func(*authority)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

func (a *authority) questions() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests
}

// One lease that fails met a service that stops; the log says it when it lasts.
func TestTheLogSaysWhenRatesAreNotCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(100, 10)
		var log bytes.Buffer
		edge := throttle.New(throttle.Config{Enabled: true, Replicas: 4}, a, slog.New(slog.NewTextHandler(&log, nil)))
		a.set(func(a *authority) { a.err = errors.New("away") })
		edge.Take(t.Context(), ada)
		time.Sleep(2 * a.delay)
		require.Equal(t, 1, a.questions())
		assert.Empty(t, log.String())
		countAdmitted(t, edge, 50*time.Millisecond, 10*time.Second)
		assert.Equal(t, 1, strings.Count(log.String(), "does not count rates"))
		a.set(func(a *authority) { a.err = nil })
		countAdmitted(t, edge, 50*time.Millisecond, 10*time.Second)
		assert.Equal(t, 1, strings.Count(log.String(), "counts rates again"))
		settle()
	})
}

func newThrottler(a *authority) *throttle.Throttler {
	return throttle.New(throttle.Config{Enabled: true, Replicas: 4}, a, slog.New(slog.DiscardHandler))
}

// countAdmitted makes one request every interval for a time, and returns how many were
// admitted.
func countAdmitted(t *testing.T, edge *throttle.Throttler, every, long time.Duration) int {
	t.Helper()
	admitted := 0
	for began := time.Now(); time.Since(began) < long; time.Sleep(every) {
		if edge.Take(t.Context(), ada).Admitted {
			admitted++
		}
	}
	return admitted
}

// settle waits until background lease requests have ended, including returns of leases.
func settle() { time.Sleep(time.Minute) }

func TestEdgesTogetherKeepToTheRate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		rate  float64
		burst int64
		every []time.Duration // between the requests at each edge
	}{
		{"evenly", 200, 100, []time.Duration{2 * time.Millisecond, 2 * time.Millisecond, 2 * time.Millisecond}},
		{"unevenly", 200, 100, []time.Duration{time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond}},
		{"slowly", 2, 4, []time.Duration{100 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond}},
		{"quickly", 3000, 500, []time.Duration{500 * time.Microsecond, 500 * time.Microsecond, 500 * time.Microsecond}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := newAuthority(test.rate, test.burst)
				const long = 20 * time.Second
				admitted := make([]int, len(test.every))
				var wg sync.WaitGroup
				for i, every := range test.every {
					edge := newThrottler(a)
					wg.Go(func() { admitted[i] = countAdmitted(t, edge, every, long) })
				}
				wg.Wait()
				total := 0
				for _, n := range admitted {
					total += n
				}
				want := float64(test.burst) + test.rate*long.Seconds()
				assert.InEpsilon(t, want, total, 0.05, "%v", admitted)
				settle()
			})
		})
	}
}

func TestACallerBelowTheRateNeverWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(5000, 10000)
		a.delay = 300 * time.Millisecond // Every wait would show.
		edge := newThrottler(a)
		const requests = 5000
		for i := range requests {
			began := time.Now()
			require.True(t, edge.Take(t.Context(), ada).Admitted)
			if i > 0 { // Of a stranger the first request is free, the second waits.
				require.LessOrEqual(t, time.Since(began), a.delay)
			}
			if i > 1 {
				require.Zero(t, time.Since(began), "request %d", i)
			}
			time.Sleep(4 * time.Millisecond)
		}
		assert.Less(t, a.questions(), requests/50)
		assert.EqualValues(t, 7, a.tenant)
		settle()
	})
}

func TestALeaseOfASilentCallerIsGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(0.01, 1000)
		edge, other := newThrottler(a), newThrottler(a)
		for range 100 {
			require.True(t, edge.Take(t.Context(), ada).Admitted)
		}
		settle()
		admitted := 0
		for range 2000 {
			if other.Take(t.Context(), ada).Admitted {
				admitted++
			}
		}
		assert.Equal(t, 900, admitted, "nothing is lost at the first edge")
		settle()
	})
}

func TestARefusalSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(0.5, 3)
		edge := newThrottler(a)
		for range 3 {
			require.True(t, edge.Take(t.Context(), ada).Admitted)
		}
		synctest.Wait()
		d := edge.Take(t.Context(), ada)
		require.False(t, d.Admitted)
		assert.InDelta(t, 2, d.RetryAfter.Seconds(), 0.1)
		h := http.Header{}
		d.Write(h)
		assert.Equal(t, `"read";r=0;t=2`, h.Get("RateLimit"))
		assert.Equal(t, `"read";q=3;w=6`, h.Get("RateLimit-Policy"))

		time.Sleep(d.RetryAfter)
		d = edge.Take(t.Context(), ada)
		assert.True(t, d.Admitted, "it can be relied upon")
		d.Write(h)
		assert.Equal(t, `"read";r=0;t=2`, h.Get("RateLimit"))
		settle()
		edge.Take(t.Context(), ada).Write(h)
		assert.Equal(t, `"read";r=2;t=2`, h.Get("RateLimit"))
		settle()
	})
}

func TestAChangedRateHoldsWithinSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(1000, 1000)
		edge := newThrottler(a)
		countAdmitted(t, edge, 10*time.Millisecond, time.Second)
		a.set(func(a *authority) { a.policy = ratelimit.Policy{Rate: 10, Burst: 10} })
		countAdmitted(t, edge, 10*time.Millisecond, 6*time.Second)
		assert.InDelta(t, 100, countAdmitted(t, edge, 10*time.Millisecond, 10*time.Second), 10)
		settle()
	})
}

func TestWithoutThePlatformEachEdgeHasItsPart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(400, 400)
		edge := newThrottler(a)
		countAdmitted(t, edge, 10*time.Millisecond, time.Second)
		a.set(func(a *authority) { a.err = errors.New("away") })
		countAdmitted(t, edge, time.Millisecond, 10*time.Second)
		asked := a.questions()
		assert.InEpsilon(t, 1000, countAdmitted(t, edge, time.Millisecond, 10*time.Second), 0.05, "400 a second for 4 edges")
		assert.Less(t, a.questions()-asked, 30, "it is not stormed while it is away")

		a.set(func(a *authority) { a.err = nil })
		countAdmitted(t, edge, time.Millisecond, 2*time.Second)
		assert.InEpsilon(t, 4000, countAdmitted(t, edge, time.Millisecond, 10*time.Second), 0.05, "all of it again")
		settle()
	})
}

func TestAnonymousClientsAreServedWithoutThePlatform(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(1, 1)
		a.err = errors.New("away")
		edge := newThrottler(a)
		for range 100 {
			assert.True(t, edge.Take(t.Context(), ada).Admitted)
		}
		a.set(func(a *authority) { a.delay = time.Hour }) // It does not even refuse.
		began := time.Now()
		for range 100 {
			assert.True(t, edge.Take(t.Context(), throttle.Key{Caller: "address:192.0.2.1", Class: read}).Admitted)
		}
		assert.LessOrEqual(t, time.Since(began), time.Second)
		time.Sleep(2 * time.Hour)
	})
}

func TestCallersAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(100, 100)
		edge := throttle.New(throttle.Config{Enabled: true, Callers: 64}, a, slog.New(slog.DiscardHandler))
		for i := range 5000 {
			edge.Take(t.Context(), throttle.Key{Tenant: int64(i + 1), Caller: "x", Class: read})
		}
		assert.LessOrEqual(t, throttle.Remembered(edge), 64)
		settle()
	})
}

func BenchmarkTake(b *testing.B) {
	edge := newThrottler(newAuthority(1e9, 1e9))
	edge.Take(b.Context(), ada)
	b.ReportAllocs()
	h := http.Header{}
	for b.Loop() {
		edge.Take(b.Context(), ada).Write(h)
	}
}
