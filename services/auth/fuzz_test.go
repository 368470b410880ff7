package auth_test

import (
	"crypto/ed25519"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// FuzzFederatedToken holds whatever comes as an access token to one of two
// outcomes: a principal whom the provider's key has signed for, or a 401 that says
// nothing.
func FuzzFederatedToken(f *testing.F) {
	b := newFixtureWith(f, loopback)
	public, private, err := ed25519.GenerateKey(deterministic{})
	require.NoError(f, err)
	var issuer string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: "key-1", Algorithm: "EdDSA", Use: "sig"}}})
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": issuer, "jwks_uri": issuer + "/keys"})
	}))
	f.Cleanup(server.Close)
	issuer = server.URL
	admin, err := b.tokens.IssueToken(f.Context(), passwordGrant())
	require.NoError(f, err)
	p, err := b.verifier.Verify(f.Context(), admin.GetAccessToken())
	require.NoError(f, err)
	ctx := authn.With(f.Context(), p, admin.GetAccessToken())
	_, err = authv1.NewIdentityProviderServiceClient(b.local.Conn("commons", nil)).CreateIdentityProvider(ctx, &authv1.IdentityProvider{
		Name: "fuzz", Issuer: issuer, Audience: "rotaloom", Algorithms: []string{"EdDSA"},
	})
	require.NoError(f, err)
	cfg := tokens
	cfg.Exchange = b.service.Exchange
	verifier, err := authn.NewVerifier(cfg, b.service, b.service, b.clock)
	require.NoError(f, err)

	sign := func(claims map[string]any) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: private, KeyID: "key-1"}}, nil)
		require.NoError(f, err)
		token, err := authn.Sign(signer, claims)
		require.NoError(f, err)
		return token
	}
	until := b.clock.Now().Unix() + 600
	good := sign(map[string]any{"iss": issuer, "aud": "rotaloom", "sub": adminName, "exp": until})
	f.Add(good)
	for _, claims := range []map[string]any{
		{"iss": issuer, "aud": []string{"a", "rotaloom"}, "sub": 7, "exp": until},
		{"iss": issuer, "aud": "rotaloom", "sub": "a\x00b", "exp": until},
		{"iss": issuer, "aud": "rotaloom", "sub": adminName, "exp": 1e300},
		{"iss": issuer, "aud": "rotaloom", "sub": adminName, "exp": "soon", "nbf": -1e300, "iat": nil},
		{"iss": issuer, "aud": "rotaloom", "sub": []any{map[string]any{}}, "exp": until},
		{"iss": issuer + "\x00", "aud": "rotaloom"},
		{"iss": []string{issuer}},
		{"iss": "rotaloom", "aud": "rotaloom", "sub": adminName, "exp": until},
	} {
		f.Add(sign(claims))
	}
	p, err = verifier.Verify(f.Context(), good)
	require.NoError(f, err)
	require.Equal(f, adminName, p.Subject)

	f.Fuzz(func(t *testing.T, token string) {
		p, err := verifier.Verify(t.Context(), token)
		if err == nil {
			require.Equal(t, adminName, p.Subject, "only what the provider has signed")
			return
		}
		refusal := fault.FromError(err)
		require.Equal(t, http.StatusUnauthorized, refusal.Status, err)
		require.Contains(t, []string{
			"The access token is not valid or has expired. Request a new one.", "The operation needs an access token in the Authorization header.",
		}, refusal.Message)
		require.Nil(t, refusal.Details)
	})
}

// deterministic makes the same key in every process of a fuzzing run.
type deterministic struct{}

// Read fills p with sevens.
func (deterministic) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 7
	}
	return len(p), nil
}
