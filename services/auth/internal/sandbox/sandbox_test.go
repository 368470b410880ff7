package sandbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/tenantclock"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
	"github.com/rotaloom/rotaloom/services/auth/internal/sandbox"
	"github.com/rotaloom/rotaloom/services/auth/internal/user"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a sandbox, tenant 7, with users for the persons 11 to 13. Tenant 8 is not a sandbox.
type fixture struct {
	pool    *pg.Pool
	clock   *clock.Fake
	clocks  *tenantclock.Clocks
	users   *user.Handler
	handler *sandbox.Handler
	ctx     context.Context
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{pool: pooltest.New(t), clock: clock.NewFake(start), ctx: tenant.With(t.Context(), 7)}
	f.clocks = tenantclock.New(sandbox.Ask(f.pool))
	f.users = user.New(user.Deps{Pool: f.pool, Clock: f.clock, Clocks: f.clocks, Revoked: revoked.NewStore(f.pool, f.clock, pgtest.Log(t))})
	f.handler = sandbox.New(f.pool, f.clock, f.users)
	f.exec(t, `INSERT INTO tenant (id, name, host, sandbox) VALUES (7, 'seven', 'seven.example', true)`)
	f.exec(t, `INSERT INTO client (tenant_id, client_id, secret_hash) VALUES (7, 'c', '')`)
	f.exec(t, `INSERT INTO app_user (tenant_id, person_id, username, username_key, password_hash, access_profile)
		SELECT 7, n, 'user' || n, 'user' || n, 'x', '' FROM generate_series(11, 13) n`)
	f.exec(t, `INSERT INTO token_family (tenant_id, sid, user_id, client_id, refresh_hash, created_at, expires_at, access_until)
		SELECT 7, username, id, 'c', sha256(username::bytea), $1, $2, $2 FROM app_user WHERE tenant_id = 7`, start, start.AddDate(1, 0, 0))
	_, err := f.pool.Exec(tenant.With(t.Context(), 8), `INSERT INTO tenant (id, name, host) VALUES (8, 'eight', 'eight.example')`)
	require.NoError(t, err)
	return f
}

func (f *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := f.pool.Exec(f.ctx, sql, args...)
	require.NoError(t, err)
}

// lockOut locks out a person from one day up to another, counted from the start.
func (f *fixture) lockOut(t *testing.T, person int64, from, to int) {
	t.Helper()
	ctx, err := f.clocks.In(f.ctx)
	require.NoError(t, err)
	_, err = f.users.LockOutUsers(ctx, &authv1.LockOutUsersRequest{Users: []*authv1.UserLockout{{
		PersonId: person, Version: 1,
		Periods: []*authv1.LockoutPeriod{{From: start.AddDate(0, 0, from).Unix(), To: start.AddDate(0, 0, to).Unix()}},
	}}})
	require.NoError(t, err)
}

// lockedOut returns the persons whose users are locked out, and the keys of the revoked sessions.
func (f *fixture) lockedOut(t *testing.T) (locked []int64, revoked []string) {
	t.Helper()
	locked, err := pg.Collect(f.ctx, f.pool, pgx.RowTo[int64], `SELECT person_id FROM app_user WHERE tenant_id = 7 AND locked_out ORDER BY 1`)
	require.NoError(t, err)
	revoked, err = pg.Collect(f.ctx, f.pool, pgx.RowTo[string], `SELECT key FROM revocation WHERE tenant_id = 7 AND key LIKE 's.user%' ORDER BY 1`)
	require.NoError(t, err)
	return locked, revoked
}

func TestDueWorkIsDoneInItsOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.lockOut(t, 11, 200, 1000)
	f.lockOut(t, 12, 100, 1000)
	f.lockOut(t, 13, 50, 60)

	done, err := f.handler.AdvanceTenantClock(f.ctx, &authv1.AdvanceTenantClockRequest{Advance: "P1Y"})
	require.NoError(t, err)
	var order []string
	for _, w := range done.GetWork() {
		what := " may log in"
		if w.GetLockedOut() {
			what = " is locked out"
		}
		order = append(order, time.UnixMicro(w.GetDueAt()).UTC().Format(time.DateOnly)+" "+strings.Repeat("I", int(w.GetPersonId()-10))+what)
	}
	assert.Equal(t, []string{"2026-04-20 III is locked out", "2026-04-30 III may log in", "2026-06-09 II is locked out", "2026-09-17 I is locked out"}, order)
	assert.EqualValues(t, 4, done.GetWorkCount())
	assert.Equal(t, (365 * 24 * time.Hour).Microseconds(), done.GetClock().GetAhead())
	locked, revoked := f.lockedOut(t)
	assert.Equal(t, []int64{11, 12}, locked)
	assert.Equal(t, []string{"s.user11", "s.user12", "s.user13"}, revoked, "also the tokens of a lockout that began and ended in between")

	again, err := f.handler.AdvanceTenantClock(f.ctx, &authv1.AdvanceTenantClockRequest{DateTime: "2027-03-01T12:00:00Z"})
	require.NoError(t, err)
	assert.Zero(t, again.GetWorkCount(), "work is done once")
}

func TestTheClockOfASandboxRunsOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.handler.AdvanceTenantClock(f.ctx, &authv1.AdvanceTenantClockRequest{Advance: "P100D"})
	require.NoError(t, err)
	f.lockOut(t, 11, 101, 1000)
	f.lockOut(t, 12, 100, 1000)
	locked, _ := f.lockedOut(t)
	assert.Equal(t, []int64{12}, locked, "a lockout that holds on its clock begins at once")

	f.clock.Advance(23 * time.Hour)
	n, err := f.users.SweepLockouts(t.Context())
	require.NoError(t, err)
	assert.Zero(t, n)
	f.clock.Advance(time.Hour)
	n, err = f.users.SweepLockouts(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	locked, _ = f.lockedOut(t)
	assert.Equal(t, []int64{11, 12}, locked)
	found, err := f.handler.GetTenantClock(f.ctx, &authv1.GetTenantClockRequest{})
	require.NoError(t, err)
	assert.True(t, found.GetKnown() && found.GetSandbox())
	assert.Equal(t, start.AddDate(0, 0, 101).UnixMicro(), found.GetRealTime()+found.GetAhead())
}

func TestAClockDoesNotAdvanceEverywhere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.handler.AdvanceTenantClock(f.ctx, &authv1.AdvanceTenantClockRequest{DateTime: "2036-03-01T12:00:00Z"})
	require.NoError(t, err, "ten years")
	for name, c := range map[string]struct {
		tenant int64
		req    *authv1.AdvanceTenantClockRequest
		status int
		code   string
	}{
		"back":                              {7, &authv1.AdvanceTenantClockRequest{DateTime: "2036-03-01T11:59:59Z"}, 409, sandbox.CodeBackwards},
		"more than ten years":               {7, &authv1.AdvanceTenantClockRequest{Advance: "PT1S"}, 400, sandbox.CodeTooFar},
		"by the longest time":               {7, &authv1.AdvanceTenantClockRequest{Advance: "P999999Y999999M999999W999999DT999999H9999999M999999999S"}, 400, sandbox.CodeTooFar},
		"to a time and by a duration":       {7, &authv1.AdvanceTenantClockRequest{DateTime: "2036-03-01T13:00:00Z", Advance: "P1D"}, 400, sandbox.CodeInvalid},
		"neither":                           {7, &authv1.AdvanceTenantClockRequest{}, 400, sandbox.CodeInvalid},
		"to a time without an offset":       {7, &authv1.AdvanceTenantClockRequest{DateTime: "2036-03-01T13:00:00"}, 400, fault.CodeDate},
		"in a tenant that is not a sandbox": {8, &authv1.AdvanceTenantClockRequest{Advance: "P1D"}, 404, tenantclock.CodeNoSandbox},
		"in a tenant that does not exist":   {9, &authv1.AdvanceTenantClockRequest{Advance: "P1D"}, 404, tenantclock.CodeNoSandbox},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.handler.AdvanceTenantClock(tenant.With(t.Context(), c.tenant), c.req)
			require.Error(t, err)
			assert.Equal(t, c.status, fault.FromError(err).Status)
			assert.Equal(t, c.code, fault.FromError(err).Code)
		})
	}
	found, err := f.handler.GetTenantClock(f.ctx, &authv1.GetTenantClockRequest{})
	require.NoError(t, err)
	assert.Equal(t, start.AddDate(10, 0, 0).Sub(start).Microseconds(), found.GetAhead(), "refusals change nothing")
}

// A tenant with real data must never get a clock, whichever program writes to the database.
func TestTheDatabaseKeepsTheKindOfATenant(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, c := range map[string]struct {
		tenant int64
		sql    string
	}{
		"a tenant becomes a sandbox":      {8, `UPDATE tenant SET sandbox = true WHERE id = 8`},
		"a tenant gets a clock":           {8, `UPDATE tenant SET clock_ahead = '1 day' WHERE id = 8`},
		"a sandbox gets real data":        {7, `UPDATE tenant SET sandbox = false WHERE id = 7`},
		"a clock behind":                  {7, `UPDATE tenant SET clock_ahead = '-1 day' WHERE id = 7`},
		"a tenant with a clock is stored": {9, `INSERT INTO tenant (id, name, host, clock_ahead) VALUES (9, 'nine', 'nine.example', '1 day')`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.pool.Exec(tenant.With(t.Context(), c.tenant), c.sql)
			assert.ErrorContains(t, err, "23514", "a violated check")
		})
	}
}
