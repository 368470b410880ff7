package auth_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth"
	"github.com/rotaloom/rotaloom/services/auth/internal/loginlimit"
)

var strict = auth.Config{LoginLimit: loginlimit.Config{
	UserFailures: 3, AddressFailures: 5, Window: time.Minute, LockAfter: 5, LockFor: time.Hour,
}}

// try logs in from an address and returns the error.
func (b *fixture) try(ctx context.Context, from, name, password string) error {
	_, err := b.tokens.IssueToken(metadata.AppendToOutgoingContext(ctx, "x-forwarded-for", from),
		passwordGrant(func(r *authv1.IssueTokenRequest) { r.Username, r.Password = name, password }))
	return err
}

func assertSlowDown(t *testing.T, err error, seconds int32) {
	t.Helper()
	assertOAuth(t, err, 429, "slow_down")
	assert.Equal(t, seconds, fault.FromError(err).RetrySeconds())
}

func TestFailuresOfAUserAreLimited(t *testing.T) {
	t.Parallel()
	for name, user := range map[string]string{"a user": adminName, "nobody": "nobody"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixtureWith(t, strict)
			for i, variant := range []string{user, "  " + user, user + " "} {
				assertOAuth(t, b.try(t.Context(), string(rune('a'+i)), variant, "x"), 400, "invalid_grant")
			}
			b.clock.Advance(10 * time.Second)
			assertSlowDown(t, b.try(t.Context(), "z", user, adminPassword), 50)
			b.clock.Advance(50 * time.Second)
			if user == adminName {
				require.NoError(t, b.try(t.Context(), "z", user, adminPassword))
				for range 3 {
					assertOAuth(t, b.try(t.Context(), "y", user, "x"), 400, "invalid_grant")
				}
			}
		})
	}
}

func TestALockedNameIsUnlocked(t *testing.T) {
	t.Parallel()
	b := newFixtureWith(t, strict)
	clerk, _ := withClerk(t, b)
	lock := func(name string) {
		t.Helper()
		for i := range 3 {
			assertOAuth(t, b.try(t.Context(), string(rune('a'+i)), name, "x"), 400, "invalid_grant")
		}
		assertSlowDown(t, b.try(t.Context(), "z", name, "correct horse battery"), 60)
	}
	unlock := func(ctx context.Context, name string) error {
		_, err := b.users.UnlockUser(ctx, &authv1.UnlockUserRequest{UserName: name})
		return err
	}
	lock("other")
	lock("chief")
	require.NoError(t, unlock(clerk, "OTHER "))
	assert.NoError(t, b.try(t.Context(), "z", "other", "correct horse battery"))
	assert.True(t, fault.HasCode(unlock(clerk, "chief"), fault.CodeNoAccess), "of somebody who may do more")
	assertSlowDown(t, b.try(t.Context(), "z", "chief", "correct horse battery"), 60)
	var out strings.Builder
	require.NoError(t, (&auth.UnlockUserCommand{ID: tenant.Default, Name: "Chief"}).Operate(t.Context(), b.service, &out))
	assert.Equal(t, "\"Chief\" of tenant 1 can log in again\n", out.String())
	assert.NoError(t, b.try(t.Context(), "z", "chief", "correct horse battery"))
	assert.NoError(t, unlock(clerk, "nobody"))
	for name, c := range map[string]*auth.UnlockUserCommand{
		"tenant 1: there is no such user":                                   {ID: tenant.Default, Name: "nobody"},
		"tenant 99: there is no such tenant; tenant list shows the tenants": {ID: 99, Name: "chief"},
	} {
		t.Run(name, func(t *testing.T) { assert.EqualError(t, c.Operate(t.Context(), b.service, &out), name) })
	}
	for _, wrong := range []string{"", "  ", "a\x00b", strings.Repeat("x", 1001)} {
		t.Run(wrong, func(t *testing.T) {
			assert.True(t, fault.HasStatus(unlock(clerk, wrong), 400), wrong)
		})
	}
}

