package auth_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth"
)

const (
	adminName     = "admin"
	adminPassword = "correct horse battery"
	clientID      = "client-1"
	clientSecret  = "client-secret-1"
)

var tokens = authn.Config{Issuer: "rotaloom", Audience: "rotaloom"}

// The edge logs the owner of each token that it hands out.
func TestTokensReportTheirOwner(t *testing.T) {
	t.Parallel()
	b := newFixtureWith(t, auth.Config{ClientCredentials: true})
	_, err := b.pool.Exec(tenant.With(t.Context(), tenant.Default), `UPDATE client SET client_grant = true WHERE tenant_id = 1`)
	require.NoError(t, err)
	first := b.login(t)
	for name, c := range map[string]struct {
		request *authv1.IssueTokenRequest
		user    string
	}{
		"password":           {passwordGrant(), adminName},
		"refresh token":      {refreshGrant(first.GetRefreshToken()), adminName},
		"client credentials": {&authv1.IssueTokenRequest{GrantType: "client_credentials", ClientId: clientID, ClientSecret: clientSecret}, clientID},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var header metadata.MD
			_, err := b.tokens.IssueToken(t.Context(), c.request, grpc.Header(&header))
			require.NoError(t, err)
			require.Len(t, header.Get(rpc.HeaderIssuedTo), 1)
			owner, err := rpc.ParseTokenOwner(header.Get(rpc.HeaderIssuedTo)[0])
			require.NoError(t, err)
			assert.Equal(t, rpc.TokenOwner{Tenant: tenant.Default, User: c.user, Client: clientID}, owner)
		})
	}
}

func TestPasswordGrant(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	response, err := b.tokens.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) {
		r.Username, r.Nonce = "ADMIN", "n-1"
	}))
	require.NoError(t, err)
	assert.Equal(t, "Bearer", response.GetTokenType())
	assert.Equal(t, "givenName mail nonce openid profile sn uid", response.GetScope())
	assert.EqualValues(t, 1800, response.GetExpiresIn())
	assert.NotEmpty(t, response.GetRefreshToken())

	p, err := b.verifier.Verify(t.Context(), response.GetAccessToken())
	require.NoError(t, err)
	assert.Equal(t, tenant.Default, p.Tenant)
	assert.Equal(t, adminName, p.Subject, "the name as it is stored")
	assert.Equal(t, clientID, p.Client)
	assert.Equal(t, []string{"commons.person.read", "commons.person.write", "scheduling.schedule.read"}, b.grantedPermissions(p))
	assert.NotEmpty(t, p.JTI)
	assert.NotEmpty(t, p.SID)

	t.Run("the id token is no access token", func(t *testing.T) {
		_, err := b.verifier.Verify(t.Context(), response.GetIdToken())
		assert.True(t, fault.HasStatus(err, 401), err)
	})
	t.Run("the id token is for the client", func(t *testing.T) {
		parsed, err := jwt.ParseSigned(response.GetIdToken(), []jose.SignatureAlgorithm{jose.EdDSA})
		require.NoError(t, err)
		key, err := b.service.Key(t.Context(), parsed.Headers[0].KeyID)
		require.NoError(t, err)
		var claims struct {
			jwt.Claims
			Nonce string `json:"nonce"`
		}
		require.NoError(t, parsed.Claims(key, &claims))
		assert.Equal(t, jwt.Audience{clientID}, claims.Audience)
		assert.Equal(t, "n-1", claims.Nonce)
	})
	t.Run("the access token ends", func(t *testing.T) {
		_, err := b.verifier.Verify(t.Context(), response.GetAccessToken())
		require.NoError(t, err)
		b.clock.Advance(30*time.Minute + time.Second)
		_, err = b.verifier.Verify(t.Context(), response.GetAccessToken())
		assert.True(t, fault.HasStatus(err, 401), err)
	})
}

