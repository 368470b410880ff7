package revocation_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/revocation"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// auth is an auth service whose list a test writes.
type auth struct {
	mu          sync.Mutex
	keys        []string
	unavailable bool
	requests    int
	// slow is called in the middle of a response.
	slow func()
}

func (a *auth) list(_ context.Context, since int64, add func(string, time.Time)) (int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests++
	if a.unavailable {
		return 0, errors.New("away")
	}
	if a.slow != nil {
		a.slow()
	}
	for _, key := range a.keys[since:] {
		add(key, start.Add(time.Hour))
	}
	return int64(len(a.keys)), nil
}

func (a *auth) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

type fixture struct {
	auth  *auth
	nats  *natstest.Server
	clock *clock.Fake
	view  *revocation.View
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	b := &fixture{auth: &auth{}, nats: natstest.New(t), clock: clock.NewFake(start)}
	var err error
	b.view, err = revocation.New(revocation.Config{Staleness: 30 * time.Second}, revocation.Deps{
		Auth: b.auth.list, NATS: b.nats.Conn(), Clock: b.clock, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return b
}

// run keeps the view up to date until the test ends.
func (b *fixture) run(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.view.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
}

func token(jti, sid string) *authn.Principal { return &authn.Principal{JTI: jti, SID: sid} }

func TestAViewAsksBeforeItResponds(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	for i := range 7 {
		b.auth.keys = append(b.auth.keys, revocation.TokenKey(fmt.Sprint(i)))
	}
	b.auth.keys = append(b.auth.keys, revocation.SessionKey("f"))
	for name, c := range map[string]struct {
		p    *authn.Principal
		want bool
	}{
		"a token":               {token("6", "g"), true},
		"a token of the family": {token("x", "f"), true},
		"another":               {token("x", "g"), false},
		"one without a family":  {token("x", ""), false},
		"a family named so":     {token("f", "6"), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := b.view.Revoked(t.Context(), c.p)
			require.NoError(t, err, name)
			assert.Equal(t, c.want, got, name)
		})
	}
	assert.Equal(t, 1, b.auth.requests, "one round")
	assert.Equal(t, 8, b.view.Len())
}

func TestAViewThatIsTooOldRefuses(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	_, err := b.view.Revoked(t.Context(), token("a", "f"))
	require.NoError(t, err)

	b.auth.set(func() { b.auth.unavailable, b.auth.keys = true, []string{revocation.TokenKey("a")} })
	b.clock.Advance(30 * time.Second)
	revoked, err := b.view.Revoked(t.Context(), token("a", "f"))
	require.NoError(t, err)
	assert.False(t, revoked, "within the bound it may not know yet")

	b.clock.Advance(time.Millisecond)
	_, err = b.view.Revoked(t.Context(), token("a", "f"))
	require.Error(t, err)
	asked := b.auth.requests
	_, err = b.view.Revoked(t.Context(), token("b", "f"))
	require.Error(t, err)
	assert.Equal(t, asked, b.auth.requests, "requests do not flood an auth service that is away")

	b.auth.set(func() { b.auth.unavailable = false })
	b.clock.Advance(time.Second)
	revoked, err = b.view.Revoked(t.Context(), token("a", "f"))
	require.NoError(t, err)
	assert.True(t, revoked)

	b.auth.set(func() { b.auth.unavailable = true })
	b.clock.Advance(time.Minute)
	revoked, err = b.view.Revoked(t.Context(), token("a", "f"))
	require.NoError(t, err)
	assert.True(t, revoked, "what is known to be revoked stays so")
	b.clock.Advance(-10 * time.Minute)
	_, err = b.view.Revoked(t.Context(), token("b", "f"))
	assert.Error(t, err, "a clock that was set back confirms nothing")
}

func TestAViewIsReadyOnceAuthHasResponded(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.auth.unavailable = true
	b.run(t)
	requests := func() (n int) { b.auth.set(func() { n = b.auth.requests }); return n }
	require.Eventually(t, func() bool {
		b.clock.Advance(time.Second)
		return requests() > 2
	}, 4*time.Second, 10*time.Millisecond, "asked again before a sixth of the bound is over")
	require.Error(t, b.view.Check(t.Context()))

	b.auth.set(func() { b.auth.unavailable = false })
	b.clock.Advance(time.Second)
	_, err := b.view.Revoked(t.Context(), token("a", "f"))
	require.NoError(t, err)
	require.NoError(t, b.view.Check(t.Context()))
	b.auth.set(func() { b.auth.unavailable = true })
	b.clock.Advance(time.Hour)
	_, err = b.view.Revoked(t.Context(), token("a", "f"))
	require.Error(t, err)
	assert.NoError(t, b.view.Check(t.Context()), "an outage of auth ends no process that has begun")
}

func TestAResponseThatComesTooLateConfirmsNothing(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.auth.slow = func() { b.clock.Advance(31 * time.Second) }
	_, err := b.view.Revoked(t.Context(), token("a", "f"))
	assert.Error(t, err)
}

func TestExpiredRevocationsAreForgotten(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.auth.keys = []string{revocation.TokenKey("a")}
	_, err := b.view.Revoked(t.Context(), token("x", ""))
	require.NoError(t, err)
	require.Equal(t, 1, b.view.Len())
	b.clock.Advance(time.Hour + time.Second)
	_, err = b.view.Revoked(t.Context(), token("x", ""))
	require.NoError(t, err)
	assert.Zero(t, b.view.Len())
}

func TestTheBucketIsWatchedAlsoWhenItIsReplaced(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.run(t)
	conn := b.nats.Conn()
	b.storeRevocation(t, conn.IsConnected, "a")
	b.nats.Stop()
	b.nats.Wipe()
	b.nats.Start()
	b.storeRevocation(t, conn.IsConnected, "b")
}

// storeRevocation puts a revocation into a bucket, which it makes, and waits until the view
// knows it.
func (b *fixture) storeRevocation(t *testing.T, connected func() bool, jti string) {
	t.Helper()
	require.Eventually(t, connected, 10*time.Second, 5*time.Millisecond)
	bucket, err := revocation.EnsureBucket(t.Context(), b.nats.Conn(), time.Hour, 1)
	require.NoError(t, err)
	require.NoError(t, bucket.Put(t.Context(), revocation.TokenKey(jti), start.Add(time.Hour)))
	require.Eventually(t, func() bool {
		revoked, err := b.view.Revoked(t.Context(), token(jti, ""))
		return err == nil && revoked
	}, 20*time.Second, 5*time.Millisecond, jti)
}

func BenchmarkRevoked(b *testing.B) {
	server := natstest.New(b)
	a := &auth{}
	for i := range 10_000 {
		a.keys = append(a.keys, revocation.TokenKey(fmt.Sprintf("%026d", i)))
	}
	view, err := revocation.New(revocation.Config{}, revocation.Deps{
		Auth: a.list, NATS: server.Conn(), Clock: clock.NewFake(start), Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(b, err)
	p := token("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	b.ReportAllocs()
	for b.Loop() {
		if revoked, err := view.Revoked(b.Context(), p); revoked || err != nil {
			b.Fatal(revoked, err)
		}
	}
}

func TestABoundRefusesTokensIssuedBefore(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.auth.keys = []string{revocation.BoundKey(start.Add(500 * time.Millisecond))}
	for name, c := range map[string]struct {
		issued time.Time
		want   bool
	}{
		"before":                                {start.Add(-time.Second), true},
		"in the same second":                    {start, true},
		"after":                                 {start.Add(time.Second), false},
		"at a time that the token does not say": {time.Time{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := token("a", "f")
			p.IssuedAt = c.issued
			revoked, err := b.view.Revoked(t.Context(), p)
			require.NoError(t, err)
			assert.Equal(t, c.want, revoked)
		})
	}
}
