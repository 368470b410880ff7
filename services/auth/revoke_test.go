package auth_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/authclient"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/revocation"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth"
)

func (b *fixture) login(t *testing.T) *authv1.IssueTokenResponse {
	t.Helper()
	response, err := b.tokens.IssueToken(t.Context(), passwordGrant())
	require.NoError(t, err)
	return response
}

func (b *fixture) refresh(t *testing.T, refreshToken string) string {
	t.Helper()
	response, err := b.tokens.IssueToken(t.Context(), refreshGrant(refreshToken))
	require.NoError(t, err)
	return response.GetAccessToken()
}

func (b *fixture) revoke(t *testing.T, token string) {
	t.Helper()
	_, err := b.tokens.RevokeToken(t.Context(), revokeRequest(token))
	require.NoError(t, err)
}

func revokeRequest(token string) *authv1.RevokeTokenRequest {
	return &authv1.RevokeTokenRequest{Token: token, ClientId: clientID, ClientSecret: clientSecret}
}

func (b *fixture) good(t *testing.T, accessToken string) bool {
	t.Helper()
	_, err := b.verifier.Verify(t.Context(), accessToken)
	if err != nil {
		require.True(t, fault.HasStatus(err, 401), err)
	}
	return err == nil
}

// The rules 1 to 5 of tokens' lives; the sixth is for their owners.
func TestTokenLives(t *testing.T) {
	t.Parallel()
	t.Run("an access token is good until expires_in seconds have elapsed", func(t *testing.T) {
		t.Parallel()
		b := newFixture(t)
		response := b.login(t)
		b.clock.Advance(time.Duration(response.GetExpiresIn())*time.Second - time.Second)
		assert.True(t, b.good(t, response.GetAccessToken()))
		b.clock.Advance(2 * time.Second)
		assert.False(t, b.good(t, response.GetAccessToken()))
	})
	t.Run("a refresh token makes access tokens for seven days", func(t *testing.T) {
		t.Parallel()
		b := newFixture(t)
		response := b.login(t)
		for range 6 {
			b.clock.Advance(24 * time.Hour)
			assert.True(t, b.good(t, b.refresh(t, response.GetRefreshToken())))
		}
		b.clock.Advance(24 * time.Hour)
		_, err := b.tokens.IssueToken(t.Context(), refreshGrant(response.GetRefreshToken()))
		assertOAuth(t, err, 400, "invalid_grant")
	})
	t.Run("revoking an access token leaves its refresh token", func(t *testing.T) {
		t.Parallel()
		b := newFixture(t)
		response := b.login(t)
		b.revoke(t, response.GetAccessToken())
		assert.False(t, b.good(t, response.GetAccessToken()))
		assert.True(t, b.good(t, b.refresh(t, response.GetRefreshToken())))
	})
	t.Run("revoking a refresh token ends every access token made by it", func(t *testing.T) {
		t.Parallel()
		b := newFixture(t)
		response := b.login(t)
		made := []string{response.GetAccessToken(), b.refresh(t, response.GetRefreshToken())}
		b.clock.Advance(20 * time.Minute)
		made = append(made, b.refresh(t, response.GetRefreshToken()))
		b.revoke(t, response.GetRefreshToken())
		for i, token := range made {
			assert.False(t, b.good(t, token), i)
		}
		_, err := b.tokens.IssueToken(t.Context(), refreshGrant(response.GetRefreshToken()))
		assertOAuth(t, err, 400, "invalid_grant")
		b.clock.Advance(29 * time.Minute)
		assert.False(t, b.good(t, made[2]), "until the last of them would have expired")
	})
	t.Run("another grant of the same user lives on", func(t *testing.T) {
		t.Parallel()
		b := newFixture(t)
		one, two := b.login(t), b.login(t)
		b.revoke(t, one.GetRefreshToken())
		assert.False(t, b.good(t, one.GetAccessToken()))
		assert.True(t, b.good(t, two.GetAccessToken()))
		assert.True(t, b.good(t, b.refresh(t, two.GetRefreshToken())))
	})
}

