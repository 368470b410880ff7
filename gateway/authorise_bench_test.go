package gateway

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/gateway/throttle"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/testkit/authntest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// lister returns a list at once, and leases whatever is asked for.
type lister struct {
	platformv1.UnimplementedRateLimitServiceServer
}

func (lister) ListRateLimits(context.Context, *platformv1.ListRateLimitsRequest) (*platformv1.RateLimitList, error) {
	return &platformv1.RateLimitList{RateLimits: []*platformv1.RateLimit{{ThrottleClass: "read", Origin: "TENANT"}}}, nil
}

func (lister) LeaseRate(_ context.Context, r *platformv1.LeaseRateRequest) (*platformv1.LeaseRateResponse, error) {
	return &platformv1.LeaseRateResponse{Granted: r.GetWanted(), Remaining: 10_000, Rate: 5000, Burst: 10_000}, nil
}

// publisher returns its key.
type publisher struct {
	authv1.UnimplementedTokenServiceServer
	key *authv1.JSONWebKey
}

func (p publisher) GetKeySet(context.Context, *authv1.GetKeySetRequest) (*authv1.GetKeySetResponse, error) {
	return &authv1.GetKeySetResponse{Keys: []*authv1.JSONWebKey{p.key}}, nil
}

// BenchmarkAuthorise measures the extra cost of a GET that is authenticated, authorised and counted against a
// rate. It compares the processor time of a whole request to such an operation with a public operation of an
// edge without throttling. Both respond at once.
func BenchmarkAuthorise(b *testing.B) {
	open, closed, token := authoriseEdges(b)
	ask := func(edge *Edge, path string) {
		r := newHTTPRequest("GET", path, "")
		r.Header.Set("Authorization", token)
		w := httptest.NewRecorder()
		edge.ServeHTTP(w, r)
		if w.Code != 200 {
			b.Fatal(w.Code, w.Body)
		}
	}
	const turn = 500
	var with, without time.Duration
	n := 0
	for b.Loop() {
		began := processorTime(b)
		for range turn {
			ask(closed, "/v1/platform/rate_limits")
		}
		middle := processorTime(b)
		for range turn {
			ask(open, "/api/authentication/.well-known/jwks.json")
		}
		with, without = with+middle-began, without+processorTime(b)-middle
		n += turn
	}
	micros := func(d time.Duration) float64 { return float64(d) / float64(n) / 1000 }
	b.ReportMetric(micros(with), "µs/request")
	b.ReportMetric(micros(without), "public-µs/request")
	b.ReportMetric(micros(with-without), "added-µs")
}

// processorTime is what this process has used of the processors.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var usage syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// authoriseEdges makes an edge that does not throttle and one that does, and a
// token.
func authoriseEdges(b *testing.B) (open, closed *Edge, token string) {
	b.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(b, err)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: private, KeyID: "key-1"}}, nil)
	require.NoError(b, err)
	claims := authn.Claims{
		Claims: jwt.Claims{Issuer: "test", Subject: "ada", Audience: jwt.Audience{"test"}, ID: "1", Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour))},
		Tenant: 7, Client: "loader", Permissions: []string{"platform.rate_limit.read"},
	}
	token, err = claims.Sign(signer)
	require.NoError(b, err)
	verifier, err := authn.NewVerifier(authn.Config{Issuer: "test", Audience: "test"},
		authntest.OneKey(public), authn.NoRevocations{}, clock.System{})
	require.NoError(b, err)
	chain, err := rpc.NewChain(rpc.Config{}, rpc.Deps{
		Log: discard(), Metrics: prometheus.NewRegistry(), Verifier: verifier, Clock: clock.System{},
		Denied: func(context.Context, *policy.Method, *authn.Principal, *fault.Error) {},
	})
	require.NoError(b, err)
	local := rpc.NewLocal(chain)
	platformv1.RegisterRateLimitServiceServer(local, lister{})
	authv1.RegisterTokenServiceServer(local, publisher{key: &authv1.JSONWebKey{
		Kty: "OKP", Crv: "Ed25519", Kid: "key-1", X: base64.RawURLEncoding.EncodeToString(public),
	}})
	conns := all(local)
	conns.Own = local.Conn("gateway", nil)
	open, err = newTrusting(Config{}, conns, discard())
	require.NoError(b, err)
	closed, err = New(Config{Clock: clock.System{}, Tokens: authn.TokenSettings{Issuer: "test", Audience: "test"}, Throttle: throttle.Config{Enabled: true}}, conns, discard())
	require.NoError(b, err)
	return open, closed, token
}
