package user_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
	"github.com/rotaloom/rotaloom/services/auth/internal/user"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestLockoutBeginsAndEndsInTime(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	present := clock.NewFake(start)
	h := user.New(user.Deps{Pool: pool, Clock: present, Revoked: revoked.NewStore(pool, present, pgtest.Log(t))})
	ctx := tenant.With(t.Context(), 1)
	_, err := pool.Exec(tenant.With(t.Context(), 1), `INSERT INTO tenant (id, name) VALUES (1, 'one') ON CONFLICT DO NOTHING`)
	require.NoError(t, err)
	_, err = pool.Exec(ctx, `INSERT INTO client (tenant_id, client_id, secret_hash) VALUES (1, 'c', '')`)
	require.NoError(t, err)
	_, err = pool.Exec(ctx, `INSERT INTO app_user (tenant_id, person_id, username, username_key, password_hash, access_profile) VALUES (1, 7, 'ada', 'ada', 'x', ''), (1, 8, 'ben', 'ben', 'x', '')`)
	require.NoError(t, err)
	logIn := func() {
		_, err := pool.Exec(ctx, `INSERT INTO token_family (tenant_id, sid, user_id, client_id, refresh_hash, created_at, expires_at, access_until)
			SELECT 1, username, id, 'c', sha256(username::bytea), $1, $2, $2 FROM app_user WHERE tenant_id = 1 ON CONFLICT DO NOTHING`, start, start.AddDate(1, 0, 0))
		require.NoError(t, err)
	}
	logIn()
	lock := func(version int64, from, to time.Time) {
		t.Helper()
		_, err := h.LockOutUsers(ctx, &authv1.LockOutUsersRequest{Users: []*authv1.UserLockout{{
			PersonId: 7, Version: version, Periods: []*authv1.LockoutPeriod{{From: from.Unix(), To: to.Unix()}},
		}}})
		require.NoError(t, err)
	}
	state := func() (locked, loggedIn bool) {
		require.NoError(t, pool.QueryRow(ctx, `SELECT u.locked_out, EXISTS (SELECT FROM token_family f WHERE f.tenant_id = 1 AND f.user_id = u.id)
			AND NOT EXISTS (SELECT FROM revocation r WHERE r.tenant_id = 1 AND r.key = 's.ada')
			FROM app_user u WHERE u.tenant_id = 1 AND u.person_id = 7`).Scan(&locked, &loggedIn))
		return locked, loggedIn
	}
	sweep := func(want int) {
		t.Helper()
		n, err := h.SweepLockouts(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	ends, begins := start.AddDate(0, 0, 20), start.AddDate(0, 0, 10)
	lock(3, begins, ends)
	lock(2, start, ends) // Older than the stored version.
	locked, loggedIn := state()
	assert.Equal(t, []bool{false, true}, []bool{locked, loggedIn}, "the time has not come")

	present.Set(begins.Add(-time.Second))
	sweep(0)
	present.Set(begins)
	sweep(1)
	locked, loggedIn = state()
	assert.Equal(t, []bool{true, false}, []bool{locked, loggedIn}, "the tokens ended")
	sweep(0)
	var others int
	require.NoError(t, pool.QueryRow(ctx, `SELECT count(*) FROM token_family WHERE tenant_id = 1 AND sid = 'ben'`).Scan(&others))
	assert.Equal(t, 1, others, "somebody else stays logged in")

	present.Set(ends)
	sweep(1)
	locked, _ = state()
	assert.False(t, locked, "it is over")
	lock(4, start, ends.AddDate(1, 0, 0))
	locked, _ = state()
	assert.True(t, locked, "what holds now holds at once")
}
