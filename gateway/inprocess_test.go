package gateway

import (
	"context"
	"crypto/ed25519"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/testkit/authntest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// TestServicesInTheSameProcess proves that an edge over rpc.Local behaves as over the network: bytes, headers
// and errors pass.
func TestServicesInTheSameProcess(t *testing.T) {
	t.Parallel()
	public, _, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	keys := authntest.OneKey(public)
	verifier, err := authn.NewVerifier(authn.Config{Issuer: "test", Audience: "rotaloom"}, keys, authn.NoRevocations{}, clock.System{})
	require.NoError(t, err)
	chain, err := rpc.NewChain(rpc.Config{}, rpc.Deps{Log: discard(), Metrics: prometheus.NewRegistry(), Verifier: verifier, Clock: clock.System{}})
	require.NoError(t, err)
	local := rpc.NewLocal(chain)
	f := &fakes{tokens: tokens{issue: func(ctx context.Context, r *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
		if r.GetUsername() == "" {
			return nil, fault.Invalid("WRL-1", "Wrong.").WithOAuth("invalid_grant")
		}
		return &authv1.IssueTokenResponse{AccessToken: r.GetUsername()}, rpc.SetContentLocation(ctx, "/here")
	}}}
	authv1.RegisterTokenServiceServer(local, &f.tokens)
	schedulingv1.RegisterShiftServiceServer(local, f)
	edge, err := newTrusting(Config{}, all(local), discard())
	require.NoError(t, err)

	ask := func(method, path, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		edge.ServeHTTP(w, newHTTPRequest(method, path, body))
		return w
	}
	w := ask("POST", "/api/authentication/access_token", formBody+"ada")
	assert.Equal(t, 200, w.Code)
	assert.JSONEq(t, `{"access_token":"ada"}`, w.Body.String())
	assert.Equal(t, "/here", w.Header().Get("Content-Location"))

	w = ask("POST", "/api/authentication/access_token", formBody)
	assert.Equal(t, 400, w.Code)
	assert.JSONEq(t, `{"error":"invalid_grant","error_description":"Wrong."}`, withoutRequestID(w.Body.String()))

	w = ask("GET", shiftsPath+"/7", "")
	assert.Equal(t, 401, w.Code)
	assert.NotEmpty(t, w.Header().Get("WWW-Authenticate"))
}
