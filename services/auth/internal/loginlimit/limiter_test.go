package loginlimit_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/auth/internal/loginlimit"
	"github.com/rotaloom/rotaloom/services/auth/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// strict waits after three failures of a name and five from an address, and locks a name
// after five.
var strict = loginlimit.Config{UserFailures: 3, AddressFailures: 5, Window: time.Minute, LockAfter: 5, LockFor: time.Hour}

// fixture is a tenant whose users log in.
type fixture struct {
	*testing.T
	ctx     context.Context
	tenant  int64
	clock   *clock.Fake
	pool    *pg.Pool
	limiter *loginlimit.Limiter
}

// newFixture makes a tenant: failures of one do not count in another.
func newFixture(t *testing.T, pool *pg.Pool, tenantID int64) *fixture {
	t.Helper()
	s := &fixture{T: t, ctx: tenant.With(t.Context(), tenantID), tenant: tenantID, pool: pool}
	_, err := pool.Exec(s.ctx, `INSERT INTO tenant (id, name, host) VALUES ($1::bigint, 'T', $1::text)`, tenantID)
	require.NoError(t, err)
	s.clock = clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s.limiter = loginlimit.New(strict, pool, s.clock, pgtest.Log(t))
	return s
}

func (s *fixture) begin(name, address string) *loginlimit.Attempt {
	s.Helper()
	a, err := s.limiter.Begin(s.ctx, name, address)
	require.NoError(s, err)
	return a
}

func (s *fixture) fail(name, address string) {
	s.Helper()
	require.NoError(s, s.begin(name, address).RecordFailure(s.ctx))
}

// failSlowly fails several times, slowly enough to avoid a 429.
func (s *fixture) failSlowly(name string, times int) {
	s.Helper()
	for range times {
		s.fail(name, "")
		s.clock.Advance(time.Minute)
	}
}

func (s *fixture) recordSuccess(name, address string) {
	s.Helper()
	accepted, err := s.begin(name, address).RecordSuccess(s.ctx)
	require.NoError(s, err)
	require.True(s, accepted)
}

// requireWait fails unless an error asks to wait for some seconds; 0 is for no error.
func requireWait(t testing.TB, seconds int32, err error) {
	t.Helper()
	if seconds == 0 {
		require.NoError(t, err)
		return
	}
	require.True(t, fault.HasStatus(err, 429), "%v", err)
	assert.Equal(t, "slow_down", fault.FromError(err).OAuth)
	assert.Equal(t, seconds, fault.FromError(err).RetrySeconds())
}

func TestFailuresDelayLaterLogIns(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	type login struct{ name, address string }
	same := func(times int, name string) (failed []login) {
		for range times {
			failed = append(failed, login{name, ""})
		}
		return failed
	}
	from := func(addresses ...string) (failed []login) {
		for i, address := range addresses {
			failed = append(failed, login{fmt.Sprint("user", i), address})
		}
		return failed
	}
	for i, c := range []struct {
		name    string
		failed  []login
		later   time.Duration
		tries   login
		seconds int32 // 0 for who need not wait
	}{
		{"a name with two failures", same(2, "ada"), 0, login{"ada", ""}, 0},
		{"a name with three", same(3, "ada"), 0, login{"ada", ""}, 60},
		{"that name from anywhere", []login{{"ada", "10.0.0.1"}, {"ada", "10.0.0.2"}, {"ada", ""}}, 0, login{"ada", "10.0.0.3"}, 60},
		{"a name written in other ways", []login{{"Ada", ""}, {" ada", ""}, {"ＡＤＡ", ""}}, 0, login{"ada", ""}, 60},
		{"another name", same(3, "ada"), 0, login{"ben", ""}, 0},
		{"a name that nobody can have", same(3, "a\x01b"), 0, login{"a\x01b", ""}, 60},
		{"another that nobody can have", same(3, "a\x01b"), 0, login{"A\x01b", ""}, 0},
		{"for the rest of the window", same(3, "ada"), 20 * time.Second, login{"ada", ""}, 40},
		{"until the window is over", same(3, "ada"), time.Minute, login{"ada", ""}, 0},
		{"an address with four failures", from("10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1"), 0, login{"ada", "10.0.0.1"}, 0},
		{"an address with five", from("10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1"), 0, login{"ada", "10.0.0.1"}, 60},
		{"another address", from("10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1"), 0, login{"ada", "10.0.0.2"}, 0},
		{"an address that is not known", from("", "", "", "", ""), 0, login{"ada", ""}, 0},
		{"an address that is none", from("proxy", "proxy", "proxy", "proxy", "proxy"), 0, login{"ada", "proxy"}, 60},
		{"a network of IPv6", from("2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4", "2001:db8::5"), 0, login{"ada", "2001:db8::6"}, 60},
		{"another network of IPv6", from("2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4", "2001:db8::5"), 0, login{"ada", "2001:db8:0:1::1"}, 0},
		{"an address of IPv4 within IPv6", from("::ffff:10.0.0.1", "10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1", "::ffff:a00:1"), 0, login{"ada", "10.0.0.1"}, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t, pool, int64(i+1))
			for _, l := range c.failed {
				s.fail(l.name, l.address)
			}
			s.clock.Advance(c.later)
			_, err := s.limiter.Begin(s.ctx, c.tries.name, c.tries.address)
			requireWait(t, c.seconds, err)
		})
	}
}

