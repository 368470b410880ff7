package auth_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth"
	"github.com/rotaloom/rotaloom/services/auth/internal/loginlimit"
)

// adaSecret is the initial password of a user, and newSecret the next one.
const adaSecret, newSecret = "lamp under water", "lamp above water"

func (b *fixture) putUsers(ctx context.Context, users ...*authv1.User) error {
	_, err := b.users.PutUsers(ctx, &authv1.PutUsersRequest{Users: users})
	return err
}

// newTokenService is the token service of another process with the same database.
func newTokenService(t *testing.T, service *auth.Service, b *fixture) authv1.TokenServiceClient {
	t.Helper()
	local := rpctest.LocalWith(t, tokens, b.service, b.clock)
	service.Register(local)
	return authv1.NewTokenServiceClient(local)
}

func TestAPasswordChangeEndsLogIns(t *testing.T) {
	t.Parallel()
	ada := func(password string) *authv1.User {
		return &authv1.User{PersonId: 11, Username: "ada", Password: password, AccessProfile: "Employee"}
	}
	for name, c := range map[string]struct {
		password string
		own      bool // ada herself asks for it, by one of her log-ins
		ended    bool
	}{
		"by somebody else":                 {newSecret, false, true},
		"by herself":                       {newSecret, true, true},
		"to what it is":                    {adaSecret, false, false},
		"a change that has no password":    {"", false, false},
		"her own that is no change at all": {"", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
			ctx := tenant.With(t.Context(), tenant.Default)
			require.NoError(t, b.putUsers(ctx, ada(adaSecret), &authv1.User{PersonId: 12, Username: "ben", Password: adaSecret}))
			this, that, bens := b.loginAs(t, "ada", adaSecret), b.loginAs(t, "ada", adaSecret), b.loginAs(t, "ben", adaSecret)
			if c.own {
				p, err := b.verifier.Verify(t.Context(), this.GetAccessToken())
				require.NoError(t, err)
				ctx = authn.With(t.Context(), p, this.GetAccessToken())
			}
			require.NoError(t, b.putUsers(ctx, ada(c.password)))
			assert.Equal(t, !c.ended, b.good(t, that.GetAccessToken()), "another log-in")
			_, err := b.tokens.IssueToken(t.Context(), refreshGrant(that.GetRefreshToken()))
			assert.Equal(t, !c.ended, err == nil, "its refresh: %v", err)
			assert.Equal(t, !c.ended || c.own, b.good(t, this.GetAccessToken()), "the one that it was asked for by")
			_, err = b.tokens.IssueToken(t.Context(), refreshGrant(this.GetRefreshToken()))
			assert.Equal(t, !c.ended || c.own, err == nil, "its refresh: %v", err)
			assert.True(t, b.good(t, bens.GetAccessToken()), "somebody else's")
			if c.password == newSecret {
				assertOAuth(t, b.try(t.Context(), "a", "ada", adaSecret), 400, "invalid_grant")
				assert.NoError(t, b.try(t.Context(), "a", "ada", newSecret))
			}
		})
	}
}

