package auth_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/authclient"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth"
	"github.com/rotaloom/rotaloom/services/auth/internal/federation"
)

// loopback lets the service reach a provider on this machine.
var loopback = auth.Config{Federation: federation.Config{Networks: []string{"127.0.0.0/8"}, PlainHTTP: true}}

// federated is the service with a provider that it trusts, as another service
// sees it.
type federated struct {
	*fixture
	*openID
	admin     context.Context
	providers authv1.IdentityProviderServiceClient
	provider  *authv1.IdentityProvider
}

func newFederated(t *testing.T, change ...func(*authv1.IdentityProvider)) *federated {
	t.Helper()
	f := &federated{fixture: newFixtureWith(t, loopback), openID: startProvider(t, "127.0.0.1:0")}
	f.clock.Advance(time.Since(f.clock.Now()))
	f.fresh(t)
	f.admin = f.loginContext(t, adminName, adminPassword)
	f.providers = authv1.NewIdentityProviderServiceClient(f.local.Conn("commons", nil))
	_, err := f.users.PutUsers(tenant.With(t.Context(), tenant.Default), &authv1.PutUsersRequest{Users: []*authv1.User{
		{PersonId: 11, Username: "ada", AccessProfile: "Scheduler", PersonNumber: "4711"},
	}})
	require.NoError(t, err)
	p := &authv1.IdentityProvider{Name: "Company", Issuer: f.issuer, Audience: "rotaloom"}
	for _, c := range change {
		c(p)
	}
	f.provider, err = f.providers.CreateIdentityProvider(f.admin, p)
	require.NoError(t, err)
	return f
}

// fresh gives the verifier an empty memory.
func (f *federated) fresh(t *testing.T) {
	t.Helper()
	cfg := tokens
	cfg.Exchange = authclient.Exchange(f.local.Conn("scheduling", nil))
	var err error
	f.verifier, err = authn.NewVerifier(cfg, f.service, f.service, f.clock)
	require.NoError(t, err)
}

func (f *federated) refuses(t *testing.T, token, why string) {
	t.Helper()
	p, err := f.verifier.Verify(t.Context(), token)
	assert.Nil(t, p, why)
	assert.True(t, fault.HasStatus(err, 401), "%s: %v", why, err)
	assert.Equal(t, "The access token is not valid or has expired. Request a new one.", fault.FromError(err).Message, "%s: the text never says why", why)
}

func TestAFederatedTokenIsAnAccessToken(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	token := f.issueToken("ada", "rotaloom")
	p, err := f.verifier.Verify(t.Context(), token)
	require.NoError(t, err)
	assert.Equal(t, "ada", p.Subject)
	assert.Equal(t, tenant.Default, p.Tenant)
	assert.EqualValues(t, 11, p.PersonID)
	assert.Equal(t, []string{"commons.person.read", "scheduling.schedule.read"}, f.grantedPermissions(p))
	assert.WithinDuration(t, f.clock.Now().Add(time.Minute), p.Expiry, time.Second, "others look again within a minute")

	f.refuses(t, f.issueToken("eve", "rotaloom"), "a user whom we do not have")
	f.refuses(t, f.issueToken("ada", "elsewhere"), "another audience")
	f.clock.Advance(time.Hour + 50*time.Second)
	_, err = f.verifier.Verify(t.Context(), token)
	require.NoError(t, err, "within the clock skew")
	f.clock.Advance(12 * time.Second)
	f.refuses(t, token, "expired")
}

// forgeToken returns a token with the claims of another and a header and signature of
// one's own.
func forgeToken(t testing.TB, token, algorithm string, key any, kid string) string {
	t.Helper()
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	require.NoError(t, err)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(algorithm), Key: jose.JSONWebKey{Key: key, KeyID: kid}}, nil)
	require.NoError(t, err)
	signed, err := signer.Sign(payload)
	require.NoError(t, err)
	text, err := signed.CompactSerialize()
	require.NoError(t, err)
	return text
}

func TestForgedFederatedTokensAreRefused(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	good := f.issueToken("ada", "rotaloom")
	public, kid := f.key()
	der, err := x509.MarshalPKIXPublicKey(public)
	require.NoError(t, err)
	own, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	parts := strings.Split(good, ".")
	header := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for why, token := range map[string]string{
		"alg none":                        header(`{"alg":"none"}`) + "." + parts[1] + ".",
		"alg none with the old signature": header(`{"alg":"none","kid":"`+kid+`"}`) + "." + parts[1] + "." + parts[2],
		"HS256 with the public key, PEM":  forgeToken(t, good, "HS256", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), kid),
		"HS256 with the public key, DER":  forgeToken(t, good, "HS256", der, kid),
		"HS256 with the modulus":          forgeToken(t, good, "HS256", public.N.Bytes(), kid),
		"a swapped key":                   forgeToken(t, good, "RS256", own, kid),
		"an unknown key":                  forgeToken(t, good, "RS256", own, "unknown"),
		"no key id":                       forgeToken(t, good, "RS256", own, ""),
		"an algorithm that is not listed": forgeToken(t, good, "RS512", own, kid),
		"a logout token":                  header(`{"alg":"RS256","typ":"logout+jwt","kid":"`+kid+`"}`) + "." + parts[1] + "." + parts[2],
		"no signature":                    parts[0] + "." + parts[1] + ".",
		"a changed claim":                 parts[0] + "." + header(`{"iss":"`+f.issuer+`","aud":"rotaloom","sub":"admin","exp":9999999999}`) + "." + parts[2],
		"an issuer that nobody trusts":    parts[0] + "." + header(`{"iss":"https://evil.test","aud":"rotaloom"}`) + "." + parts[2],
		"a key in the header":             header(`{"alg":"RS256","jku":"https://evil.test/keys"}`) + "." + parts[1] + "." + parts[2],
	} {
		f.refuses(t, token, why)
	}
	_, err = f.verifier.Verify(t.Context(), good)
	require.NoError(t, err)
}

