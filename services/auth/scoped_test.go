package auth_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth"
	"github.com/rotaloom/rotaloom/services/auth/internal/federation"
)

// scopedContext returns a context with a token of the administrator that a client got which
// is narrowed to scopes.
func scopedContext(t *testing.T, b *fixture, clients authv1.ClientServiceClient, admin context.Context, id string, scopes ...string) context.Context {
	t.Helper()
	made, err := clients.CreateClient(admin, &authv1.Client{ClientId: id, Scopes: scopes})
	require.NoError(t, err)
	response, err := b.tokens.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) {
		r.ClientId, r.ClientSecret = id, made.GetClientSecret()
	}))
	require.NoError(t, err)
	return withToken(t.Context(), response.GetAccessToken())
}

// A token that is narrowed by a client's scopes makes no wider tokens.
func TestNarrowTokensMakeNoWiderClients(t *testing.T) {
	t.Parallel()
	b, _, clients, admin := newAccessBench(t)
	narrow := scopedContext(t, b, clients, admin, "keeper", "auth.client.*")
	_, err := clients.CreateClient(admin, &authv1.Client{ClientId: "wide"})
	require.NoError(t, err)
	for name, do := range map[string]func() error{
		"its own scopes go": func() error {
			_, err := clients.UpdateClient(narrow, &authv1.UpdateClientRequest{ClientId: "keeper", Client: &authv1.Client{}})
			return err
		},
		"its own scopes are widened": func() error {
			_, err := clients.UpdateClient(narrow, &authv1.UpdateClientRequest{ClientId: "keeper", Client: &authv1.Client{Scopes: []string{"auth.client.*", "commons"}}})
			return err
		},
		"a client without scopes": func() error {
			_, err := clients.CreateClient(narrow, &authv1.Client{ClientId: "a"})
			return err
		},
		"a client with everything": func() error {
			_, err := clients.CreateClient(narrow, &authv1.Client{ClientId: "a", Scopes: []string{"*"}})
			return err
		},
		"a client with other scopes": func() error {
			_, err := clients.CreateClient(narrow, &authv1.Client{ClientId: "a", Scopes: []string{"commons.person.read"}})
			return err
		},
		"the secret of a wider one": func() error {
			_, err := clients.RotateClientSecret(narrow, &authv1.RotateClientSecretRequest{ClientId: "wide"})
			return err
		},
		"a wider one is deleted": func() error {
			_, err := clients.DeleteClient(narrow, &authv1.DeleteClientRequest{ClientId: "wide"})
			return err
		},
		"a wider one is narrowed": func() error {
			_, err := clients.UpdateClient(narrow, &authv1.UpdateClientRequest{ClientId: "wide", Client: &authv1.Client{Scopes: []string{"auth.client.read"}}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.True(t, fault.HasCode(do(), fault.CodeNoAccess), "%s: %v", name, do())
		})
	}
	_, err = clients.CreateClient(narrow, &authv1.Client{ClientId: "b", Scopes: []string{"auth.client.read"}})
	assert.NoError(t, err, "what is within is made")
	_, err = clients.UpdateClient(narrow, &authv1.UpdateClientRequest{ClientId: "keeper", Client: &authv1.Client{Scopes: []string{"auth.client.*"}}})
	assert.NoError(t, err)
	_, err = clients.CreateClient(admin, &authv1.Client{ClientId: "c", AccessProfile: "None"})
	assert.True(t, fault.HasCode(err, "WRL-40005"), err)
}

func TestNarrowTokensMakeNoIdentityProvider(t *testing.T) {
	t.Parallel()
	b := createFixture(t, auth.Config{}, "auth.client.write", "auth.identity_provider.read", "auth.identity_provider.write", "commons.person.read")
	clients := authv1.NewClientServiceClient(b.edge)
	admin := withToken(t.Context(), b.login(t).GetAccessToken())
	providers := authv1.NewIdentityProviderServiceClient(b.edge)
	narrow := scopedContext(t, b, clients, admin, "idp", "auth.identity_provider.*")
	add := func(ctx context.Context, profile string) error {
		_, err := providers.CreateIdentityProvider(ctx, &authv1.IdentityProvider{
			Name: "x", Issuer: "https://id.example.org", Audience: "rotaloom", ProfileClaim: "groups",
			Profiles: []*authv1.ProfileMapping{{Value: "staff", AccessProfile: profile}},
		})
		return err
	}
	assert.True(t, fault.HasCode(add(narrow, "Employee"), fault.CodeNoAccess), "%v", add(narrow, "Employee"))
	assert.True(t, fault.HasCode(add(admin, "None"), "WRL-40005"))
	require.NoError(t, add(admin, "Employee"))
}

// adminContext returns a context with a token of a tenant's first administrator.
func adminContext(t *testing.T, b *fixture, made auth.CreatedTenant) context.Context {
	t.Helper()
	response, err := b.tokens.IssueToken(metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-host", made.Host), passwordGrant(func(r *authv1.IssueTokenRequest) {
		r.Username, r.Password, r.ClientId, r.ClientSecret = made.Username, made.Password.Reveal(), made.ClientID, made.ClientSecret.Reveal()
	}))
	require.NoError(t, err)
	return withToken(t.Context(), response.GetAccessToken())
}

// One tenant does not switch off another's provider by naming its issuer with a second
// audience, unless an operator lets several have the issuer.
func TestAnIssuerIsOfOneTenant(t *testing.T) {
	t.Parallel()
	const shared = "https://shared.example.org"
	b := createFixture(t, auth.Config{Federation: federation.Config{SharedIssuers: []string{shared}}},
		"auth.identity_provider.read", "auth.identity_provider.write")
	providers := authv1.NewIdentityProviderServiceClient(b.edge)
	one := withToken(t.Context(), b.login(t).GetAccessToken())
	made, err := b.service.CreateTenant(t.Context(), auth.NewTenant{Name: "Two", Host: "two.example", Username: "admin", ClientID: "local"})
	require.NoError(t, err)
	two := adminContext(t, b, made)
	add := func(ctx context.Context, issuer, audience string) (*authv1.IdentityProvider, error) {
		return providers.CreateIdentityProvider(ctx, &authv1.IdentityProvider{Name: audience, Issuer: issuer, Audience: audience})
	}
	mine, err := add(one, "https://id.example.org", "first")
	require.NoError(t, err)
	_, err = add(one, "https://id.example.org", "second")
	require.NoError(t, err, "one tenant may name it twice")
	_, err = add(two, "https://id.example.org", "third")
	assert.True(t, fault.HasStatus(err, 409), err)
	theirs, err := add(two, "https://other.example.org", "third")
	require.NoError(t, err)
	_, err = providers.UpdateIdentityProvider(two, &authv1.UpdateIdentityProviderRequest{Id: theirs.GetId(), Provider: &authv1.IdentityProvider{
		Name: "third", Issuer: "https://id.example.org", Audience: "third",
	}})
	assert.True(t, fault.HasStatus(err, 409), err)
	_, err = providers.UpdateIdentityProvider(one, &authv1.UpdateIdentityProviderRequest{Id: mine.GetId(), Provider: &authv1.IdentityProvider{
		Name: "renamed", Issuer: "https://id.example.org", Audience: "first",
	}})
	assert.NoError(t, err)
	for i, ctx := range []context.Context{one, two} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			p, err := b.verifier.Verify(ctx, authn.Token(ctx))
			require.NoError(t, err)
			_, err = add(ctx, shared, "audience of "+p.Client+map[int64]string{tenant.Default: " one"}[p.Tenant])
			assert.NoError(t, err, "an operator says so")
		})
	}
}
