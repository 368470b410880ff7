package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/pooltest"
)

// recipient replaces the recipients of messages. It responds as the test wants, and counts.
type recipient struct {
	mu   sync.Mutex
	err  error
	got  map[string]int
	hold chan struct{}
}

func (r *recipient) Send(ctx context.Context, d *Delivery) (string, error) {
	if r.hold != nil {
		select {
		case <-r.hold:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got[d.UID.String()]++
	return "taken", r.err
}

func (r *recipient) count() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, times := range r.got {
		n += times
	}
	return n
}

type fixture struct {
	*Sender
	pool      *pg.Pool
	recipient *recipient
	clock     *clock.Fake
}

func newFixture(t *testing.T, cfg Config) *fixture {
	t.Helper()
	b := &fixture{
		pool: pooltest.New(t), recipient: &recipient{got: map[string]int{}},
		clock: clock.NewFake(time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)),
	}
	var err error
	b.Sender, err = NewSender(cfg, Deps{
		Pool: b.pool, Transports: map[string]Transport{Email: b.recipient}, Clock: b.clock, Log: pgtest.Log(t), Registry: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	return b
}

// store stores deliveries of a tenant.
func (b *fixture) store(t *testing.T, tenantID int64, list ...*Delivery) {
	t.Helper()
	require.NoError(t, b.append(t, tenantID, list...))
}

func (b *fixture) append(t *testing.T, tenantID int64, list ...*Delivery) error {
	t.Helper()
	return pg.InTx(tenant.With(t.Context(), tenantID), b.pool, func(ctx context.Context, tx pgx.Tx) error {
		return Append(ctx, tx, b.clock.Now(), list)
	})
}

func (b *fixture) mail(t *testing.T, to string) *Delivery {
	t.Helper()
	uid, err := NewUID()
	require.NoError(t, err)
	return &Delivery{UID: uid, Message: uid, Channel: Email, State: Pending, Address: to, Content: &platformv1.DeliveryContent{}, GiveUpAt: b.GiveUpAt()}
}

// round attempts the due deliveries once.
func (b *fixture) round(t *testing.T) {
	t.Helper()
	var group sync.WaitGroup
	ctx := tenant.All(t.Context())
	for b.begin(ctx, ctx, &group) {
		group.Wait()
	}
}

func (b *fixture) read(t *testing.T, d *Delivery) *Delivery {
	t.Helper()
	list, err := Read(tenant.With(t.Context(), d.Tenant), b.pool, Query{IDs: []int64{d.ID}, Limit: 1, Visible: rowvisibility.AllPersons()}, false)
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

func TestFailedDeliveriesAreTriedForDays(t *testing.T) {
	t.Parallel()
	b := newFixture(t, Config{})
	d := b.mail(t, "ada@example.com")
	b.store(t, 1, d)
	b.recipient.err = errors.New("the server is down")
	began := b.clock.Now()
	var last time.Duration
	for now := b.read(t, d); now.State == Pending; now = b.read(t, d) {
		wait := now.NextAttemptAt.Sub(b.clock.Now())
		assert.LessOrEqual(t, wait, 6*time.Hour)
		b.clock.Set(now.NextAttemptAt.Add(-time.Millisecond))
		before := b.recipient.count()
		b.round(t)
		require.Equal(t, before, b.recipient.count(), "not before it is due")
		b.clock.Set(now.NextAttemptAt)
		b.round(t)
		require.Equal(t, before+1, b.recipient.count())
		last = wait
	}
	assert.Greater(t, last, 2*time.Hour, "the pauses grow")
	assert.InDelta(t, 72*time.Hour, b.clock.Now().Sub(began), float64(6*time.Hour))
	assert.Equal(t, Failed, b.read(t, d).State)
	tried, err := Attempts(tenant.With(t.Context(), 1), b.pool, d.ID)
	require.NoError(t, err)
	assert.Len(t, tried, b.recipient.count())
	assert.Equal(t, "the server is down", tried[0].Result)

	b.recipient.err = nil
	require.NoError(t, pg.InTx(tenant.With(t.Context(), 1), b.pool, func(ctx context.Context, tx pgx.Tx) error {
		return Replay(ctx, tx, []int64{d.ID}, b.clock.Now(), b.GiveUpAt())
	}))
	b.round(t)
	now := b.read(t, d)
	assert.Equal(t, Delivered, now.State)
	assert.Empty(t, now.Error)
	assert.Len(t, b.recipient.got, 1, "under the id that it had")
}

func TestPermanentlyRefusedDeliveriesFail(t *testing.T) {
	t.Parallel()
	b := newFixture(t, Config{})
	d, e := b.mail(t, "gone@example.com"), b.mail(t, "x")
	e.Channel = Webhook
	b.recipient.err = Refused("no such user")
	b.store(t, 1, d, e)
	b.round(t)
	b.round(t)
	assert.Equal(t, 1, b.recipient.count())
	assert.Equal(t, "no such user", b.read(t, d).Error)
	assert.Equal(t, Failed, b.read(t, e).State, "a channel without a transport")
}

func TestAPanicFailsOneDelivery(t *testing.T) {
	t.Parallel()
	b := newFixture(t, Config{})
	d, e := b.mail(t, "ada@example.com"), b.mail(t, "x")
	e.Channel = Webhook
	b.deps.Transports[Webhook] = broken{}
	b.store(t, 1, d, e)
	b.round(t)
	b.round(t)
	assert.Equal(t, Delivered, b.read(t, d).State)
	failed := b.read(t, e)
	assert.Equal(t, Failed, failed.State)
	assert.NotContains(t, failed.Error, "a secret", "what it panicked with is for the operator")
	tried, err := Attempts(tenant.With(t.Context(), 1), b.pool, e.ID)
	require.NoError(t, err)
	assert.Len(t, tried, 1)
	assert.Zero(t, b.total, "its place is free")
}

// broken is a library with a fault.
type broken struct{}

func (broken) Send(context.Context, *Delivery) (string, error) { panic("a secret") }

func TestTheOtherSideMayAskToWait(t *testing.T) {
	t.Parallel()
	b := newFixture(t, Config{})
	d := b.mail(t, "busy@example.com")
	b.recipient.err = &Error{RetryAfter: 2 * time.Hour, Message: "busy"}
	b.store(t, 1, d)
	b.round(t)
	assert.Equal(t, b.clock.Now().Add(2*time.Hour), b.read(t, d).NextAttemptAt.UTC())
}

func TestAnAttemptThatDiedIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	b := newFixture(t, Config{})
	d := b.mail(t, "ada@example.com")
	b.store(t, 1, d)
	ctx := tenant.All(t.Context())
	dead, err := claimDue(ctx, b.pool, b.clock.Now(), b.cfg.Lease, computeShares(16), room{total: 10})
	require.NoError(t, err)
	require.Len(t, dead, 1)
	b.round(t)
	assert.Zero(t, b.recipient.count(), "while its lease runs it is somebody's")
	b.clock.Advance(b.cfg.Lease)
	b.round(t)
	assert.Equal(t, 1, b.recipient.count())
	// The one that seemed dead changes nothing.
	require.NoError(t, settle(tenant.With(t.Context(), 1), b.pool, dead[0], outcome{started: b.clock.Now(), ended: b.clock.Now(), state: Failed, next: b.clock.Now()}))
	assert.Equal(t, Delivered, b.read(t, d).State)
}

func TestRepetitionsAreSuppressed(t *testing.T) {
	t.Parallel()
	b := newFixture(t, Config{})
	repeated := func() *Delivery {
		d := b.mail(t, "ada@example.com")
		d.Fingerprint, d.Until = []byte("the same"), b.clock.Now().Add(time.Hour)
		return d
	}
	first, second, elsewhere := repeated(), repeated(), repeated()
	b.store(t, 1, first)
	b.clock.Advance(59 * time.Minute)
	b.store(t, 1, second)
	b.store(t, 2, elsewhere)
	assert.Equal(t, Suppressed, b.read(t, second).State)
	assert.Equal(t, Pending, b.read(t, elsewhere).State, "another tenant")
	b.clock.Advance(time.Minute)
	third := repeated()
	b.store(t, 1, third)
	assert.Equal(t, Pending, b.read(t, third).State)

	b.recipient.err = Refused("no")
	b.round(t)
	fourth := repeated()
	b.store(t, 1, fourth)
	assert.Equal(t, Pending, b.read(t, fourth).State, "nothing was sent")
}

// If messages are sent at the same moment, all but one are repetitions.
func TestRepetitionsAtTheSameMoment(t *testing.T) {
	t.Parallel()
	b := newFixture(t, Config{})
	var wg sync.WaitGroup
	list := make([][]*Delivery, 8)
	for i := range list {
		for _, name := range []string{"a", "b", "c"} {
			d := b.mail(t, name)
			d.Fingerprint, d.Until = []byte(name), b.clock.Now().Add(time.Hour)
			list[i] = append(list[i], d)
		}
		wg.Go(func() { assert.NoError(t, b.append(t, 1, list[i]...)) })
	}
	wg.Wait()
	b.round(t)
	assert.Equal(t, 3, b.recipient.count())
}

func TestNoTenantWaitsForAnother(t *testing.T) {
	t.Parallel()
	b := newFixture(t, Config{Concurrency: 4})
	b.recipient.hold = make(chan struct{})
	for i := range 40 {
		b.store(t, 1, b.mail(t, fmt.Sprint(i)))
	}
	b.clock.Advance(time.Second)
	other := b.mail(t, "other")
	b.store(t, 2, other)
	ctx := tenant.All(t.Context())
	var group sync.WaitGroup
	for b.begin(ctx, ctx, &group) {
	}
	b.mu.Lock()
	assert.Equal(t, map[int64]int{1: 2, 2: 1}, b.running, "a tenant has half of what there is")
	b.mu.Unlock()
	close(b.recipient.hold)
	group.Wait()
	assert.Equal(t, Delivered, b.read(t, other).State)
}

func TestProcessesShareTheWork(t *testing.T) {
	t.Parallel()
	b := newFixture(t, Config{PollEvery: 10 * time.Millisecond})
	const all = 200
	for tenantID := range int64(2) {
		var list []*Delivery
		for i := range all / 2 {
			list = append(list, b.mail(t, fmt.Sprint(i)))
		}
		b.store(t, tenantID+1, list...)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		s, err := NewSender(b.cfg, Deps{Pool: b.pool, Transports: b.deps.Transports, Clock: b.clock, Log: b.deps.Log, Registry: prometheus.NewRegistry()})
		require.NoError(t, err)
		wg.Go(func() { assert.NoError(t, s.Run(ctx)) })
	}
	require.Eventually(t, func() bool { return b.recipient.count() >= all }, 30*time.Second, 10*time.Millisecond)
	cancel()
	wg.Wait()
	assert.Equal(t, all, b.recipient.count())
	assert.Len(t, b.recipient.got, all, "each once")
}

func TestOldSettledDeliveriesAreDeleted(t *testing.T) {
	t.Parallel()
	b := newFixture(t, Config{})
	done, waits := b.mail(t, "a"), b.mail(t, "b")
	b.store(t, 1, done)
	b.round(t)
	b.recipient.err = errors.New("down")
	waits.GiveUpAt = b.clock.Now().Add(1000 * time.Hour)
	b.store(t, 1, waits)
	b.round(t)
	b.clock.Advance(719 * time.Hour)
	b.purge(tenant.All(t.Context()))
	b.read(t, done)
	b.clock.Advance(2 * time.Hour)
	b.purge(tenant.All(t.Context()))
	list, err := Read(tenant.With(t.Context(), 1), b.pool, Query{Limit: 10, Visible: rowvisibility.AllPersons()}, false)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, waits.ID, list[0].ID)
}

func TestWaitingDeliveriesAreBounded(t *testing.T) {
	t.Parallel()
	b := newFixture(t, Config{})
	settled := b.mail(t, "settled")
	b.store(t, 1, settled)
	b.round(t)
	require.Equal(t, Delivered, b.read(t, settled).State)
	replay := func(tenantID int64, ids ...int64) error {
		return pg.InTx(tenant.With(t.Context(), tenantID), b.pool, func(ctx context.Context, tx pgx.Tx) error {
			return Replay(ctx, tx, ids, b.clock.Now(), b.clock.Now().Add(time.Hour))
		})
	}
	fill := func(n int) (last int64) {
		ctx := tenant.With(t.Context(), 1)
		_, err := b.pool.Exec(ctx, `INSERT INTO notification_delivery (tenant_id, delivery_id, message_id, notification_id, notification_name,
				channel, state, person_id, person_number, webhook_id, address, content, fingerprint, next_attempt_at, give_up_at, created_at)
			SELECT 1, gen_random_uuid(), gen_random_uuid(), 1, '', 'EMAIL', 'PENDING', 0, '', 0, '', '', '', now(), now(), now() FROM generate_series(1, $1)`, n)
		require.NoError(t, err)
		require.NoError(t, b.pool.QueryRow(ctx, `SELECT max(id) FROM notification_delivery WHERE tenant_id = 1`).Scan(&last))
		return last
	}
	fill(maxPending - 1)
	require.NoError(t, replay(1, settled.ID), "there is room for one")
	_, err := b.pool.Exec(tenant.With(t.Context(), 1), `UPDATE notification_delivery SET state = 'DELIVERED' WHERE tenant_id = 1 AND id = $1`, settled.ID)
	require.NoError(t, err)
	waiting := fill(1)
	err = b.append(t, 1, b.mail(t, "a"))
	assert.True(t, fault.HasStatus(err, 429), err)
	err = replay(1, settled.ID)
	assert.True(t, fault.HasStatus(err, 429), err)
	assert.NoError(t, replay(1, waiting), "what waits is no more by it")
	assert.NoError(t, b.append(t, 2, b.mail(t, "a")))
}