func TestTheClocksOfProvidersMayDiffer(t *testing.T) {
	t.Parallel()
	skew := int32(30)
	f := newFederated(t, func(p *authv1.IdentityProvider) { p.ClockSkewSeconds = &skew })
	f.clock.Advance(-25 * time.Second)
	_, err := f.verifier.Verify(t.Context(), f.issueToken("ada", "rotaloom"))
	require.NoError(t, err, "a provider whose clock is ahead")
	f.clock.Advance(-10 * time.Second)
	f.refuses(t, f.issueToken("ada", "rotaloom"), "a provider whose clock is too far ahead")
}

func TestKeysOfProvidersRotate(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	old := f.issueToken("ada", "rotaloom")
	_, err := f.verifier.Verify(t.Context(), old)
	require.NoError(t, err)
	f.rotate()
	f.refuses(t, f.issueToken("ada", "rotaloom"), "keys were fetched a moment ago")
	f.clock.Advance(keysPause)
	_, err = f.verifier.Verify(t.Context(), f.issueToken("ada", "rotaloom"))
	require.NoError(t, err, "an unknown key makes us fetch the keys again")
	f.clock.Advance(time.Minute)
	f.refuses(t, old, "the key is withdrawn, and what was remembered is over")
}

func TestAProviderThatIsDown(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	token := f.issueToken("ada", "rotaloom")
	f.stop()
	_, err := f.verifier.Verify(t.Context(), token)
	require.True(t, fault.HasCode(err, fault.CodeIdentityUnavailable), err)
	assert.NotZero(t, fault.FromError(err).RetryAfter)
	_, err = f.tokens.IssueToken(t.Context(), passwordGrant())
	require.NoError(t, err, "our own users log in meanwhile")

	known := newFederated(t)
	token = known.issueToken("ada", "rotaloom")
	_, err = known.verifier.Verify(t.Context(), token)
	require.NoError(t, err)
	known.stop()
	known.clock.Advance(10 * time.Minute)
	_, err = known.verifier.Verify(t.Context(), token)
	require.NoError(t, err, "old keys are better than none")
}

func TestFederatedTokensAreRevoked(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	token, other := f.issueToken("ada", "rotaloom"), f.issueToken("ada", "rotaloom")
	for _, each := range []string{token, other} {
		t.Run(each, func(t *testing.T) {
			_, err := f.verifier.Verify(t.Context(), each)
			require.NoError(t, err)
		})
	}
	_, err := f.tokens.RevokeToken(t.Context(), &authv1.RevokeTokenRequest{Token: token, ClientId: clientID, ClientSecret: clientSecret})
	require.NoError(t, err)
	_, err = f.verifier.Verify(t.Context(), token)
	assert.True(t, fault.HasCode(err, fault.CodeRevoked), err)
	f.clock.Advance(2 * time.Minute)
	_, err = f.verifier.Verify(t.Context(), token)
	assert.True(t, fault.HasCode(err, fault.CodeRevoked), "also when it is asked for again: %v", err)
	_, err = f.verifier.Verify(t.Context(), rewriteToken(token))
	assert.True(t, fault.HasCode(err, fault.CodeRevoked), "the same token, written in another way: %v", err)
	_, err = f.verifier.Verify(t.Context(), other)
	require.NoError(t, err, "another token of the user lives on")

	_, err = f.users.DeleteUsers(tenant.With(t.Context(), tenant.Default), &authv1.DeleteUsersRequest{PersonIds: []int64{11}})
	require.NoError(t, err)
	_, err = f.verifier.Verify(t.Context(), other)
	assert.True(t, fault.HasCode(err, fault.CodeRevoked), "remembered, of a user who is gone: %v", err)
	f.fresh(t)
	f.refuses(t, other, "of a user who is gone")
}

// rewriteToken returns a token whose last character differs in bits that do not
// count.
func rewriteToken(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	return token[:len(token)-1] + string(alphabet[last^1])
}

