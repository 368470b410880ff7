package authn_test

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// issuer issues tokens with one key, and counts how often the key is asked.
type issuer struct {
	public   ed25519.PublicKey
	private  ed25519.PrivateKey
	requests int
}

func newIssuer(tb testing.TB) *issuer {
	tb.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(tb, err)
	return &issuer{public: public, private: private}
}

func (i *issuer) Key(_ context.Context, kid string) (crypto.PublicKey, error) {
	i.requests++
	if kid != "key-1" {
		return nil, authn.ErrUnknownKey
	}
	return i.public, nil
}

func (i *issuer) token(tb testing.TB, change func(*authn.Claims)) string {
	tb.Helper()
	return sign(tb, jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: i.private, KeyID: "key-1"}}, change)
}

func sign(tb testing.TB, key jose.SigningKey, change func(*authn.Claims)) string {
	tb.Helper()
	claims := &authn.Claims{
		Claims: jwt.Claims{
			Issuer: "https://rotaloom.test", Subject: "ada", Audience: jwt.Audience{"rotaloom"}, ID: "token-1",
			Expiry: jwt.NewNumericDate(start.Add(time.Hour)), NotBefore: jwt.NewNumericDate(start),
		},
		Tenant: 7, PersonID: 11, Client: "client", Scope: "a b", SID: "family-1",
		Permissions: []string{"scheduling.schedule.read"},
	}
	if change != nil {
		change(claims)
	}
	signer, err := jose.NewSigner(key, nil)
	require.NoError(tb, err)
	token, err := claims.Sign(signer)
	require.NoError(tb, err)
	return token
}

func newVerifier(tb testing.TB, keys authn.KeySource, revocations authn.Revocations, clk clock.Clock, cacheSize int) *authn.Verifier {
	tb.Helper()
	v, err := authn.NewVerifier(authn.Config{
		Issuer: "https://rotaloom.test", Audience: "rotaloom", Leeway: 5 * time.Second, CacheSize: cacheSize,
	}, keys, revocations, clk)
	require.NoError(tb, err)
	return v
}

func TestVerifyReturnsThePrincipal(t *testing.T) {
	t.Parallel()
	keys := newIssuer(t)
	v := newVerifier(t, keys, authn.NoRevocations{}, clock.NewFake(start), 0)
	token := keys.token(t, nil)
	p, err := v.Verify(t.Context(), token)
	require.NoError(t, err)
	assert.Equal(t, &authn.Principal{
		Tenant: 7, Subject: "ada", PersonID: 11, Client: "client", Scope: "a b", JTI: "token-1", SID: "family-1",
		Permissions: []string{"scheduling.schedule.read"}, Expiry: start.Add(time.Hour).Local(),
	}, p)
	assert.True(t, p.Has("scheduling.schedule.read"))
	assert.False(t, p.Has("scheduling.schedule.write"))
	assert.False(t, p.IsService())

	again, err := v.Verify(t.Context(), token)
	require.NoError(t, err)
	assert.Same(t, p, again)
	assert.Equal(t, 1, keys.requests, "a verified token is remembered")
}