func TestRevokeErrors(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	response := b.login(t)
	other := bootstrap()
	other.ClientID, other.ClientSecret = "client-2", "client-secret-2"
	require.NoError(t, b.service.EnsureBootstrap(t.Context(), other))

	for name, c := range map[string]struct {
		change func(*authv1.RevokeTokenRequest)
		status int
		err    string
	}{
		"no token":       {func(r *authv1.RevokeTokenRequest) { r.Token = "" }, 400, "invalid_request"},
		"no client":      {func(r *authv1.RevokeTokenRequest) { r.ClientId = "" }, 400, "invalid_request"},
		"no secret":      {func(r *authv1.RevokeTokenRequest) { r.ClientSecret = "" }, 400, "invalid_request"},
		"a long token":   {func(r *authv1.RevokeTokenRequest) { r.Token = string(make([]byte, 5000)) }, 400, "invalid_request"},
		"unknown client": {func(r *authv1.RevokeTokenRequest) { r.ClientId = "x" }, 401, "invalid_client"},
		"wrong secret":   {func(r *authv1.RevokeTokenRequest) { r.ClientSecret = "x" }, 401, "invalid_client"},
		"another client's access token": {func(r *authv1.RevokeTokenRequest) {
			r.ClientId, r.ClientSecret = "client-2", "client-secret-2"
		}, 400, "invalid_grant"},
		"another client's refresh token": {func(r *authv1.RevokeTokenRequest) {
			r.ClientId, r.ClientSecret, r.Token = "client-2", "client-secret-2", response.GetRefreshToken()
		}, 400, "invalid_grant"},
	} {
		t.Run(name, func(t *testing.T) {
			req := revokeRequest(response.GetAccessToken())
			c.change(req)
			_, err := b.tokens.RevokeToken(t.Context(), req)
			assert.NotNil(t, err, name)
			assertOAuth(t, err, c.status, c.err)
		})
	}
	assert.True(t, b.good(t, response.GetAccessToken()), "nothing was revoked")
	b.refresh(t, response.GetRefreshToken())

	for name, token := range map[string]string{"unknown": "x", "an id token": response.GetIdToken()} {
		t.Run(name, func(t *testing.T) {
			_, err := b.tokens.RevokeToken(t.Context(), revokeRequest(token))
			assert.NoError(t, err, name)
		})
	}
	for range 2 {
		b.revoke(t, response.GetRefreshToken())
		b.revoke(t, response.GetAccessToken())
	}
	b.clock.Advance(time.Hour)
	b.revoke(t, response.GetAccessToken()) // An expired one is as good as unknown.
}

func TestTokensEndWithTheirUser(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	_, err := b.users.PutUsers(ctx, &authv1.PutUsersRequest{Users: []*authv1.User{{PersonId: 11, Username: "ada", Password: "lamp under water"}}})
	require.NoError(t, err)
	response, err := b.tokens.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) { r.Username, r.Password = "ada", "lamp under water" }))
	require.NoError(t, err)
	require.True(t, b.good(t, response.GetAccessToken()))
	_, err = b.users.DeleteUsers(ctx, &authv1.DeleteUsersRequest{PersonIds: []int64{11}})
	require.NoError(t, err)
	assert.False(t, b.good(t, response.GetAccessToken()))
}

// A user with expired tokens only needs no revocation, which would stay until the next sweep.
func TestExpiredTokensAreNotRevoked(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	require.NoError(t, b.putUsers(ctx, &authv1.User{PersonId: 11, Username: "ada", Password: adaSecret}))
	b.loginAs(t, "ada", adaSecret)
	b.clock.Advance(24 * time.Hour)
	_, err := b.users.DeleteUsers(ctx, &authv1.DeleteUsersRequest{PersonIds: []int64{11}})
	require.NoError(t, err)
	var n int
	require.NoError(t, b.pool.QueryRow(ctx, `SELECT count(*) FROM revocation WHERE expires_at <= $1`, b.clock.Now()).Scan(&n))
	assert.Zero(t, n)
}

