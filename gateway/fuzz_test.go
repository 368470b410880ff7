package gateway

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/sizes"
	"github.com/rotaloom/rotaloom/pkg/testkit/authntest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// secret must never appear in a response.
const secret = "s3cret-horse-battery"

// fuzzedEdge is an edge over the chain of interceptors that every service has.
// It accepts one token, which is always the same.
func fuzzedEdge(f *testing.F) (edge *Edge, token string) {
	f.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	keys := authntest.OneKey(private.Public())
	clk := clock.NewFake(now)
	verifier, err := authn.NewVerifier(authn.Config{Issuer: "test", Audience: "rotaloom"}, keys, authn.NoRevocations{}, clk)
	require.NoError(f, err)
	chain, err := rpc.NewChain(rpc.Config{}, rpc.Deps{Log: discard(), Metrics: prometheus.NewRegistry(), Verifier: verifier, Clock: clk})
	require.NoError(f, err)
	local := rpc.NewLocal(chain)
	services := &fakes{
		tokens: tokens{issue: func(_ context.Context, r *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
			if r.GetPassword() == "" {
				return nil, fault.Invalid("WRL-1", "The field password is missing.").WithOAuth("invalid_request")
			}
			return nil, fault.Invalid("WRL-1", "Wrong user or password.").WithOAuth("invalid_grant")
		}},
		getShift: func(context.Context, *schedulingv1.GetShiftRequest) (*schedulingv1.Shift, error) {
			return &schedulingv1.Shift{}, nil
		},
	}
	authv1.RegisterTokenServiceServer(local, &services.tokens)
	schedulingv1.RegisterShiftServiceServer(local, services)
	edge, err = newTrusting(Config{Body: sizes.Body{BodyLimit: 1 << 14}}, all(local), discard())
	require.NoError(f, err)

	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: private, KeyID: "1"}}, nil)
	require.NoError(f, err)
	claims := authn.Claims{
		Claims: jwt.Claims{Issuer: "test", Subject: "ada", Audience: jwt.Audience{"rotaloom"}, ID: "1", Expiry: jwt.NewNumericDate(now.Add(time.Hour))},
		Tenant: 1, Client: "c", Permissions: []string{"scheduling.schedule.read", "scheduling.shift.read"},
	}
	token, err = claims.Sign(signer)
	require.NoError(f, err)
	return edge, token
}

// FuzzTokenForm sends anything to the token endpoint: the response is an error of
// RFC 6749, and never shows a secret that came.
func FuzzTokenForm(f *testing.F) {
	edge, _ := fuzzedEdge(f)
	const form = "application/x-www-form-urlencoded"
	for _, body := range []string{
		"grant_type=password&auth_chain=OAuthLdapService&username=ada&password=" + secret + "&client_id=c&client_secret=" + secret,
		"grant_type=refresh_token&auth_chain=OAuthLdapService&refresh_token=" + secret + "&client_id=c&client_secret=" + secret,
		"password=" + secret + "&password=" + secret,
		"password=" + secret + "%00", "password=%ff" + secret, "password=%zz" + secret, "password[]=" + secret,
		"=&&&=%", "username=a;password=" + secret, "grant_type=%F0%9F%98%80&nonce=" + strings.Repeat("n", 300), "",
	} {
		f.Add(form, body)
	}
	f.Add("application/json", `{"username":"u","password":"`+secret+`","client_secret":7}`)
	f.Add("application/json", `{"password":["`+secret+`"],"refresh_token":{"a":"`+secret+`"}}`)
	f.Add(form+"; charset=utf-16", "password="+secret)
	f.Fuzz(func(t *testing.T, kind, body string) {
		r := httptest.NewRequest("POST", "https://rotaloom.test/api/authentication/access_token", strings.NewReader(body))
		r.Header["Content-Type"] = []string{kind}
		w := httptest.NewRecorder()
		edge.ServeHTTP(w, r)
		require.GreaterOrEqual(t, w.Code, 400, "the edge has no valid token")
		require.Less(t, w.Code, 500, "%s", w.Body)
		var refusal struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &refusal), "%s", w.Body)
		require.NotEmpty(t, refusal.Error)
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		if values, _ := url.ParseQuery(body); !namesSecret(values) {
			require.NotContains(t, w.Body.String(), secret)
		}
	})
}

// namesSecret reports whether the secret is in the name of a field, where none
// belongs.
func namesSecret(values url.Values) bool {
	for name := range values {
		if strings.Contains(name, secret) {
			return true
		}
	}
	return false
}

// FuzzAuthorization sends any Authorization header. The request is accepted, or gets 401 with the usual body,
// which does not repeat the header.
func FuzzAuthorization(f *testing.F) {
	edge, good := fuzzedEdge(f)
	for _, value := range []string{
		good, "Bearer " + good, "bEARER  " + good + " ", "Basic " + good, "Bearer", "Bearer ", "", " ", "Bearer a b", "Bearer\t" + good,
		secret, "Bearer " + secret, "Bearer " + good[:len(good)-1], "Bearer " + good + ".", "Bearer eyJhbGciOiJub25lIn0.e30.",
		"Bearer ..", "Bearer \x00", "Bearer \xff\xfe", good + "\n", "Digest username=" + secret, strings.Repeat("x", 20000),
	} {
		f.Add(value, "")
	}
	f.Add(good, good)
	f.Fuzz(func(t *testing.T, value, second string) {
		r := newHTTPRequest("GET", shiftsPath+"/7", "")
		r.Header["Authorization"] = []string{value}
		if second != "" {
			r.Header["Authorization"] = []string{value, second}
		}
		w := httptest.NewRecorder()
		edge.ServeHTTP(w, r)
		if w.Code == http.StatusOK {
			require.Contains(t, value, good, "only the good token lets in")
			require.Empty(t, second, "two headers are none")
			return
		}
		require.Equal(t, http.StatusUnauthorized, w.Code, "%s", w.Body)
		require.NotEmpty(t, w.Header().Get("WWW-Authenticate"))
		var refusal struct{ ErrorCode, Message string }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &refusal))
		require.Equal(t, fault.CodeUnauthenticated, refusal.ErrorCode)
		require.NotContains(t, w.Body.String(), secret)
		require.NotContains(t, w.Body.String(), good)
		if sent := headers.Token(r.Header); sent != "" {
			require.Equal(t, sent, authn.BearerToken("Bearer "+sent), "edge and services see one token")
		}
	})
}
