package loginlimit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/auth/internal/loginlimit"
	"github.com/rotaloom/rotaloom/services/auth/internal/pooltest"
)

// What fails while a log-in is under way counts when its password turns out right.
func TestRightPasswordsThatComeAfterWrongOnes(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	for i, c := range []struct {
		name      string
		meanwhile func(s *fixture)
		accepted  bool
		seconds   int32 // until it may be tried again
	}{
		{"none", func(*fixture) {}, true, 0},
		{"two", func(s *fixture) { s.fail("ada", ""); s.fail("ada", "") }, true, 0},
		{"three", func(s *fixture) { s.fail("ada", ""); s.fail("ada", ""); s.fail("ada", "") }, false, 60},
		{"three of another", func(s *fixture) { s.fail("ben", ""); s.fail("ben", ""); s.fail("ben", "") }, true, 0},
		{"so many that the name is locked", func(s *fixture) { s.failSlowly("ada", 5) }, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t, pool, int64(i+1))
			attempt := s.begin("ada", "")
			c.meanwhile(s)
			accepted, err := attempt.RecordSuccess(s.ctx)
			requireWait(t, c.seconds, err)
			assert.Equal(t, c.accepted, accepted)
		})
	}
}

func TestWrongPasswordsThatComeTogether(t *testing.T) {
	t.Parallel()
	s := newFixture(t, pooltest.New(t), 1)
	attempts := make([]*loginlimit.Attempt, 6)
	for i := range attempts {
		attempts[i] = s.begin("ada", "")
	}
	for i, seconds := range []int32{0, 0, 0, 60, 0, 0} {
		requireWait(t, seconds, attempts[i].RecordFailure(s.ctx))
	}
	assert.True(t, s.begin("ada", "").Locked, "of a locked name nothing more is said, not even to wait")
}

func TestFailuresThatASuccessForgets(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	for i, c := range []struct {
		name, user, address string
		forgets             bool
	}{
		{"of who failed", "ada", "10.0.0.2", true},
		{"of who failed, written in another way", " ADA", "10.0.0.2", true},
		{"of somebody else from the same address", "ben", "10.0.0.1", false},
		{"of somebody else", "ben", "10.0.0.2", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t, pool, int64(i+1))
			s.fail("ada", "10.0.0.1")
			recorded, statements := pgtest.Recorded(t, pool)
			s.limiter = loginlimit.New(strict, recorded, s.clock, pgtest.Log(t))
			s.recordSuccess(c.user, c.address)
			writes := false
			for sql := range statements.Plans(t, s.ctx, pool, "login_failure") {
				writes = writes || !strings.HasPrefix(sql, "SELECT")
			}
			assert.Equal(t, c.forgets, writes, "it writes only where something was counted of the user")
			var left int
			require.NoError(t, pool.QueryRow(s.ctx, `SELECT count(*) FROM login_failure WHERE tenant_id = $1`, s.tenant).Scan(&left))
			if c.forgets {
				assert.Equal(t, 1, left, "that of the address stays")
			} else {
				assert.Equal(t, 2, left)
			}
		})
	}
}

func TestUntilWhenNamesAreKeptOut(t *testing.T) {
	t.Parallel()
	s := newFixture(t, pooltest.New(t), 1)
	s.failSlowly("locked", 5)
	lockEnds := s.clock.Now().Add(59 * time.Minute)
	for range 3 {
		s.fail("waiting", "")
	}
	locked, err := s.limiter.Locked(s.ctx, "waiting")
	require.NoError(t, err)
	assert.False(t, locked, "who waits is not locked")
	s.fail("free", "")
	for range 5 {
		require.NoError(t, s.limiter.RecordClientFailure(s.ctx, "waiting too"))
	}
	for _, c := range []struct {
		name  string
		names []string
		later time.Duration
		want  map[string]time.Time
	}{
		{"none", nil, 0, map[string]time.Time{}},
		{"those that are", []string{"locked", "waiting", "free", "nobody", "waiting too"}, 0, map[string]time.Time{
			"locked": lockEnds, "waiting": s.clock.Now().Add(time.Minute),
		}},
		{"as they are written", []string{" LOCKED"}, 0, map[string]time.Time{" LOCKED": lockEnds}},
		{"after the window", []string{"locked", "waiting"}, time.Minute, map[string]time.Time{"locked": lockEnds}},
		{"after the lock", []string{"locked", "waiting"}, 59 * time.Minute, map[string]time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			later := loginlimit.New(strict, s.pool, clock.NewFake(s.clock.Now().Add(c.later)), pgtest.Log(t))
			got, err := later.LockedUntil(s.ctx, c.names)
			require.NoError(t, err)
			require.Len(t, got, len(c.want))
			for name, until := range c.want {
				assert.WithinDuration(t, until, got[name], 0, name)
			}
		})
	}
}
