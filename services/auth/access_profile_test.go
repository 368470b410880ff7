package auth_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth"
)

// withToken returns a context whose calls from the edge carry a token.
func withToken(ctx context.Context, token string) context.Context {
	return authn.With(ctx, &authn.Principal{}, token)
}

// loginAs returns the tokens of a user.
func (b *fixture) loginAs(t *testing.T, name, password string) *authv1.IssueTokenResponse {
	t.Helper()
	response, err := b.tokens.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) { r.Username, r.Password = name, password }))
	require.NoError(t, err)
	return response
}

// withUser stores a user of a profile.
func (b *fixture) withUser(t *testing.T, person int64, name, profile string) {
	t.Helper()
	_, err := b.users.PutUsers(tenant.With(t.Context(), tenant.Default), &authv1.PutUsersRequest{Users: []*authv1.User{
		{PersonId: person, Username: name, Password: "lamp under water", AccessProfile: profile},
	}})
	require.NoError(t, err)
}

// isRevoked reports whether a token was revoked, by the rows themselves.
func (b *fixture) isRevoked(t *testing.T, token string) bool {
	t.Helper()
	_, err := b.verifier.Verify(t.Context(), token)
	return fault.HasCode(err, fault.CodeRevoked)
}

// A fixture that knows the permissions of auth as well.
func newAccessBench(t *testing.T) (*fixture, authv1.AccessProfileServiceClient, authv1.ClientServiceClient, context.Context) {
	t.Helper()
	return newAccessBenchWith(t, auth.Config{})
}

func newAccessBenchWith(t *testing.T, cfg auth.Config) (*fixture, authv1.AccessProfileServiceClient, authv1.ClientServiceClient, context.Context) {
	t.Helper()
	b := createFixture(t, cfg, "auth.access_profile.read", "auth.access_profile.write", "auth.client.read", "auth.client.write",
		"commons.person.read", "commons.person.write", "scheduling.schedule.read")
	admin := withToken(t.Context(), b.loginAs(t, adminName, adminPassword).GetAccessToken())
	return b, authv1.NewAccessProfileServiceClient(b.edge), authv1.NewClientServiceClient(b.edge), admin
}

func TestAccessProfiles(t *testing.T) {
	t.Parallel()
	b, profiles, _, admin := newAccessBench(t)

	made, err := profiles.CreateAccessProfile(admin, &authv1.AccessProfile{Name: "Team lead", Permissions: []string{"*.read"}, RowScope: "group"})
	require.NoError(t, err)
	assert.Equal(t, "GROUP", made.GetRowScope())
	assert.False(t, made.GetBuiltIn())
	got, err := profiles.GetAccessProfile(admin, &authv1.GetAccessProfileRequest{Name: "Team lead"})
	require.NoError(t, err)
	assert.Equal(t, []string{"*.read"}, got.GetPermissions())
	list, err := profiles.ListAccessProfiles(admin, &authv1.ListAccessProfilesRequest{})
	require.NoError(t, err)
	assert.Len(t, list.GetAccessProfiles(), 11)

	b.withUser(t, 21, "lead", "Team lead")
	tokens := b.loginAs(t, "lead", "lamp under water")
	p, err := b.verifier.Verify(t.Context(), tokens.GetAccessToken())
	require.NoError(t, err)
	assert.Equal(t, "group", p.Rows)
	assert.EqualValues(t, 21, p.PersonID)

	update := func(permissions []string, scope string) error {
		_, err := profiles.UpdateAccessProfile(admin, &authv1.UpdateAccessProfileRequest{
			Name: "Team lead", AccessProfile: &authv1.AccessProfile{Permissions: permissions, RowScope: scope},
		})
		return err
	}
	require.NoError(t, update([]string{"*.read", "commons.*"}, "ALL"))
	assert.False(t, b.isRevoked(t, tokens.GetAccessToken()), "nobody lost anything")
	require.NoError(t, update([]string{"*.read"}, "OWN"))
	assert.True(t, b.isRevoked(t, tokens.GetAccessToken()), "whoever loses something logs in again")
	_, err = b.tokens.IssueToken(t.Context(), refreshGrant(tokens.GetRefreshToken()))
	assertOAuth(t, err, 400, "invalid_grant")

	_, err = profiles.DeleteAccessProfile(admin, &authv1.DeleteAccessProfileRequest{Name: "Team lead"})
	assert.True(t, fault.HasStatus(err, http.StatusConflict), "in use: %v", err)
	again := b.loginAs(t, "lead", "lamp under water")
	b.withUser(t, 21, "lead", "Employee")
	assert.True(t, b.isRevoked(t, again.GetAccessToken()), "another profile, another log-in")
	_, err = profiles.DeleteAccessProfile(admin, &authv1.DeleteAccessProfileRequest{Name: "Team lead"})
	require.NoError(t, err)
	_, err = profiles.GetAccessProfile(admin, &authv1.GetAccessProfileRequest{Name: "Team lead"})
	assert.True(t, fault.HasStatus(err, http.StatusNotFound), err)
}

