package gateway

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/gateway/throttle"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// keyring is an auth service that knows one key, and one token of an identity provider.
type keyring struct {
	recorder
	public        ed25519.PublicKey
	foreign, ours string
}

func (k *keyring) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	if set, ok := reply.(*authv1.GetKeySetResponse); ok {
		set.Keys = []*authv1.JSONWebKey{{
			Kty: "OKP", Crv: "Ed25519", Kid: "key-1", Use: "sig", Alg: "EdDSA",
			X: base64.RawURLEncoding.EncodeToString(k.public),
		}}
		return nil
	}
	if exchanged, ok := reply.(*authv1.ResolveFederatedTokenResponse); ok {
		if args.(*authv1.ResolveFederatedTokenRequest).GetToken() != k.foreign {
			return fault.Unauthenticated(fault.CodeUnauthenticated, "No.")
		}
		exchanged.AccessToken = k.ours
		return nil
	}
	return k.recorder.Invoke(ctx, method, args, reply, opts...)
}

// counter is a platform service that grants one request to each caller.
type counter struct {
	recorder
	mu       sync.Mutex
	asked    map[throttle.Key]int
	refusals []*platformv1.Denial
	tenant   int64 // of those
}

func (c *counter) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	id, _ := tenant.From(ctx)
	if keep, ok := args.(*platformv1.RecordDenialsRequest); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refusals, c.tenant = append(c.refusals, keep.GetDenials()...), id
		return nil
	}
	req, ok := args.(*platformv1.LeaseRateRequest)
	if !ok {
		return c.recorder.Invoke(ctx, method, args, reply, opts...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[throttle.Key{Tenant: id, Caller: req.GetCaller(), Class: req.GetThrottle()}]++
	lease := reply.(*platformv1.LeaseRateResponse)
	lease.Rate, lease.Burst, lease.RetryAfterMs = 0.1, 1, 10_000
	return nil
}

func (c *counter) callers() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for key := range c.asked {
		out = append(out, key.Class.String()+" "+key.Caller)
	}
	return out
}

// failingService is a service that responds with an error, or as a recorder.
type failingService struct {
	recorder
	mu  sync.Mutex
	err error
}

func (h *failingService) failWith(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
}

func (h *failingService) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return h.err
	}
	return h.recorder.Invoke(ctx, method, args, reply, opts...)
}

type throttled struct {
	t        *testing.T
	edge     *Edge
	counter  *counter
	services *failingService
	token    string
	foreign  string // the token of an identity provider
}