// Two who refresh and revoke at the same time leave no token behind that works.
func TestRevocationWinsOverRefresh(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	for range 20 {
		response := b.login(t)
		made := make(chan string, 1)
		go func() {
			defer close(made)
			if response, err := b.tokens.IssueToken(context.WithoutCancel(t.Context()), refreshGrant(response.GetRefreshToken())); err == nil {
				made <- response.GetAccessToken()
			}
		}()
		b.revoke(t, response.GetRefreshToken())
		if token, ok := <-made; ok {
			assert.False(t, b.good(t, token))
		}
	}
}

func TestRevocationsAreListedOnceEach(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	list := authv1.NewRevocationServiceClient(b.local.Conn("scheduling", nil))
	first := b.login(t)
	b.revoke(t, first.GetAccessToken())
	all, err := list.ListRevocations(t.Context(), &authv1.ListRevocationsRequest{})
	require.NoError(t, err)
	require.Len(t, all.GetRevocations(), 1)
	assert.Nil(t, all.GetNext())

	b.revoke(t, first.GetRefreshToken())
	later, err := list.ListRevocations(t.Context(), &authv1.ListRevocationsRequest{Since: all.GetHorizon()})
	require.NoError(t, err)
	assert.Contains(t, later.GetRevocations()[len(later.GetRevocations())-1].GetKey(), "s.")

	restored, err := list.ListRevocations(t.Context(), &authv1.ListRevocationsRequest{Since: later.GetHorizon() + 1_000_000})
	require.NoError(t, err)
	assert.Len(t, restored.GetRevocations(), 2, "a horizon that was never reached counts as none")

	next, err := list.ListRevocations(t.Context(), &authv1.ListRevocationsRequest{
		After: &authv1.RevocationPosition{Version: math.MaxInt64, Key: "z"},
	})
	require.NoError(t, err)
	assert.Empty(t, next.GetRevocations(), "a page begins behind its position")

	b.clock.Advance(time.Hour)
	none, err := list.ListRevocations(t.Context(), &authv1.ListRevocationsRequest{})
	require.NoError(t, err)
	assert.Empty(t, none.GetRevocations(), "an expired token needs no revocation")

	_, err = authv1.NewRevocationServiceClient(b.edge).ListRevocations(t.Context(), &authv1.ListRevocationsRequest{})
	assert.True(t, fault.HasStatus(err, 403), "closed to the edge")
}

// Another process knows of a revocation by the bucket while auth cannot be
// asked; whatever the broker forgets is put again.
func TestRevocationsArePublished(t *testing.T) {
	t.Parallel()
	server := natstest.New(t)
	pool := newPool(t)
	service, err := auth.New(t.Context(), auth.Config{HashMemory: 64, HashTime: 1}, auth.Deps{
		Backends: serve.Backends{Pool: pool, NATS: server.Conn(), Log: pgtest.Log(t), Clock: clock.System{}},
	})
	require.NoError(t, err)
	require.NoError(t, service.EnsureBootstrap(t.Context(), bootstrap()))
	local := rpctest.LocalWith(t, tokens, service, clock.System{})
	service.Register(local)
	b := &fixture{service: service, tokens: authv1.NewTokenServiceClient(local)}
	runWith(t, service.Run)

	open := func() *fixture {
		view, err := revocation.New(revocation.Config{Staleness: time.Hour}, revocation.Deps{
			Auth: authclient.Revocations(local.Conn("scheduling", nil)), NATS: server.Conn(), Clock: clock.System{}, Log: pgtest.Log(t),
		})
		require.NoError(t, err)
		runWith(t, view.Run)
		other := *b
		other.verifier = verifierWith(t, service, view, clock.System{})
		return &other
	}
	other := open()
	response, second := b.login(t), b.login(t)
	require.True(t, other.good(t, response.GetAccessToken()))
	b.revoke(t, response.GetAccessToken())
	// The view asks again in ten minutes only, so this came by the bucket.
	require.Eventually(t, func() bool { return !other.good(t, response.GetAccessToken()) }, 10*time.Second, 5*time.Millisecond)

	server.Stop()
	b.revoke(t, second.GetRefreshToken())
	server.Wipe()
	server.Start()
	require.Eventually(t, func() bool { return !other.good(t, second.GetAccessToken()) }, 20*time.Second, 20*time.Millisecond)
	assert.False(t, open().good(t, response.GetAccessToken()))
}