func TestWhenANameIsLocked(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	for i, c := range []struct {
		name   string
		play   func(s *fixture)
		locked bool
	}{
		{"after four failures", func(s *fixture) { s.failSlowly("ada", 4) }, false},
		{"after five", func(s *fixture) { s.failSlowly("ada", 5) }, true},
		{"after five from five addresses", func(s *fixture) {
			for n := range 5 {
				s.fail("ada", fmt.Sprint("10.0.0.", n))
				s.clock.Advance(time.Minute)
			}
		}, true},
		{"after five of two names", func(s *fixture) { s.failSlowly("ada", 4); s.failSlowly("ben", 1) }, false},
		{"until the lock is over", func(s *fixture) { s.failSlowly("ada", 5); s.clock.Advance(59*time.Minute - time.Second) }, true},
		{"when the lock is over", func(s *fixture) { s.failSlowly("ada", 5); s.clock.Advance(59 * time.Minute) }, false},
		{"by one failure after a lock", func(s *fixture) { s.failSlowly("ada", 5); s.clock.Advance(time.Hour); s.failSlowly("ada", 1) }, false},
		{"for no longer by failures meanwhile", func(s *fixture) { s.failSlowly("ada", 5); s.failSlowly("ada", 59) }, false},
		{"by a failure an hour after the others", func(s *fixture) { s.failSlowly("ada", 4); s.clock.Advance(59 * time.Minute); s.failSlowly("ada", 1) }, false},
		{"by a failure less than an hour after the others", func(s *fixture) {
			s.failSlowly("ada", 4)
			s.clock.Advance(58 * time.Minute)
			s.failSlowly("ada", 1)
		}, true},
		{"when a success is between", func(s *fixture) { s.failSlowly("ada", 4); s.recordSuccess("ada", ""); s.failSlowly("ada", 4) }, false},
		{"when a success of another is between", func(s *fixture) {
			s.failSlowly("ada", 4)
			s.failSlowly("ben", 1)
			s.recordSuccess("ben", "")
			s.failSlowly("ada", 1)
		}, true},
		{"after it is unlocked", func(s *fixture) {
			s.failSlowly("ada", 5)
			require.NoError(s, s.limiter.Unlock(s.ctx, s.pool, " ADA "))
		}, false},
		{"after another is unlocked", func(s *fixture) {
			s.failSlowly("ada", 5)
			require.NoError(s, s.limiter.Unlock(s.ctx, s.pool, "ben"))
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t, pool, int64(i+1))
			c.play(s)
			locked, err := s.limiter.Locked(s.ctx, "ADA ")
			require.NoError(t, err)
			assert.Equal(t, c.locked, locked)
			attempt := s.begin(" Ada", "")
			assert.Equal(t, c.locked, attempt.Locked)
			accepted, err := attempt.RecordSuccess(s.ctx)
			require.NoError(t, err)
			assert.Equal(t, !c.locked, accepted, "a right password")
		})
	}
}
