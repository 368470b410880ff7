package auth_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth"
)

func TestClients(t *testing.T) {
	t.Parallel()
	b, _, clients, admin := newAccessBench(t)
	made, err := clients.CreateClient(admin, &authv1.Client{ClientId: "roster", Scopes: []string{"scheduling", "commons.person.read"}})
	require.NoError(t, err)
	assert.NotEmpty(t, made.GetClientSecret())
	assert.True(t, made.GetEnabled() && made.GetPasswordGrant() && made.GetRefreshGrant() && !made.GetClientGrant())
	by := func(secret string) func(*authv1.IssueTokenRequest) {
		return func(r *authv1.IssueTokenRequest) { r.ClientId, r.ClientSecret = "roster", secret }
	}
	tokens, err := b.tokens.IssueToken(t.Context(), passwordGrant(by(made.GetClientSecret())))
	require.NoError(t, err)

	got, err := clients.GetClient(admin, &authv1.GetClientRequest{ClientId: "roster"})
	require.NoError(t, err)
	assert.Empty(t, got.GetClientSecret(), "shown once")
	list, err := clients.ListClients(admin, &authv1.ListClientsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetClients(), 2)
	assert.Equal(t, "client-1", list.GetClients()[0].GetClientId())

	rotated, err := clients.RotateClientSecret(admin, &authv1.RotateClientSecretRequest{ClientId: "roster"})
	require.NoError(t, err)
	_, err = b.tokens.IssueToken(t.Context(), passwordGrant(by(made.GetClientSecret())))
	assertOAuth(t, err, 401, "invalid_client")
	_, err = b.tokens.IssueToken(t.Context(), passwordGrant(by(rotated.GetClientSecret())))
	require.NoError(t, err)
	assert.False(t, b.isRevoked(t, tokens.GetAccessToken()), "tokens live on")

	update := func(c *authv1.Client) {
		t.Helper()
		_, err := clients.UpdateClient(admin, &authv1.UpdateClientRequest{ClientId: "roster", Client: c})
		require.NoError(t, err)
	}
	update(&authv1.Client{})
	assert.False(t, b.isRevoked(t, tokens.GetAccessToken()), "it may do more")
	update(&authv1.Client{Scopes: []string{"read"}})
	assert.True(t, b.isRevoked(t, tokens.GetAccessToken()), "it may do less")
	update(&authv1.Client{Enabled: proto.Bool(false)})
	_, err = b.tokens.IssueToken(t.Context(), passwordGrant(by(rotated.GetClientSecret())))
	assertOAuth(t, err, 401, "invalid_client")

	update(&authv1.Client{})
	tokens, err = b.tokens.IssueToken(t.Context(), passwordGrant(by(rotated.GetClientSecret())))
	require.NoError(t, err)
	_, err = clients.DeleteClient(admin, &authv1.DeleteClientRequest{ClientId: "roster"})
	require.NoError(t, err)
	assert.True(t, b.isRevoked(t, tokens.GetAccessToken()))

	for name, c := range map[string]struct {
		sent   *authv1.Client
		status int
	}{
		"an id that is taken":        {&authv1.Client{ClientId: clientID}, 409},
		"an id with a slash":         {&authv1.Client{ClientId: "a/b"}, 400},
		"a secret of one's own":      {&authv1.Client{ClientSecret: "x"}, 400},
		"a scope that nobody knows":  {&authv1.Client{Scopes: []string{"scheduling.shift"}}, 400},
		"own work without a profile": {&authv1.Client{ClientGrant: proto.Bool(true)}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := clients.CreateClient(admin, c.sent)
			assert.True(t, fault.HasStatus(err, c.status), "%s: %v", name, err)
		})
	}
	_, err = clients.DeleteClient(admin, &authv1.DeleteClientRequest{ClientId: clientID})
	assert.True(t, fault.HasStatus(err, http.StatusConflict), "the one in use: %v", err)
	_, err = clients.DeleteClient(admin, &authv1.DeleteClientRequest{ClientId: "roster"})
	assert.True(t, fault.HasStatus(err, http.StatusNotFound), err)
}

func TestScopes(t *testing.T) {
	t.Parallel()
	b, _, clients, admin := newAccessBench(t)
	made, err := clients.CreateClient(admin, &authv1.Client{ClientId: "reader", Scopes: []string{"read"}})
	require.NoError(t, err)
	by := func(scope string) func(*authv1.IssueTokenRequest) {
		return func(r *authv1.IssueTokenRequest) {
			r.ClientId, r.ClientSecret, r.Scope = "reader", made.GetClientSecret(), scope
		}
	}
	permissions := func(response *authv1.IssueTokenResponse) []string {
		t.Helper()
		p, err := b.verifier.Verify(t.Context(), response.GetAccessToken())
		require.NoError(t, err)
		assert.Equal(t, response.GetScope(), p.Scope)
		return b.grantedPermissions(p)
	}
	whole, err := b.tokens.IssueToken(t.Context(), passwordGrant(by("")))
	require.NoError(t, err)
	assert.Equal(t, "givenName mail nonce openid profile sn uid read", whole.GetScope())
	assert.Equal(t, []string{"auth.access_profile.read", "auth.client.read", "commons.person.read", "scheduling.schedule.read"}, permissions(whole))

	narrow, err := b.tokens.IssueToken(t.Context(), passwordGrant(by("openid commons")))
	require.NoError(t, err)
	assert.Equal(t, "openid commons.person.read", narrow.GetScope())
	assert.Equal(t, []string{"commons.person.read"}, permissions(narrow))

	again, err := b.tokens.IssueToken(t.Context(), refreshGrant(narrow.GetRefreshToken(), by("")))
	require.NoError(t, err)
	assert.Equal(t, narrow.GetScope(), again.GetScope(), "a refresh gets what the log-in got")
	_, err = b.tokens.IssueToken(t.Context(), refreshGrant(narrow.GetRefreshToken(), by("scheduling")))
	assertOAuth(t, err, 400, "invalid_scope")
	_, err = b.tokens.IssueToken(t.Context(), passwordGrant(by("commons.person.write")))
	assertOAuth(t, err, 400, "invalid_scope")
}

// A client's own work is narrowed as a user's is, and a token cannot give what
// its scope leaves out.
func TestScopesOfOwnWork(t *testing.T) {
	t.Parallel()
	b := newFixtureWith(t, auth.Config{ClientCredentials: true})
	_, err := b.pool.Exec(tenant.With(t.Context(), tenant.Default), `UPDATE client SET client_grant = true, access_profile = 'Super', scopes = '{commons}'
		WHERE tenant_id = 1`)
	require.NoError(t, err)
	response, err := b.tokens.IssueToken(t.Context(), &authv1.IssueTokenRequest{
		GrantType: "client_credentials", ClientId: clientID, ClientSecret: clientSecret, Scope: "commons.person.write",
	})
	require.NoError(t, err)
	p, err := b.verifier.Verify(t.Context(), response.GetAccessToken())
	require.NoError(t, err)
	assert.Equal(t, []string{"commons.person.write"}, b.grantedPermissions(p))
	assert.Equal(t, "all", p.Rows)
}