func TestRefreshGrant(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	first, err := b.tokens.IssueToken(t.Context(), passwordGrant())
	require.NoError(t, err)
	b.clock.Advance(7*24*time.Hour - time.Minute)
	second, err := b.tokens.IssueToken(t.Context(), refreshGrant(first.GetRefreshToken()))
	require.NoError(t, err)
	assert.Empty(t, second.GetRefreshToken(), "a refresh returns no new refresh token")
	assert.NotEqual(t, first.GetAccessToken(), second.GetAccessToken())
	p, err := b.verifier.Verify(t.Context(), second.GetAccessToken())
	require.NoError(t, err)
	assert.NotEmpty(t, p.SID)

	t.Run("another client cannot use it", func(t *testing.T) {
		other := bootstrap()
		other.ClientID, other.ClientSecret = "client-2", "client-secret-2"
		require.NoError(t, b.service.EnsureBootstrap(t.Context(), other))
		_, err := b.tokens.IssueToken(t.Context(), refreshGrant(first.GetRefreshToken(), func(r *authv1.IssueTokenRequest) {
			r.ClientId, r.ClientSecret = "client-2", "client-secret-2"
		}))
		assertOAuth(t, err, 400, "invalid_grant")
	})
	t.Run("it ends after seven days", func(t *testing.T) {
		b.clock.Advance(time.Minute)
		_, err := b.tokens.IssueToken(t.Context(), refreshGrant(first.GetRefreshToken()))
		assertOAuth(t, err, 400, "invalid_grant")
	})
}

func withoutChain(r *authv1.IssueTokenRequest) { r.AuthChain = "" }

// Both grants need auth_chain, unless a setting names the chain of requests without it.
func TestDefaultAuthChain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg     auth.Config
		refused bool
	}{
		"none": {auth.Config{}, true},
		"set":  {auth.Config{DefaultAuthChain: "OAuthLdapService"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixtureWith(t, c.cfg)
			refresh := b.login(t).GetRefreshToken()
			other := func(r *authv1.IssueTokenRequest) { r.AuthChain = "Other" }
			for _, req := range []*authv1.IssueTokenRequest{passwordGrant(withoutChain), refreshGrant(refresh, withoutChain)} {
				_, err := b.tokens.IssueToken(t.Context(), req)
				if !c.refused {
					require.NoError(t, err)
					continue
				}
				assertOAuth(t, err, 400, "invalid_request")
				assert.Contains(t, fault.FromError(err).Message, "auth_chain")
			}
			for _, req := range []*authv1.IssueTokenRequest{passwordGrant(other), refreshGrant(refresh, other)} {
				_, err := b.tokens.IssueToken(t.Context(), req)
				assertOAuth(t, err, 400, "invalid_request")
			}
		})
	}
}

func TestTokenErrors(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	for name, c := range map[string]struct {
		req    *authv1.IssueTokenRequest
		status int
		err    string
	}{
		"no grant type":          {passwordGrant(func(r *authv1.IssueTokenRequest) { r.GrantType = "" }), 400, "invalid_request"},
		"another grant":          {passwordGrant(func(r *authv1.IssueTokenRequest) { r.GrantType = "client_credentials" }), 400, "unsupported_grant_type"},
		"no client":              {passwordGrant(func(r *authv1.IssueTokenRequest) { r.ClientId = "" }), 400, "invalid_request"},
		"no client secret":       {passwordGrant(func(r *authv1.IssueTokenRequest) { r.ClientSecret = "" }), 400, "invalid_request"},
		"another chain":          {passwordGrant(func(r *authv1.IssueTokenRequest) { r.AuthChain = "Other" }), 400, "invalid_request"},
		"no username":            {passwordGrant(func(r *authv1.IssueTokenRequest) { r.Username = "" }), 400, "invalid_request"},
		"no password":            {passwordGrant(func(r *authv1.IssueTokenRequest) { r.Password = "" }), 400, "invalid_request"},
		"a zero character":       {passwordGrant(func(r *authv1.IssueTokenRequest) { r.Username = "a\x00" }), 400, "invalid_request"},
		"a long field":           {passwordGrant(func(r *authv1.IssueTokenRequest) { r.Password = strings.Repeat("x", 5000) }), 400, "invalid_request"},
		"unknown client":         {passwordGrant(func(r *authv1.IssueTokenRequest) { r.ClientId = "x" }), 401, "invalid_client"},
		"wrong secret":           {passwordGrant(func(r *authv1.IssueTokenRequest) { r.ClientSecret = "x" }), 401, "invalid_client"},
		"unknown user":           {passwordGrant(func(r *authv1.IssueTokenRequest) { r.Username = "nobody" }), 400, "invalid_grant"},
		"wrong password":         {passwordGrant(func(r *authv1.IssueTokenRequest) { r.Password = "x" }), 400, "invalid_grant"},
		"no refresh token":       {refreshGrant(""), 400, "invalid_request"},
		"unknown refresh":        {refreshGrant("x"), 400, "invalid_grant"},
		"no chain":               {passwordGrant(withoutChain), 400, "invalid_request"},
		"refresh, no chain":      {refreshGrant("x", withoutChain), 400, "invalid_request"},
		"refresh, another chain": {refreshGrant("x", func(r *authv1.IssueTokenRequest) { r.AuthChain = "Other" }), 400, "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := b.tokens.IssueToken(t.Context(), c.req)
			assertOAuth(t, err, c.status, c.err)
		})
	}
	t.Run("an unknown user and a wrong password look the same", func(t *testing.T) {
		t.Parallel()
		_, unknown := b.tokens.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) { r.Username = "nobody" }))
		_, wrong := b.tokens.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) { r.Password = "x" }))
		assert.Equal(t, fault.FromError(wrong).Message, fault.FromError(unknown).Message)
	})
}

