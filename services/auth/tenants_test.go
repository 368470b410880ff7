package auth_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth"
)

func TestTenantsAreMadeAndSwitched(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	made, err := b.service.CreateTenant(t.Context(), auth.NewTenant{Name: "Two", Host: "Two.example", Username: "boss", ClientID: "c2"})
	require.NoError(t, err)
	at := metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-host", "two.example:8443")
	grant := func(r *authv1.IssueTokenRequest) {
		r.Username, r.Password = "boss", made.Password.Reveal()
		r.ClientId, r.ClientSecret = "c2", made.ClientSecret.Reveal()
	}
	login := func() (*authv1.IssueTokenResponse, error) { return b.tokens.IssueToken(at, passwordGrant(grant)) }
	tokens, err := login()
	require.NoError(t, err)
	p, err := b.verifier.Verify(t.Context(), tokens.GetAccessToken())
	require.NoError(t, err)
	assert.Equal(t, made.ID, p.Tenant)
	assert.NotEmpty(t, p.Permissions)
	_, err = b.tokens.IssueToken(t.Context(), passwordGrant(grant))
	assertOAuth(t, err, 401, "invalid_client")
	mine := b.loginAs(t, adminName, adminPassword)

	require.NoError(t, b.service.DisableTenant(t.Context(), made.ID))
	assert.True(t, b.isRevoked(t, tokens.GetAccessToken()), "its tokens stop")
	_, err = login()
	assertOAuth(t, err, 401, "invalid_client")
	_, err = b.tokens.IssueToken(at, refreshGrant(tokens.GetRefreshToken(), grant))
	assertOAuth(t, err, 401, "invalid_client")
	assert.False(t, b.isRevoked(t, mine.GetAccessToken()), "others go on")

	var out bytes.Buffer
	require.NoError(t, (&auth.ListTenantsCommand{}).Operate(t.Context(), b.service, &out))
	assert.Regexp(t, `1 +\(all others\) +enabled +real time +Default\n2 +two.example +disabled since 2026-03-01T12:00:00Z +real time +Two\n`, out.String())

	require.NoError(t, b.service.EnableTenant(t.Context(), made.ID))
	_, err = login()
	require.NoError(t, err)
	assert.True(t, b.isRevoked(t, tokens.GetAccessToken()), "what ended stays ended")
	assert.ErrorContains(t, b.service.DisableTenant(t.Context(), 99), "no such tenant")
}

func TestSandboxesAreListedWithTheirClocks(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	var out bytes.Buffer
	create := &auth.CreateTenantCommand{Name: "Tests", Host: "tests.example", Username: "boss", ClientID: "c2", Sandbox: true}
	require.NoError(t, create.Operate(t.Context(), b.service, &out))
	assert.Contains(t, out.String(), "\nsandbox: true\n")
	clocks := authv1.NewTenantClockServiceClient(b.local.Conn("platform", nil))
	_, err := clocks.AdvanceTenantClock(tenant.With(t.Context(), 2), &authv1.AdvanceTenantClockRequest{Advance: "P2D"})
	require.NoError(t, err)

	out.Reset()
	require.NoError(t, (&auth.ListTenantsCommand{}).Operate(t.Context(), b.service, &out))
	assert.Regexp(t, `(?m)^2 +tests.example +enabled +sandbox at 2026-03-03T12:00:00Z +Tests$`, out.String())
	out.Reset()
	list := &auth.ListTenantsCommand{}
	list.Format = "json"
	require.NoError(t, list.Operate(t.Context(), b.service, &out))
	assert.JSONEq(t, `[{"tenant": 1, "name": "Default", "sandbox": false},
		{"tenant": 2, "name": "Tests", "host": "tests.example", "sandbox": true, "dateTime": "2026-03-03T12:00:00Z"}]`, out.String())
}

func TestTenantsNeedNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	good := auth.NewTenant{Name: "Two", Host: "two.example", Username: "boss", ClientID: "c2"}
	_, err := b.service.CreateTenant(t.Context(), good)
	require.NoError(t, err)
	for name, change := range map[string]func(*auth.NewTenant){
		"the host of another":   func(n *auth.NewTenant) { n.Host = "TWO.example" },
		"no host":               func(n *auth.NewTenant) { n.Host = "" },
		"a port":                func(n *auth.NewTenant) { n.Host = "three.example:8443" },
		"no name":               func(n *auth.NewTenant) { n.Name, n.Host = " ", "three.example" },
		"a client with a slash": func(n *auth.NewTenant) { n.ClientID, n.Host = "a/b", "three.example" },
		"no administrator":      func(n *auth.NewTenant) { n.Username, n.Host = "", "three.example" },
	} {
		t.Run(name, func(t *testing.T) {
			n := good
			change(&n)
			_, err := b.service.CreateTenant(t.Context(), n)
			assert.Error(t, err, name)
		})
	}
	all, err := b.service.ListTenants(t.Context())
	require.NoError(t, err)
	assert.Len(t, all, 2)
}