func TestPasswordsAndProfilesAreChecked(t *testing.T) {
	t.Parallel()
	b := createFixture(t, auth.Config{}, "commons.person.read", "auth.client.write")
	ctx := tenant.With(t.Context(), tenant.Default)
	_, err := b.pool.Exec(ctx, `INSERT INTO access_profile (tenant_id, name, permissions) VALUES (1, 'Gate', '{auth.client.*}'), (1, 'Clerk', '{commons.*}')`)
	require.NoError(t, err)
	require.NoError(t, b.putUsers(ctx, &authv1.User{PersonId: 1, Username: "short", Password: "kzqwvx7m", AccessProfile: "Clerk"},
		&authv1.User{PersonId: 2, Username: "long", Password: adaSecret, AccessProfile: "Clerk"}))
	for name, c := range map[string]struct {
		user *authv1.User
		code string
	}{
		"one character":                           {&authv1.User{PersonId: 11, Username: "a", Password: "a", AccessProfile: "Super"}, "WRL-40002"},
		"eight of an administrator":               {&authv1.User{PersonId: 11, Username: "a", Password: "kzqwvx7m", AccessProfile: "Super"}, "WRL-40002"},
		"eight of who keeps clients":              {&authv1.User{PersonId: 11, Username: "a", Password: "kzqwvx7m", AccessProfile: "Gate"}, "WRL-40002"},
		"eight of a clerk":                        {&authv1.User{PersonId: 12, Username: "b", Password: "kzqwvx7m", AccessProfile: "Clerk"}, ""},
		"fifteen of an administrator":             {&authv1.User{PersonId: 13, Username: "c", Password: adaSecret, AccessProfile: "Super"}, ""},
		"a common one":                            {&authv1.User{PersonId: 11, Username: "a", Password: "Password123", AccessProfile: "Clerk"}, "WRL-40003"},
		"the user's name":                         {&authv1.User{PersonId: 11, Username: "Ada.Okafor", Password: "ada.okafor1", AccessProfile: "Clerk"}, "WRL-40003"},
		"a control character":                     {&authv1.User{PersonId: 11, Username: "a", Password: "kzqwvx\x007m", AccessProfile: "Clerk"}, "WRL-40004"},
		"a profile that nobody made":              {&authv1.User{PersonId: 11, Username: "a", Password: adaSecret, AccessProfile: "None"}, "WRL-40005"},
		"no profile":                              {&authv1.User{PersonId: 14, Username: "d", Password: adaSecret}, ""},
		"a short one becomes an administrator's":  {&authv1.User{PersonId: 1, Username: "short", AccessProfile: "Super"}, "WRL-40002"},
		"a long one becomes an administrator's":   {&authv1.User{PersonId: 2, Username: "long", AccessProfile: "Super"}, ""},
		"an administrator keeps their short past": {&authv1.User{PersonId: 15, Username: "e", AccessProfile: "Super"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := b.putUsers(ctx, &authv1.User{PersonId: 90, Username: "good"}, c.user)
			if c.code == "" {
				assert.NoError(t, err, name)
				return
			}
			require.True(t, fault.HasCode(err, c.code), "%s: %v", name, err)
			assert.True(t, fault.HasStatus(err, 400), name)
			assert.Equal(t, []int32{1}, fault.FromError(err).Details.GetErrorOffsets(), name)
			assert.Equal(t, c.code, fault.FromError(err).Details.GetResults()[1].GetError().GetErrorCode(), name)
		})
	}
	_, err = b.pool.Exec(ctx, `UPDATE access_profile SET name = 'Gone' WHERE name = 'Clerk'`)
	require.NoError(t, err)
	assert.NoError(t, b.putUsers(ctx, &authv1.User{PersonId: 12, Username: "b", AccessProfile: "Clerk"}), "whoever has it keeps it")

	weak := bootstrap()
	weak.Username, weak.Password = "second", "kzqwvx7m"
	assert.ErrorContains(t, b.service.EnsureBootstrap(t.Context(), weak), "at least 15 characters")
}

func TestNamesThatLookAlikeAreTheSame(t *testing.T) {
	t.Parallel()
	b := newFixtureWith(t, strict)
	ctx := tenant.With(t.Context(), tenant.Default)
	require.NoError(t, b.putUsers(ctx, &authv1.User{PersonId: 11, Username: "Victim", Password: adaSecret}))
	for _, name := range []string{"victim ", " VICTIM", "ｖｉｃｔｉｍ", "Ⅴictim", "victim\u3000", "vic\u200btim"} {
		t.Run(name, func(t *testing.T) {
			err := b.putUsers(ctx, &authv1.User{PersonId: 12, Username: name, Password: newSecret})
			assert.True(t, fault.HasStatus(err, 409), "%q: %v", name, err)
			assert.NoError(t, b.try(t.Context(), "a", name, adaSecret), "%q", name)
		})
	}
	t.Run("control character", func(t *testing.T) {
		err := b.putUsers(ctx, &authv1.User{PersonId: 12, Username: "vic\ntim", Password: newSecret})
		assert.True(t, fault.HasStatus(err, 400), "%v", err)
		assertOAuth(t, b.try(t.Context(), "b", "vic\ntim", newSecret), 400, "invalid_grant")
	})
	// The mark that changes the direction of writing is removed, so that the two names cannot be confused.
	t.Run("other direction", func(t *testing.T) {
		require.NoError(t, b.putUsers(ctx, &authv1.User{PersonId: 12, Username: "\u202emitciv", Password: newSecret}))
		assert.NoError(t, b.try(t.Context(), "b", "mitciv", newSecret))
	})
	// However the name is written, its failures are counted together.
	for _, name := range []string{"victim", "ＶICTIM", "victim  "} {
		assertOAuth(t, b.try(t.Context(), "c", name, "x"), 400, "invalid_grant")
	}
	assertSlowDown(t, b.try(t.Context(), "d", "victim", adaSecret), 60)
}

// A hash with cheaper parameters is renewed at the next log-in.
func TestOldHashesAreRenewed(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	require.NoError(t, b.putUsers(ctx, &authv1.User{PersonId: 11, Username: "ada", Password: adaSecret}))
	harder, err := auth.New(t.Context(), auth.Config{HashMemory: 128, HashTime: 2}, auth.Deps{Backends: serve.Backends{Pool: b.pool, Log: pgtest.Log(t), Clock: b.clock}})
	require.NoError(t, err)
	stored := func() (hash string) {
		require.NoError(t, b.pool.QueryRow(ctx, `SELECT password_hash FROM app_user WHERE tenant_id = 1 AND person_id = 11`).Scan(&hash))
		return hash
	}
	old := stored()
	hardBench := *b
	hardBench.service, hardBench.tokens = harder, newTokenService(t, harder, b)
	assertOAuth(t, hardBench.try(t.Context(), "a", "ada", "a wrong password"), 400, "invalid_grant")
	assert.Equal(t, old, stored(), "a wrong password renews nothing")
	require.NoError(t, hardBench.try(t.Context(), "a", "ada", adaSecret))
	assert.Contains(t, stored(), "m=128,t=2")
	require.NoError(t, hardBench.try(t.Context(), "a", "ada", adaSecret))
	require.NoError(t, b.try(t.Context(), "a", "ada", adaSecret))
	assert.Contains(t, stored(), "m=64,t=1", "the setting counts")
}