func TestALockedNameIsLockedElsewhereToo(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	_, err := f.pool.Exec(tenant.With(t.Context(), 1), `UPDATE app_user SET username = 'ada' WHERE username = 'ada'`)
	require.NoError(t, err)
	for range 50 {
		_, err := f.tokens.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) { r.Username, r.Password = "ada", "wrong" }))
		require.Error(t, err)
		f.clock.Advance(7 * time.Second)
	}
	f.refuses(t, f.issueToken("ada", "rotaloom"), "locked")
	f.clock.Advance(31 * time.Minute)
	f.fresh(t)
	_, err = f.verifier.Verify(t.Context(), f.issueToken("ada", "rotaloom"))
	require.NoError(t, err)
}

func TestClaimsAreMapped(t *testing.T) {
	t.Parallel()
	f := newFederated(t, func(p *authv1.IdentityProvider) {
		p.UserClaim, p.UserMatch, p.ProfileClaim = "employee_number", "PERSON_NUMBER", "groups"
		p.Profiles = []*authv1.ProfileMapping{{Value: "planners", AccessProfile: "Scheduler"}, {Value: "all", AccessProfile: "Payroll"}}
	})
	p, err := f.verifier.Verify(t.Context(), f.issueToken("eve", "rotaloom", "person_number", "4711", "groups", "all"))
	require.NoError(t, err)
	assert.Equal(t, "ada", p.Subject, "the number says who it is")
	assert.Equal(t, []string{"commons.person.read", "scheduling.schedule.read"}, f.grantedPermissions(p))
	f.refuses(t, f.issueToken("ada", "rotaloom", "groups", "all"), "no number")
	f.refuses(t, f.issueToken("ada", "rotaloom", "person_number", "4712", "groups", "all"), "nobody's number")
	f.refuses(t, f.issueToken("ada", "rotaloom", "person_number", "4711", "groups", "others"), "no group that has a profile")
}

func TestProvidersAreKept(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	list, err := f.providers.ListIdentityProviders(f.admin, &authv1.ListIdentityProvidersRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetProviders(), 1)
	assert.Equal(t, []string{"RS256", "ES256"}, list.GetProviders()[0].GetAlgorithms())

	token := f.issueToken("ada", "rotaloom")
	_, err = f.verifier.Verify(t.Context(), token)
	require.NoError(t, err)
	off := false
	f.provider.Enabled = &off
	_, err = f.providers.UpdateIdentityProvider(f.admin, &authv1.UpdateIdentityProviderRequest{Id: f.provider.GetId(), Provider: f.provider})
	require.NoError(t, err)
	f.clock.Advance(61 * time.Second)
	f.refuses(t, token, "of a provider that is switched off")

	for why, change := range map[string]func(*authv1.IdentityProvider){
		"a shared secret": func(p *authv1.IdentityProvider) { p.Algorithms = []string{"HS256"} },
		"no signature":    func(p *authv1.IdentityProvider) { p.Algorithms = []string{"none"} },
		"our own issuer":  func(p *authv1.IdentityProvider) { p.Issuer = "rotaloom" },
		"a file":          func(p *authv1.IdentityProvider) { p.Issuer = "file:///etc/passwd" },
		"a query":         func(p *authv1.IdentityProvider) { p.Issuer = "https://x.test/?a=b" },
		"no audience":     func(p *authv1.IdentityProvider) { p.Audience = " " },
		"profiles, no claim": func(p *authv1.IdentityProvider) {
			p.Profiles = []*authv1.ProfileMapping{{Value: "a", AccessProfile: "b"}}
		},
		"a clock of the past": func(p *authv1.IdentityProvider) { s := int32(301); p.ClockSkewSeconds = &s },
	} {
		t.Run(why, func(t *testing.T) {
			p := &authv1.IdentityProvider{Name: "x", Issuer: "https://x.test", Audience: "a"}
			change(p)
			_, err := f.providers.CreateIdentityProvider(f.admin, p)
			assert.True(t, fault.HasStatus(err, 400), "%s: %v", why, err)
		})
	}
	_, err = f.providers.CreateIdentityProvider(f.admin, &authv1.IdentityProvider{Name: "x", Issuer: f.issuer, Audience: "rotaloom"})
	assert.True(t, fault.HasStatus(err, 409), err)

	_, err = f.pool.Exec(tenant.With(t.Context(), 1), `INSERT INTO access_profile (tenant_id, name, permissions) VALUES (1, 'Lesser', '{auth.*, commons.*}')`)
	require.NoError(t, err)
	_, err = f.users.PutUsers(tenant.With(t.Context(), 1), &authv1.PutUsersRequest{Users: []*authv1.User{{PersonId: 12, Username: "lesser", Password: "lamp under water", AccessProfile: "Lesser"}}})
	require.NoError(t, err)
	_, err = f.providers.DeleteIdentityProvider(f.loginContext(t, "lesser", "lamp under water"), &authv1.DeleteIdentityProviderRequest{Id: f.provider.GetId()})
	assert.True(t, fault.HasCode(err, fault.CodeNoAccess), err)
	_, err = f.providers.DeleteIdentityProvider(f.admin, &authv1.DeleteIdentityProviderRequest{Id: f.provider.GetId()})
	require.NoError(t, err)
	_, err = f.providers.GetIdentityProvider(f.admin, &authv1.GetIdentityProviderRequest{Id: f.provider.GetId()})
	assert.True(t, fault.HasStatus(err, 404), err)
}