func TestTokensOfAClientsOwnWorkEndWithWhatTheyRestOn(t *testing.T) {
	t.Parallel()
	b, profiles, clients, admin := newAccessBenchWith(t, auth.Config{ClientCredentials: true})
	_, err := profiles.CreateAccessProfile(admin, &authv1.AccessProfile{Name: "Robot", Permissions: []string{"commons.person.*"}})
	require.NoError(t, err)
	_, err = profiles.CreateAccessProfile(admin, &authv1.AccessProfile{Name: "Idle"})
	require.NoError(t, err)
	robot := &authv1.Client{ClientGrant: proto.Bool(true), AccessProfile: "Robot"}
	made, err := clients.CreateClient(admin, &authv1.Client{ClientId: "robot", ClientGrant: proto.Bool(true), AccessProfile: "Robot"})
	require.NoError(t, err)
	secret := made.GetClientSecret()
	token := func() string {
		t.Helper()
		response, err := b.tokens.IssueToken(t.Context(), &authv1.IssueTokenRequest{GrantType: "client_credentials", ClientId: "robot", ClientSecret: secret})
		require.NoError(t, err)
		return response.GetAccessToken()
	}
	update := func(c *authv1.Client) func() error {
		return func() error {
			_, err := clients.UpdateClient(admin, &authv1.UpdateClientRequest{ClientId: "robot", Client: c})
			return err
		}
	}
	permits := func(permissions ...string) func() error {
		return func() error {
			_, err := profiles.UpdateAccessProfile(admin, &authv1.UpdateAccessProfileRequest{Name: "Robot", AccessProfile: &authv1.AccessProfile{Permissions: permissions}})
			return err
		}
	}
	for _, step := range []struct {
		name string
		do   func() error
		ends bool
	}{
		{"nothing", update(robot), false},
		{"more is permitted", permits("commons.*"), false},
		{"less is permitted", permits("commons.person.read"), true},
		{"another secret", func() error {
			rotated, err := clients.RotateClientSecret(admin, &authv1.RotateClientSecretRequest{ClientId: "robot"})
			secret = rotated.GetClientSecret()
			return err
		}, true},
		{"another profile", update(&authv1.Client{ClientGrant: proto.Bool(true), AccessProfile: "Idle"}), true},
		{"the profile again", update(robot), true},
		{"the client is removed", func() error {
			_, err := clients.DeleteClient(admin, &authv1.DeleteClientRequest{ClientId: "robot"})
			return err
		}, true},
	} {
		t.Run(step.name, func(t *testing.T) {
			before := token()
			require.False(t, b.isRevoked(t, before), "a new token is good")
			require.NoError(t, step.do(), step.name)
			assert.Equal(t, step.ends, b.isRevoked(t, before), step.name)
		})
	}
}

// A log-in that has read a profile's permissions is repeated if they change before it is stored.
func TestALogInDoesNotOutrunAChangeOfItsProfile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct {
		lock, sql string
		permitted []string
	}{
		"of the profile": {
			`SELECT FROM access_profile WHERE tenant_id = 1 AND name = 'Scheduler' FOR UPDATE`,
			`UPDATE access_profile SET permissions = '{commons.person.read}' WHERE tenant_id = 1 AND name = 'Scheduler'`,
			[]string{"commons.person.read"},
		},
		"of the user": {
			`SELECT FROM app_user WHERE tenant_id = 1 AND username = 'lead' FOR UPDATE`,
			`UPDATE app_user SET access_profile = 'Administrator' WHERE tenant_id = 1 AND username = 'lead'`,
			[]string{"commons.person.read", "commons.person.write", "scheduling.schedule.read"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t) // A fixture of its own, because each change removes the effect of the others.
			b.withUser(t, 21, "lead", "Scheduler")
			ctx := tenant.With(t.Context(), tenant.Default)
			tx, err := b.pool.Begin(ctx)
			require.NoError(t, err)
			defer func() { _ = tx.Rollback(ctx) }() // It has ended when all is well.
			locked, err := tx.Exec(ctx, change.lock)
			require.NoError(t, err)
			require.EqualValues(t, 1, locked.RowsAffected(), "what is to be locked is there")
			responses := make(chan *authv1.IssueTokenResponse, 1)
			go func() {
				response, err := b.tokens.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) { r.Username, r.Password = "lead", "lamp under water" }))
				assert.NoError(t, err)
				responses <- response
			}()
			require.Eventually(t, func() bool { return b.waits(t) }, 20*time.Second, 5*time.Millisecond, "the log-in waits for the change")
			_, err = tx.Exec(ctx, change.sql)
			require.NoError(t, err)
			require.NoError(t, tx.Commit(ctx))
			p, err := b.verifier.Verify(t.Context(), (<-responses).GetAccessToken())
			require.NoError(t, err)
			assert.Equal(t, change.permitted, b.grantedPermissions(p))
		})
	}
}

// waits reports whether a statement on the fixture's database waits for a lock.
func (b *fixture) waits(t *testing.T) (waits bool) {
	err := b.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits)
	require.NoError(t, err)
	return waits
}

func TestUsersWithMorePermissionsCannotBeRemoved(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	_, err := b.pool.Exec(ctx, `INSERT INTO access_profile (tenant_id, name, permissions) VALUES (1, 'Clerk', '{commons.person.write}')`)
	require.NoError(t, err)
	b.withUser(t, 11, "clerk", "Clerk")
	b.withUser(t, 12, "peer", "Clerk")
	b.withUser(t, 13, "boss", "Super")
	clerk := b.loginContext(t, "clerk", "lamp under water")
	remove := func(ctx context.Context, persons ...int64) error {
		_, err := b.users.DeleteUsers(ctx, &authv1.DeleteUsersRequest{PersonIds: persons})
		return err
	}
	err = remove(clerk, 12, 13, 99)
	require.True(t, fault.HasStatus(err, 403), err)
	assert.Equal(t, []int32{1}, fault.FromError(err).Details.GetErrorOffsets())
	b.loginAs(t, "peer", "lamp under water")
	b.loginAs(t, "boss", "lamp under water")
	require.NoError(t, remove(clerk, 12, 99))
	require.NoError(t, remove(ctx, 13), "a service by itself may")
	_, err = b.tokens.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) { r.Username, r.Password = "boss", "lamp under water" }))
	assertOAuth(t, err, 400, "invalid_grant")
}