// foreignToken is a token of an identity provider, for whoever cannot verify it.
func foreignToken(subject string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"https://id.example.org","sub":"`+subject+`"}`)) + ".c2ln"
}

func newThrottled(t *testing.T) *throttled {
	t.Helper()
	return newThrottledBy(t, throttle.Config{Enabled: true})
}

func newThrottledBy(t *testing.T, rates throttle.Config) *throttled {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: private, KeyID: "key-1"}}, nil)
	require.NoError(t, err)
	claims := authn.Claims{
		Claims: jwt.Claims{Issuer: "test", Subject: "ada", Audience: jwt.Audience{"test"}, ID: "1", Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour))},
		Tenant: 7, Client: "loader",
	}
	f := &throttled{t: t, foreign: foreignToken("ada"), counter: &counter{asked: map[throttle.Key]int{}}, services: &failingService{}}
	f.token, err = claims.Sign(signer)
	require.NoError(t, err)
	claims.Client = "idp-3"
	ours, err := claims.Sign(signer)
	require.NoError(t, err)
	conns := all(f.services)
	auth := &keyring{public: public, foreign: f.foreign, ours: ours}
	conns.Auth, conns.OwnAuth, conns.Platform, conns.Own = auth, auth, f.counter, f.counter
	f.edge, err = New(Config{
		Clock:          clock.System{},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		Tokens:         authn.TokenSettings{Issuer: "test", Audience: "test"},
		Throttle:       rates,
	}, conns, discard())
	require.NoError(t, err)
	return f
}

// requestUntilRefused asks from an address until the caller is refused, and returns the refusal.
func (f *throttled) requestUntilRefused(method, path, token, address, forwarded string) *httptest.ResponseRecorder {
	f.t.Helper()
	var w *httptest.ResponseRecorder
	require.Eventually(f.t, func() bool {
		r := newHTTPRequest(method, path, "")
		r.RemoteAddr = address
		if token != "" {
			r.Header.Set("Authorization", token)
		}
		if forwarded != "" {
			r.Header.Set("X-Forwarded-For", forwarded)
			r.Header.Set("X-Forwarded-Proto", "https")
		}
		w = httptest.NewRecorder()
		f.edge.ServeHTTP(w, r)
		assert.NotEmpty(f.t, w.Header().Get("RateLimit-Policy"), "every response says how often")
		return w.Code == 429
	}, 10*time.Second, time.Millisecond)
	return w
}

func TestCallersHaveTheirOwnRates(t *testing.T) {
	t.Parallel()
	f := newThrottled(t)
	const patterns = "/v1/scheduling/employment_term_schedule_patterns"
	w := f.requestUntilRefused("GET", patterns+"/12", "Bearer "+f.token, "203.0.113.1:1", "")
	assert.Equal(t, "10", w.Header().Get("Retry-After"))
	assert.Equal(t, `"read";r=0;t=10`, w.Header().Get("RateLimit"))
	assert.Equal(t, `"read";q=1;w=10`, w.Header().Get("RateLimit-Policy"))
	assert.Contains(t, w.Body.String(), `"errorCode":"WRL-00429"`)

	f.requestUntilRefused("DELETE", patterns+"/12", f.token, "203.0.113.1:1", "")
	f.requestUntilRefused("GET", "/v1/nothing", "Bearer wrong", "203.0.113.1:1", "")
	f.requestUntilRefused("GET", patterns+"/12", "", "[2001:db8:1:2:3::4]:1", "")
	f.requestUntilRefused("GET", patterns+"/12", "", "192.0.2.1:1", "198.51.100.7, 198.51.100.8")
	f.requestUntilRefused("GET", patterns+"/12", "", "203.0.113.2:1", "198.51.100.9")
	w = f.requestUntilRefused("POST", "/api/authentication/access_token", "Bearer "+f.token, "203.0.113.1:1", "")
	assert.Contains(t, w.Body.String(), `"error":"slow_down"`)
	assert.ElementsMatch(t, []string{
		"THROTTLE_READ loader", "THROTTLE_BULK_WRITE loader", "THROTTLE_READ address:203.0.113.1",
		"THROTTLE_READ address:2001:db8:1:2::", "THROTTLE_READ address:198.51.100.8",
		"THROTTLE_READ address:203.0.113.2", "THROTTLE_LOGIN address:203.0.113.1",
	}, f.counter.callers())
}

func (c *counter) denials() []*platformv1.Denial {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refusals
}

// Denials of known callers appear in the audit log, counted and in one call; denials of an address do not.
func TestRefusedRatesAreKept(t *testing.T) {
	t.Parallel()
	f := newThrottled(t)
	end := f.edge.denials.Gather(t.Context())
	const patterns = "/v1/scheduling/employment_term_schedule_patterns"
	first := f.requestUntilRefused("GET", patterns+"/12", f.token, "203.0.113.1:1", "")
	for range 4 {
		f.requestUntilRefused("GET", patterns+"/13", f.token, "203.0.113.1:1", "")
	}
	f.requestUntilRefused("GET", "/v1/nothing", f.token, "203.0.113.1:1", "")
	f.requestUntilRefused("GET", patterns+"/12", "", "203.0.113.9:1", "")
	assert.Empty(t, f.counter.denials(), "no request waited for it")
	end()
	kept := f.counter.denials()
	require.Len(t, kept, 2)
	if kept[0].GetOperation() == "" {
		kept[0], kept[1] = kept[1], kept[0]
	}
	assert.EqualValues(t, 5, kept[0].GetTimes())
	assert.Equal(t, first.Header().Get("X-Request-Id"), kept[0].GetRequestId())
	assert.Equal(t, "ada loader rotaloom.scheduling.v1.EmploymentTermSchedulePatternService/GetEmploymentTermSchedulePattern WRL-00429",
		strings.Join([]string{kept[0].GetUserName(), kept[0].GetClientId(), kept[0].GetOperation(), kept[0].GetOutcome()}, " "))
	assert.EqualValues(t, 1, kept[1].GetTimes(), "a path that names nothing")
	assert.EqualValues(t, 7, f.counter.tenant)

	count := testutil.ToFloat64(f.edge.metrics.Throttled.WithLabelValues("read", "refused"))
	assert.InDelta(t, 7, count, 0, "each is counted")
	assert.NotZero(t, testutil.ToFloat64(f.edge.metrics.Throttled.WithLabelValues("read", "admitted")))
	assert.InDelta(t, 6, testutil.ToFloat64(f.edge.metrics.Requests.WithLabelValues("read", "429")), 0)
	assert.InDelta(t, 1, testutil.ToFloat64(f.edge.metrics.Requests.WithLabelValues("none", "429")), 0)
}

// A token of an identity provider counts against the rate of its tenant and provider after auth has accepted
// it, and against the rate of the address before.
func TestAFederatedTokenHasARateOfItsOwn(t *testing.T) {
	t.Parallel()
	f := newThrottled(t)
	const path = "/v1/scheduling/employment_term_schedule_patterns/12"
	f.requestUntilRefused("GET", path, "Bearer "+f.foreign, "203.0.113.1:1", "")
	assert.Equal(t, []string{"THROTTLE_READ address:203.0.113.1", "THROTTLE_READ idp-3"}, slices.Sorted(slices.Values(f.counter.callers())))

	f.requestUntilRefused("GET", path, foreignToken("eve"), "203.0.113.2:1", "")
	assert.Contains(t, f.counter.callers(), "THROTTLE_READ address:203.0.113.2")
	assert.Len(t, f.counter.callers(), 3, "the service has not accepted it")
}

// After a service has reported a token as revoked, requests with it count against the rate of the address and
// no longer against the client's rate, which others use.
func TestARevokedTokenTakesFromNoClient(t *testing.T) {
	t.Parallel()
	f := newThrottled(t)
	f.services.failWith(fault.Unauthenticated(fault.CodeRevoked, "The access token was revoked."))
	const path = "/v1/scheduling/employment_term_schedule_patterns/12"
	f.requestUntilRefused("GET", path, "Bearer "+f.token, "203.0.113.1:1", "")
	assert.Equal(t, []string{"THROTTLE_READ address:203.0.113.1", "THROTTLE_READ loader"}, slices.Sorted(slices.Values(f.counter.callers())))
	f.counter.mu.Lock()
	defer f.counter.mu.Unlock()
	assert.Equal(t, 1, f.counter.asked[throttle.Key{Tenant: 7, Caller: "loader", Class: optionsv1.Throttle_THROTTLE_READ}])
}
