package auth_test

import (
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth"
)

// fixture is the service with everything around it but a network.
type fixture struct {
	permissions []string
	pool        *pg.Pool
	clock       *clock.Fake
	service     *auth.Service
	verifier    *authn.Verifier
	tokens      authv1.TokenServiceClient
	users       authv1.UserServiceClient
	local       *rpc.Local
	edge        *rpc.LocalConn
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureWith(t, auth.Config{})
}

func newFixtureWith(t testing.TB, cfg auth.Config) *fixture {
	t.Helper()
	return createFixture(t, cfg, "commons.person.read", "commons.person.write", "scheduling.schedule.read")
}

// grantedPermissions returns the fixture's permissions that a token grants.
func (b *fixture) grantedPermissions(p *authn.Principal) (out []string) {
	for _, permission := range b.permissions {
		if p.Has(permission) {
			out = append(out, permission)
		}
	}
	return out
}

// newPool returns a database with the schema of the service.
func newPool(t testing.TB) *pg.Pool {
	t.Helper()
	sets, err := auth.Migrations()
	require.NoError(t, err)
	return pgtest.New(t, sets...)
}

// createFixture makes a fixture that knows some permissions.
func createFixture(t testing.TB, cfg auth.Config, permissions ...string) *fixture {
	t.Helper()
	b := &fixture{
		pool:        newPool(t),
		clock:       clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
		permissions: permissions,
	}
	var err error
	// Few passes: the tests check which work is done, not its cost.
	cfg.HashMemory, cfg.HashTime = 64, 1
	b.service, err = auth.New(t.Context(), cfg, auth.Deps{
		Backends:    serve.Backends{Pool: b.pool, Log: pgtest.Log(t), Clock: b.clock},
		Permissions: permissions,
	})
	require.NoError(t, err)
	b.verifier = verifierWith(t, b.service, b.service, b.clock)
	b.local = rpctest.LocalWith(t, tokens, b.service, b.clock)
	b.service.Register(b.local)
	b.edge = b.local.Conn("", nil)
	b.tokens = authv1.NewTokenServiceClient(b.edge)
	b.users = authv1.NewUserServiceClient(b.local.Conn("commons", nil))
	require.NoError(t, b.service.EnsureBootstrap(t.Context(), bootstrap()))
	return b
}

func verifierWith(t testing.TB, keys authn.KeySource, revocations authn.Revocations, clk clock.Clock) *authn.Verifier {
	t.Helper()
	verifier, err := authn.NewVerifier(tokens, keys, revocations, clk)
	require.NoError(t, err)
	return verifier
}

func bootstrap() auth.Bootstrap {
	return auth.Bootstrap{
		TenantName: "Default", Username: adminName, Password: adminPassword,
		ClientID: clientID, ClientSecret: clientSecret,
	}
}

func passwordGrant(change ...func(*authv1.IssueTokenRequest)) *authv1.IssueTokenRequest {
	req := &authv1.IssueTokenRequest{
		GrantType: "password", ClientId: clientID, ClientSecret: clientSecret, AuthChain: "OAuthLdapService",
		Username: adminName, Password: adminPassword,
	}
	for _, c := range change {
		c(req)
	}
	return req
}

func refreshGrant(token string, change ...func(*authv1.IssueTokenRequest)) *authv1.IssueTokenRequest {
	req := &authv1.IssueTokenRequest{
		GrantType: "refresh_token", ClientId: clientID, ClientSecret: clientSecret, AuthChain: "OAuthLdapService",
		RefreshToken: token,
	}
	for _, c := range change {
		c(req)
	}
	return req
}

func kid(t *testing.T, response *authv1.IssueTokenResponse) string {
	t.Helper()
	parsed, err := jwt.ParseSigned(response.GetAccessToken(), []jose.SignatureAlgorithm{jose.EdDSA})
	require.NoError(t, err)
	return parsed.Headers[0].KeyID
}

func assertOAuth(t *testing.T, err error, status int, name string) {
	t.Helper()
	require.Error(t, err)
	f := fault.FromError(err)
	assert.Equal(t, status, f.Status)
	assert.Equal(t, name, f.OAuth)
}