func runWith(t *testing.T, run func(context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
}

func TestClientsWorkForThemselves(t *testing.T) {
	t.Parallel()
	b := newFixtureWith(t, auth.Config{ClientCredentials: true})
	ask := &authv1.IssueTokenRequest{GrantType: "client_credentials", ClientId: clientID, ClientSecret: clientSecret}
	_, err := b.tokens.IssueToken(t.Context(), ask)
	assertOAuth(t, err, 400, "unauthorized_client")

	_, err = b.pool.Exec(tenant.With(t.Context(), tenant.Default),
		`UPDATE client SET client_grant = true, access_profile = 'Scheduler'`)
	require.NoError(t, err)
	response, err := b.tokens.IssueToken(t.Context(), ask)
	require.NoError(t, err)
	assert.Empty(t, response.GetRefreshToken())
	assert.Empty(t, response.GetIdToken())
	p, err := b.verifier.Verify(t.Context(), response.GetAccessToken())
	require.NoError(t, err)
	assert.Equal(t, clientID, p.Subject)
	assert.Zero(t, p.PersonID)
	assert.Equal(t, []string{"commons.person.read", "scheduling.schedule.read"}, b.grantedPermissions(p))
	b.revoke(t, response.GetAccessToken())
	assert.False(t, b.good(t, response.GetAccessToken()))
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	called := func(host string) context.Context {
		return metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-host", host)
	}
	_, err := b.pool.Exec(tenant.With(t.Context(), 2), `INSERT INTO tenant (id, name, host) VALUES (2, 'Two', 'api.example')`)
	require.NoError(t, err)
	for _, host := range []string{"127.0.0.1:8443", "localhost", "[::1]:8443", "API.example"} {
		t.Run(host, func(t *testing.T) {
			_, err := b.tokens.GetOpenIDConfiguration(called(host), &authv1.GetOpenIDConfigurationRequest{})
			require.NoError(t, err, host)
		})
	}
	found, err := b.tokens.GetOpenIDConfiguration(called("api.example:8443"), &authv1.GetOpenIDConfigurationRequest{})
	require.NoError(t, err)
	assert.Equal(t, "rotaloom", found.GetIssuer())
	assert.Equal(t, "https://api.example:8443/api/authentication/token/revoke", found.GetRevocationEndpoint())
	assert.Equal(t, []string{"password", "refresh_token"}, found.GetGrantTypesSupported())
	for _, host := range []string{"", "a/b", "evil.example?x", "evil.example", "192.0.2.1", "evil.api.example"} {
		t.Run(host, func(t *testing.T) {
			_, err := b.tokens.GetOpenIDConfiguration(called(host), &authv1.GetOpenIDConfigurationRequest{})
			assert.True(t, fault.HasStatus(err, 400), host)
		})
	}
	set := newFixtureWith(t, auth.Config{PublicURL: "https://rota.example/", ClientCredentials: true})
	found, err = set.tokens.GetOpenIDConfiguration(called("evil.example"), &authv1.GetOpenIDConfigurationRequest{})
	require.NoError(t, err)
	assert.Equal(t, "https://rota.example/api/authentication/access_token", found.GetTokenEndpoint())
	assert.Contains(t, found.GetGrantTypesSupported(), "client_credentials")
}