func TestClientSwitches(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	set := func(column string, value bool) {
		_, err := b.pool.Exec(ctx, `UPDATE client SET `+column+` = $1`, value)
		require.NoError(t, err)
	}
	set("password_grant", false)
	_, err := b.tokens.IssueToken(t.Context(), passwordGrant())
	assertOAuth(t, err, 400, "unauthorized_client")
	set("password_grant", true)
	set("enabled", false)
	_, err = b.tokens.IssueToken(t.Context(), passwordGrant())
	assertOAuth(t, err, 401, "invalid_client")
}

func TestTenantOfHost(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	two := tenant.With(t.Context(), 2)
	_, err := b.pool.Exec(two, `INSERT INTO tenant (id, name, host) VALUES (2, 'Two', 'two.example')`)
	require.NoError(t, err)
	for _, host := range []string{"Two.example:8443", "two.example", "two.example.", "two.example.:8443", "two.example.."} {
		_, err = b.tokens.IssueToken(metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-host", host), passwordGrant())
		assertOAuth(t, err, 401, "invalid_client")
	}
	_, err = b.tokens.IssueToken(metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-host", "other.example"), passwordGrant())
	assert.NoError(t, err, "any other host is the default tenant's")
}

func TestUsers(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	login := func(name, password string) error {
		_, err := b.tokens.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) {
			r.Username, r.Password = name, password
		}))
		return err
	}
	put := func(users ...*authv1.User) error {
		_, err := b.users.PutUsers(ctx, &authv1.PutUsersRequest{Users: users})
		return err
	}
	require.NoError(t, put(
		&authv1.User{PersonId: 11, Username: "ada", Password: "lamp under water"},
		&authv1.User{PersonId: 12, Username: "nils", Password: "other lamp of nils"}))
	require.NoError(t, login("ada", "lamp under water"))

	t.Run("a second put without a password keeps the password", func(t *testing.T) {
		require.NoError(t, put(&authv1.User{PersonId: 11, Username: "ada.o"}))
		assert.NoError(t, login("ada.o", "lamp under water"))
		assertOAuth(t, login("ada", "lamp under water"), 400, "invalid_grant")
	})
	t.Run("a user without a password cannot log in", func(t *testing.T) {
		require.NoError(t, put(&authv1.User{PersonId: 13, Username: "eve"}))
		assertOAuth(t, login("eve", "anything"), 400, "invalid_grant")
	})
	t.Run("taken names are named by their positions, and nothing is stored", func(t *testing.T) {
		err := put(
			&authv1.User{PersonId: 21, Username: "fresh", Password: "lamp under water"},
			&authv1.User{PersonId: 22, Username: "NILS", Password: "lamp under water"},
			&authv1.User{PersonId: 23, Username: "Fresh", Password: "lamp under water"},
			&authv1.User{PersonId: 24, Username: "admin", Password: "lamp under water"})
		require.True(t, fault.HasStatus(err, 409), err)
		assert.Equal(t, []int32{1, 2, 3}, fault.FromError(err).Details.GetErrorOffsets())
		assertOAuth(t, login("fresh", "lamp under water"), 400, "invalid_grant")
	})
	t.Run("deleting is harmless when repeated", func(t *testing.T) {
		for range 2 {
			_, err := b.users.DeleteUsers(ctx, &authv1.DeleteUsersRequest{PersonIds: []int64{12, 99}})
			require.NoError(t, err)
		}
		assertOAuth(t, login("nils", "other lamp of nils"), 400, "invalid_grant")
	})
	t.Run("the operations are closed to the edge", func(t *testing.T) {
		_, err := authv1.NewUserServiceClient(b.edge).PutUsers(ctx, &authv1.PutUsersRequest{})
		assert.True(t, fault.HasStatus(err, 403), err)
	})
}

