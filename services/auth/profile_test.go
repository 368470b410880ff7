package auth_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
)

// loginContext returns a context where commons acts for a logged-in user.
func (b *fixture) loginContext(t *testing.T, name, password string) context.Context {
	t.Helper()
	response, err := b.tokens.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) { r.Username, r.Password = name, password }))
	require.NoError(t, err)
	p, err := b.verifier.Verify(t.Context(), response.GetAccessToken())
	require.NoError(t, err)
	return authn.With(t.Context(), p, response.GetAccessToken())
}

func TestEveryTenantHasTheProfiles(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	created, err := b.service.CreateTenant(t.Context(), auth.NewTenant{Name: "Two", Host: "two.example", Username: "admin", ClientID: "local"})
	require.NoError(t, err)
	for _, id := range []int64{tenant.Default, created.ID} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			var names []string
			require.NoError(t, b.pool.QueryRow(tenant.With(t.Context(), id),
				`SELECT array_agg(name ORDER BY name) FROM access_profile WHERE tenant_id = $1 AND name <> 'Administrator'`, id).Scan(&names))
			assert.Equal(t, []string{"Device", "Employee", "Integration", "Manager", "Payroll", "Recruiter", "Scheduler", "Super", "Timekeeper"}, names)
		})
	}
}

// Tenants that were created by an older version get the profiles when the service starts, once.
func TestTenantsGetProfilesOfNewVersions(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), 2)
	_, err := b.pool.Exec(ctx, `INSERT INTO tenant (id, name, host) VALUES (2, 'Two', 'two.example')`)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, b.service.UpdateAccessProfiles(t.Context()))
		var profiles, events int
		require.NoError(t, b.pool.QueryRow(ctx, `SELECT count(*) FROM access_profile WHERE tenant_id = 2`).Scan(&profiles))
		require.NoError(t, b.pool.QueryRow(ctx, `SELECT count(*) FROM audit_event WHERE operation = 'access-profiles update'`).Scan(&events))
		assert.Equal(t, 10, profiles)
		assert.Equal(t, 1, events)
	}
}

// Each grant of a stock profile covers a permission of the contracts, and payroll clerks may
// run payroll.
func TestStockProfilesGrantPermissions(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	all := policy.NewTable(nil).Permissions()
	rows, err := b.pool.Query(tenant.With(t.Context(), tenant.Default), `SELECT name, permissions FROM access_profile`)
	require.NoError(t, err)
	granted := map[string][]string{}
	var name string
	var grants []string
	_, err = pgx.ForEachRow(rows, []any{&name, &grants}, func() error {
		granted[name] = grants
		return nil
	})
	require.NoError(t, err)
	for name, grants := range granted {
		t.Run(name, func(t *testing.T) {
			for _, grant := range grants {
				assert.NotEmpty(t, profile.Expand([]string{grant}, all), grant)
			}
		})
	}
	assert.Subset(t, profile.Expand(granted["Payroll"], all), []string{
		"timekeeping.payroll.write", "timekeeping.payroll_earning.write", "commons.wage_work_rule.read",
	})
}

func TestCallersCannotGrantPermissionsTheyLack(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	_, err := b.pool.Exec(ctx, `INSERT INTO access_profile (tenant_id, name, permissions) VALUES
		(1, 'Clerk', '{commons.person.write}'), (1, 'All of today', '{commons.*, scheduling.*}')`)
	require.NoError(t, err)
	_, err = b.users.PutUsers(ctx, &authv1.PutUsersRequest{Users: []*authv1.User{
		{PersonId: 11, Username: "clerk", Password: "lamp under water", AccessProfile: "Clerk"},
		{PersonId: 12, Username: "today", Password: "lamp under water", AccessProfile: "All of today"},
		{PersonId: 13, Username: "boss", Password: "lamp under water", AccessProfile: "Super"},
	}})
	require.NoError(t, err, "a service by itself may")

	put := func(ctx context.Context, u *authv1.User) error {
		_, err := b.users.PutUsers(ctx, &authv1.PutUsersRequest{Users: []*authv1.User{{PersonId: 20, Username: "good"}, u}})
		return err
	}
	admin, clerk, today := b.loginContext(t, adminName, adminPassword), b.loginContext(t, "clerk", "lamp under water"), b.loginContext(t, "today", "lamp under water")
	for name, c := range map[string]struct {
		ctx     context.Context
		user    *authv1.User
		refused string
	}{
		"an administrator gives anything":  {admin, &authv1.User{PersonId: 31, Username: "a", AccessProfile: "Administrator"}, ""},
		"a clerk gives their own profile":  {clerk, &authv1.User{PersonId: 32, Username: "b", AccessProfile: "Clerk"}, ""},
		"a clerk makes no employee":        {clerk, &authv1.User{PersonId: 33, Username: "c", AccessProfile: "Employee"}, "commons.person.read"},
		"a clerk makes no administrator":   {clerk, &authv1.User{PersonId: 35, Username: "e", AccessProfile: "Administrator"}, "*"},
		"a clerk makes no scheduler":       {clerk, &authv1.User{PersonId: 36, Username: "f", AccessProfile: "Scheduler"}, "commons.person.read"},
		"a clerk takes no account over":    {clerk, &authv1.User{PersonId: 13, Username: "boss", Password: "lamp under water, mine", AccessProfile: "Clerk"}, "*"},
		"all of today is not all for ever": {today, &authv1.User{PersonId: 37, Username: "g", AccessProfile: "Super"}, "*"},
	} {
		t.Run(name, func(t *testing.T) {
			err := put(c.ctx, c.user)
			if c.refused == "" {
				assert.NoError(t, err, name)
				return
			}
			require.True(t, fault.HasCode(err, fault.CodeNoAccess), "%s: %v", name, err)
			assert.True(t, fault.HasStatus(err, 403), name)
			assert.Contains(t, fault.FromError(err).Message, c.refused+",", name)
		})
	}
	b.loginContext(t, "boss", "lamp under water") // The password has not changed.

	t.Run("a profile that became smaller counts at once, and so does a token that has less", func(t *testing.T) {
		_, err := b.pool.Exec(ctx, `UPDATE access_profile SET permissions = '{commons.person.read}' WHERE name = 'Clerk'`)
		require.NoError(t, err)
		_, err = b.pool.Exec(ctx, `INSERT INTO access_profile (tenant_id, name, permissions) VALUES (1, 'Writer', '{commons.person.write}')`)
		require.NoError(t, err)
		err = put(clerk, &authv1.User{PersonId: 38, Username: "h", AccessProfile: "Writer"})
		assert.True(t, fault.HasCode(err, fault.CodeNoAccess), err)
		err = put(clerk, &authv1.User{PersonId: 38, Username: "h", AccessProfile: "Clerk"})
		assert.True(t, fault.HasCode(err, fault.CodeNoAccess), err)
	})
}