func TestFailuresOfAnAddressAreLimited(t *testing.T) {
	t.Parallel()
	b := newFixtureWith(t, strict)
	for i := range 4 {
		assertOAuth(t, b.try(t.Context(), "10.0.0.1", string(rune('a'+i)), "x"), 400, "invalid_grant")
	}
	_, err := b.tokens.RevokeToken(metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-for", "10.0.0.1"),
		&authv1.RevokeTokenRequest{Token: "t", ClientId: clientID, ClientSecret: "wrong"})
	assertOAuth(t, err, 401, "invalid_client")
	assertSlowDown(t, b.try(t.Context(), "10.0.0.1", adminName, adminPassword), 60)
	assertSlowDown(t, b.try(t.Context(), "1.2.3.4, 10.0.0.1, 192.0.2.1", adminName, adminPassword), 60)
	require.NoError(t, b.try(t.Context(), "10.0.0.2", adminName, adminPassword), "another address")
	require.NoError(t, b.try(t.Context(), "10.0.0.1, 10.0.0.3, 192.0.2.1", adminName, adminPassword),
		"what the caller says of itself counts for nothing")
	b.clock.Advance(time.Minute)
	require.NoError(t, b.try(t.Context(), "10.0.0.1", adminName, adminPassword))

	for i := range 5 {
		assertOAuth(t, b.try(t.Context(), "2001:db8::"+string(rune('1'+i)), string(rune('a'+i)), "x"), 400, "invalid_grant")
	}
	assertSlowDown(t, b.try(t.Context(), "2001:db8::99", adminName, adminPassword), 60)
	require.NoError(t, b.try(t.Context(), "2001:db8:0:1::99", adminName, adminPassword))
}

func TestALockedUserLearnsNothingMore(t *testing.T) {
	t.Parallel()
	b := newFixtureWith(t, strict)
	wrong := b.try(t.Context(), "", adminName, "x")
	for range 4 {
		b.clock.Advance(time.Minute)
		assertOAuth(t, b.try(t.Context(), "", adminName, "x"), 400, "invalid_grant")
	}
	for range 10 {
		locked := b.try(t.Context(), "", adminName, adminPassword)
		assertOAuth(t, locked, 400, "invalid_grant")
		assert.Equal(t, fault.FromError(wrong).Message, fault.FromError(locked).Message)
		b.clock.Advance(time.Minute)
	}
	b.clock.Advance(50 * time.Minute)
	require.NoError(t, b.try(t.Context(), "", adminName, adminPassword), "a lock ends, and trying does not prolong it")
	assertOAuth(t, b.try(t.Context(), "", adminName, "x"), 400, "invalid_grant")
	require.NoError(t, b.try(t.Context(), "", adminName, adminPassword), "it begins anew")
}

// Guessing side by side gains nothing: whether a password is wrong is returned as
// often as the limit permits, and a right one that comes later is refused.
func TestGuessesSideBySide(t *testing.T) {
	t.Parallel()
	patient := strict
	patient.LoginLimit.LockAfter = 1000
	b := newFixtureWith(t, patient)
	var group sync.WaitGroup
	var mu sync.Mutex
	outcomes := map[string]int{}
	for range 100 {
		group.Go(func() {
			err := b.try(t.Context(), "", adminName, "x")
			mu.Lock()
			defer mu.Unlock()
			outcomes[fault.FromError(err).OAuth]++
		})
	}
	group.Wait()
	assert.Equal(t, map[string]int{"invalid_grant": 3, "slow_down": 97}, outcomes)
	assertSlowDown(t, b.try(t.Context(), "", adminName, adminPassword), 60)
}

func TestFailuresAreForgotten(t *testing.T) {
	t.Parallel()
	b := newFixtureWith(t, strict)
	assertOAuth(t, b.try(t.Context(), "10.0.0.1", "nobody", "x"), 400, "invalid_grant")
	rows := func() (n int) {
		require.NoError(t, b.pool.QueryRow(tenant.All(t.Context()), `SELECT count(*) FROM login_failure`).Scan(&n))
		return n
	}
	require.Equal(t, 2, rows())
	b.clock.Advance(2 * time.Hour)
	runWith(t, b.service.Run)
	require.Eventually(t, func() bool { return rows() == 0 }, 10*time.Second, 5*time.Millisecond)
}