func TestTenantsAreApart(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	// Without WHERE, only row-level security separates the tenants.
	for _, table := range []string{"client", "access_profile", "app_user"} {
		t.Run(table, func(t *testing.T) {
			var mine, theirs, none int
			count := func(ctx context.Context, into *int) {
				require.NoError(t, b.pool.QueryRow(ctx, `SELECT count(*) FROM `+table).Scan(into))
			}
			count(tenant.With(t.Context(), tenant.Default), &mine)
			count(tenant.With(t.Context(), 2), &theirs)
			count(t.Context(), &none)
			assert.Positive(t, mine, table)
			assert.Zero(t, theirs, table)
			assert.Zero(t, none, table)
		})
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	old, err := b.tokens.IssueToken(t.Context(), passwordGrant())
	require.NoError(t, err)
	b.clock.Advance(90*24*time.Hour - 30*time.Minute)
	fresh, err := b.tokens.IssueToken(t.Context(), passwordGrant())
	require.NoError(t, err)
	assert.NotEqual(t, kid(t, old), kid(t, fresh), "a key does not sign what it cannot outlive")
	set, err := b.tokens.GetKeySet(t.Context(), &authv1.GetKeySetRequest{})
	require.NoError(t, err)
	assert.Len(t, set.GetKeys(), 2)
	_, err = b.verifier.Verify(t.Context(), fresh.GetAccessToken())
	assert.NoError(t, err)
}

// A process with a different key encryption key is not ready, while operator commands need no key.
func TestIsNotReadyWithoutTheKeyOfTheSigningKeys(t *testing.T) {
	t.Parallel()
	const key, other = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "HxwdHhsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA="
	b := newFixtureWith(t, auth.Config{KeyEncryptionKey: key})
	require.NoError(t, b.service.Check(t.Context()))
	for name, c := range map[string]struct{ given, says string }{
		"none":      {"", "are encrypted"},
		"another":   {other, "in the database is missing"},
		"both":      {other + "\n" + key, ""},
		"the right": {key, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := auth.Config{HashMemory: 64, HashTime: 1, KeyEncryptionKey: obs.Secret(c.given)}
			service, err := auth.New(t.Context(), cfg, auth.Deps{Backends: serve.Backends{Pool: b.pool, Log: pgtest.Log(t), Clock: b.clock}})
			require.NoError(t, err)
			if err = service.Check(t.Context()); c.says == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.says)
			}
			_, err = service.ListTenants(t.Context())
			assert.NoError(t, err)
		})
	}
}

func TestKeyEncryptionIsRequiredUnlessDisabled(t *testing.T) {
	t.Parallel()
	assert.ErrorContains(t, auth.Config{}.CheckKeyEncryption(), "openssl rand -base64 32")
	assert.Error(t, auth.Config{KeyEncryptionKey: "short", AllowPlainSigningKeys: true}.CheckKeyEncryption())
	assert.NoError(t, auth.Config{AllowPlainSigningKeys: true}.CheckKeyEncryption())
	assert.NoError(t, auth.Config{KeyEncryptionKey: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}.CheckKeyEncryption())
}