func TestHas(t *testing.T) {
	t.Parallel()
	for granted, want := range map[string]bool{
		"scheduling.schedule.read":  true,
		"scheduling.schedule.write": false,
		"*":                         true,
		"scheduling.*":              true,
		"scheduling.schedule.*":     true,
		"schedul*":                  false,
		"schedul.*":                 false,
		"commons.*":                 false,
		"":                          false,
		".*":                        false,
	} {
		t.Run(granted, func(t *testing.T) {
			t.Parallel()
			p := &authn.Principal{Permissions: []string{"auth.client.read", granted}}
			assert.Equal(t, want, p.Has("scheduling.schedule.read"))
		})
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	keys, stranger := newIssuer(t), newIssuer(t)
	secret := []byte("0123456789abcdef0123456789abcdef")
	good := keys.token(t, nil)
	head, rest, _ := strings.Cut(good, ".")
	body, signature, _ := strings.Cut(rest, ".")
	cases := map[string]string{
		"nothing":               "",
		"garbage":               "garbage",
		"a long token":          strings.Repeat("a", 1<<20),
		"a stranger's key":      stranger.token(t, nil),
		"a changed body":        head + "." + strings.ToUpper(body) + "." + signature,
		"no signature":          head + "." + body + ".",
		"the algorithm none":    "eyJhbGciOiJub25lIn0." + body + ".",
		"a symmetric algorithm": sign(t, jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: secret, KeyID: "key-1"}}, nil),
		"an unknown key id":     sign(t, jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: keys.private, KeyID: "key-2"}}, nil),
		"no key id":             sign(t, jose.SigningKey{Algorithm: jose.EdDSA, Key: keys.private}, nil),
		"another issuer":        keys.token(t, func(c *authn.Claims) { c.Issuer = "https://evil.test" }),
		"another audience":      keys.token(t, func(c *authn.Claims) { c.Audience = jwt.Audience{"client"} }),
		"an expired token":      keys.token(t, func(c *authn.Claims) { c.Expiry = jwt.NewNumericDate(start.Add(-6 * time.Second)) }),
		"a token of the future": keys.token(t, func(c *authn.Claims) { c.NotBefore = jwt.NewNumericDate(start.Add(6 * time.Second)) }),
		"no expiry":             keys.token(t, func(c *authn.Claims) { c.Expiry = nil }),
		"no tenant":             keys.token(t, func(c *authn.Claims) { c.Tenant = 0 }),
		"no subject":            keys.token(t, func(c *authn.Claims) { c.Subject = "" }),
		"no token id":           keys.token(t, func(c *authn.Claims) { c.ID = "" }),
	}
	v := newVerifier(t, keys, authn.NoRevocations{}, clock.NewFake(start), 0)
	for name, token := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := v.Verify(t.Context(), token)
			assert.Nil(t, p, name)
			f := fault.FromError(err)
			require.NotNil(t, f, name)
			assert.Equal(t, 401, f.Status, name)
			assert.Equal(t, fault.CodeUnauthenticated, f.Code, name)
			if name != "nothing" {
				assert.Equal(t, "The access token is not valid or has expired. Request a new one.", f.Message, "the text never says why")
			}
		})
	}
}

func TestRememberedTokensExpire(t *testing.T) {
	t.Parallel()
	keys, clk := newIssuer(t), clock.NewFake(start)
	v := newVerifier(t, keys, authn.NoRevocations{}, clk, 0)
	token := keys.token(t, nil)
	_, err := v.Verify(t.Context(), token)
	require.NoError(t, err)
	clk.Advance(time.Hour + 4*time.Second)
	_, err = v.Verify(t.Context(), token)
	require.NoError(t, err, "within the leeway")
	clk.Advance(2 * time.Second)
	_, err = v.Verify(t.Context(), token)
	assert.True(t, fault.HasStatus(err, 401))
}

func TestTheCacheIsBounded(t *testing.T) {
	t.Parallel()
	keys := newIssuer(t)
	v := newVerifier(t, keys, authn.NoRevocations{}, clock.NewFake(start), 32)
	for i := range 300 {
		token := keys.token(t, func(c *authn.Claims) { c.ID = fmt.Sprint("token-", i) })
		_, err := v.Verify(t.Context(), token)
		require.NoError(t, err)
	}
	assert.LessOrEqual(t, authn.Remembered(v), 32)
	assert.NotZero(t, authn.Remembered(v))
}

type revocations struct {
	revoked map[string]bool
	err     error
}

func (r *revocations) Revoked(_ context.Context, p *authn.Principal) (bool, error) {
	return r.revoked[p.JTI] || r.revoked[p.SID], r.err
}