func TestAccessProfilesRefuse(t *testing.T) {
	t.Parallel()
	b, profiles, clients, admin := newAccessBench(t)
	_, err := profiles.CreateAccessProfile(admin, &authv1.AccessProfile{
		Name: "Deputy", Permissions: []string{"auth.*", "commons.*"}, RowScope: "GROUP",
	})
	require.NoError(t, err)
	b.withUser(t, 22, "deputy", "Deputy")
	deputy := withToken(t.Context(), b.loginAs(t, "deputy", "lamp under water").GetAccessToken())
	create := func(ctx context.Context, p *authv1.AccessProfile) error {
		_, err := profiles.CreateAccessProfile(ctx, p)
		return err
	}
	update := func(ctx context.Context, name string, p *authv1.AccessProfile) error {
		_, err := profiles.UpdateAccessProfile(ctx, &authv1.UpdateAccessProfileRequest{Name: name, AccessProfile: p})
		return err
	}
	remove := func(ctx context.Context, name string) error {
		_, err := profiles.DeleteAccessProfile(ctx, &authv1.DeleteAccessProfileRequest{Name: name})
		return err
	}
	client := func(ctx context.Context, profile string) error {
		_, err := clients.CreateClient(ctx, &authv1.Client{AccessProfile: profile})
		return err
	}
	reads := []string{"commons.person.read"}
	require.NoError(t, create(deputy, &authv1.AccessProfile{Name: "Reader", Permissions: reads, RowScope: "GROUP"}))
	for name, c := range map[string]struct {
		err    error
		status int
	}{
		"more than the caller may":      {create(deputy, &authv1.AccessProfile{Name: "X", Permissions: []string{"scheduling.schedule.read"}}), 403},
		"the data of more persons":      {create(deputy, &authv1.AccessProfile{Name: "X", Permissions: reads, RowScope: "ALL"}), 403},
		"one's own profile, wider":      {update(deputy, "Deputy", &authv1.AccessProfile{Permissions: []string{"*"}, RowScope: "GROUP"}), 403},
		"a profile of those above":      {update(deputy, "Integration", &authv1.AccessProfile{Permissions: reads}), 403},
		"a client that works for more":  {client(deputy, "Scheduler"), 403},
		"Super, emptied":                {update(admin, "Super", &authv1.AccessProfile{}), 409},
		"Super, deleted":                {remove(admin, "Super"), 409},
		"a profile everybody starts on": {remove(admin, "Payroll"), 409},
		"a name that is taken":          {create(admin, &authv1.AccessProfile{Name: "Reader"}), 409},
		"no name":                       {create(admin, &authv1.AccessProfile{}), 400},
		"a name with a slash":           {create(admin, &authv1.AccessProfile{Name: "a/b"}), 400},
		"no such permission":            {create(admin, &authv1.AccessProfile{Name: "X", Permissions: []string{"commons.person.raed"}}), 400},
		"no such scope":                 {create(admin, &authv1.AccessProfile{Name: "X", RowScope: "SOME"}), 400},
		"another name":                  {update(admin, "Reader", &authv1.AccessProfile{Name: "Writer"}), 400},
		"nothing to update":             {update(admin, "Nothing", &authv1.AccessProfile{}), 404},
		"nothing to delete":             {remove(admin, "Nothing"), 404},
	} {
		t.Run(name, func(t *testing.T) {
			assert.True(t, fault.HasStatus(c.err, c.status), "%s: %v", name, c.err)
		})
	}
}

// Each user of a request is refused for itself.
func TestRefusedUsersAreNamed(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	_, err := b.pool.Exec(ctx, `INSERT INTO access_profile (tenant_id, name, permissions, row_scope) VALUES
		(1, 'Clerk', '{commons.person.*}', 'group'), (1, 'Far', '{commons.person.*}', 'all')`)
	require.NoError(t, err)
	b.withUser(t, 11, "clerk", "Clerk")
	_, err = b.users.PutUsers(b.loginContext(t, "clerk", "lamp under water"), &authv1.PutUsersRequest{Users: []*authv1.User{
		{PersonId: 31, Username: "a", AccessProfile: "Super"},
		{PersonId: 32, Username: "b", AccessProfile: "Clerk"},
		{PersonId: 33, Username: "c", AccessProfile: "Far"},
	}})
	require.True(t, fault.HasStatus(err, http.StatusForbidden), err)
	details := fault.FromError(err).Details
	assert.Equal(t, []int32{0, 2}, details.GetErrorOffsets())
	require.Len(t, details.GetResults(), 3)
	assert.Contains(t, details.GetResults()[0].GetError().GetMessage(), "Super")
	assert.Nil(t, details.GetResults()[1].GetError())
	assert.Contains(t, details.GetResults()[2].GetError().GetMessage(), "the data of more persons")
}