// After a correct password, the lock is checked again, because others may have guessed at the same time.
func TestALockThatComesDuringALogInHolds(t *testing.T) {
	t.Parallel()
	b := newFixtureWith(t, strict)
	ctx := tenant.With(t.Context(), tenant.Default)
	require.NoError(t, b.putUsers(ctx, &authv1.User{PersonId: 11, Username: "ada", Password: adaSecret}))
	held, err := b.pool.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = held.Rollback(ctx) }() // It has ended when all is well.
	_, err = held.Exec(ctx, `LOCK TABLE app_user IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- b.try(t.Context(), "a", "ada", adaSecret) }()
	require.Eventually(t, func() bool { // The log-in has passed the first look.
		var waits bool
		require.NoError(t, b.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'app_user'::regclass
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waits))
		return waits
	}, 20*time.Second, 5*time.Millisecond)
	others := loginlimit.New(strict.LoginLimit, b.pool, b.clock, pgtest.Log(t))
	attempt, err := others.Begin(ctx, "ada", "z")
	require.NoError(t, err)
	for range strict.LoginLimit.LockAfter {
		_ = attempt.RecordFailure(ctx) // From the fourth on it says that they are too many.
	}
	require.NoError(t, held.Rollback(ctx))
	assertOAuth(t, <-done, 400, "invalid_grant")
}

// A log-in that was checked against the old password does not outlive its change.
func TestALogInDoesNotOutrunAPasswordChange(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	require.NoError(t, b.putUsers(ctx, &authv1.User{PersonId: 11, Username: "ada", Password: adaSecret}))
	held, err := b.pool.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = held.Rollback(ctx) }() // It has ended when all is well.
	_, err = held.Exec(ctx, `LOCK TABLE token_family IN SHARE MODE`)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- b.try(t.Context(), "a", "ada", adaSecret) }()
	require.Eventually(t, func() bool { // The password was right, and the log-in is being stored.
		var waits bool
		require.NoError(t, b.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'token_family'::regclass
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waits))
		return waits
	}, 20*time.Second, 5*time.Millisecond)
	_, err = b.pool.Exec(ctx, `UPDATE app_user SET password_hash = (SELECT password_hash FROM app_user WHERE person_id IS NULL) WHERE person_id = 11`)
	require.NoError(t, err)
	require.NoError(t, held.Rollback(ctx))
	assertOAuth(t, <-done, 400, "invalid_grant")
}

// The sweepers run in the background of the service.
func TestExpiredRowsAreSwept(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	require.NoError(t, b.putUsers(ctx, &authv1.User{PersonId: 11, Username: "ada", Password: adaSecret}))
	b.loginAs(t, "ada", adaSecret)
	assertOAuth(t, b.try(t.Context(), "a", "ada", "x"), 400, "invalid_grant")
	b.revoke(t, b.loginAs(t, "ada", adaSecret).GetRefreshToken())
	assertOAuth(t, b.try(t.Context(), "a", "ada", "x"), 400, "invalid_grant")
	_, err := b.users.LockOutUsers(ctx, &authv1.LockOutUsersRequest{Users: []*authv1.UserLockout{{
		PersonId: 11, Version: 2, Periods: []*authv1.LockoutPeriod{{From: b.clock.Now().AddDate(0, 0, 8).Unix(), To: b.clock.Now().AddDate(1, 0, 0).Unix()}},
	}}})
	require.NoError(t, err)
	left := func(what string) (n int) {
		require.NoError(t, b.pool.QueryRow(ctx, `SELECT count(*) FROM `+what).Scan(&n))
		return n
	}
	for _, table := range []string{"token_family", "revocation", "login_failure"} {
		t.Run(table, func(t *testing.T) {
			require.Positive(t, left(table), table)
		})
	}
	b.clock.Advance(9 * 24 * time.Hour)
	running, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.service.Run(running) }()
	for _, what := range []string{
		"token_family", "revocation WHERE expires_at <= '2026-03-09'", "login_failure", "app_user WHERE person_id = 11 AND NOT locked_out",
	} {
		t.Run(what, func(t *testing.T) {
			assert.Eventually(t, func() bool { return left(what) == 0 }, 20*time.Second, 5*time.Millisecond, what)
		})
	}
	stop()
	assert.NoError(t, <-done)
}