func TestRevocationsAreAskedEveryTime(t *testing.T) {
	t.Parallel()
	keys, r := newIssuer(t), &revocations{revoked: map[string]bool{}}
	v := newVerifier(t, keys, r, clock.NewFake(start), 0)
	token := keys.token(t, nil)
	_, err := v.Verify(t.Context(), token)
	require.NoError(t, err)
	for _, id := range []string{"token-1", "family-1"} {
		t.Run(id, func(t *testing.T) {
			r.revoked = map[string]bool{id: true}
			_, err = v.Verify(t.Context(), token)
			assert.True(t, fault.HasCode(err, fault.CodeRevoked), id)
			assert.True(t, fault.HasStatus(err, 401), id)
		})
	}
	r.err = errors.New("stale")
	_, err = v.Verify(t.Context(), token)
	assert.True(t, fault.HasCode(err, fault.CodeIdentityUnavailable), "when in doubt it refuses")
	assert.NotZero(t, fault.FromError(err).RetryAfter)
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	keys := newIssuer(t)
	v := newVerifier(t, keys, authn.NoRevocations{}, clock.NewFake(start), 0)
	token := keys.token(t, nil)
	cases := []struct {
		name    string
		call    authn.Call
		status  int
		subject string
		tenant  int64
	}{
		{"a user from outside", authn.Call{Authorization: "Bearer " + token}, 0, "ada", 7},
		{"a bare token", authn.Call{Authorization: token}, 0, "ada", 7},
		{"nobody", authn.Call{}, 401, "", 0},
		{"another scheme", authn.Call{Authorization: "Basic " + token}, 401, "", 0},
		{"a user through a service", authn.Call{Authorization: "bearer " + token, Service: "scheduling", Tenant: 9, Internal: true}, 0, "ada", 7},
		{"a service for itself", authn.Call{Service: "scheduling", Tenant: 9, Internal: true}, 0, "", 9},
		{"a service with a bad token", authn.Call{Authorization: "x", Service: "scheduling", Tenant: 9}, 401, "", 0},
		{"a user where only services may call", authn.Call{Authorization: token, Internal: true}, 403, "", 0},
		{"nobody where only services may call", authn.Call{Internal: true, Tenant: 9}, 403, "", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, handOn, err := authn.Authenticate(t.Context(), v, c.call)
			if c.status != 0 {
				assert.True(t, fault.HasStatus(err, c.status), err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.subject, p.Subject)
			assert.Equal(t, c.tenant, p.Tenant)
			assert.Equal(t, c.call.Service, p.Service)
			assert.Equal(t, c.subject == "", p.IsService())
			if c.subject != "" {
				assert.Equal(t, token, handOn)
			}
			ctx := authn.With(t.Context(), p, handOn)
			got, ok := authn.From(ctx)
			assert.True(t, ok)
			assert.Same(t, p, got)
			assert.Equal(t, handOn, authn.Token(ctx))
		})
	}
	_, ok := authn.From(t.Context())
	assert.False(t, ok)
	assert.Empty(t, authn.Token(t.Context()))
}

func TestVerifierNeedsIssuerAndAudience(t *testing.T) {
	t.Parallel()
	_, err := authn.NewVerifier(authn.Config{Issuer: "x"}, newIssuer(t), authn.NoRevocations{}, clock.System{})
	assert.Error(t, err)
}

func BenchmarkVerifyRemembered(b *testing.B) {
	keys := newIssuer(b)
	v := newVerifier(b, keys, authn.NoRevocations{}, clock.NewFake(start), 0)
	token := keys.token(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Verify(b.Context(), token); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifyNew(b *testing.B) {
	keys := newIssuer(b)
	token := keys.token(b, nil)
	for b.Loop() {
		v := newVerifier(b, keys, authn.NoRevocations{}, clock.NewFake(start), 32)
		if _, err := v.Verify(b.Context(), token); err != nil {
			b.Fatal(err)
		}
	}
}
