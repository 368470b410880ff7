package outbox_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/testevent"
)

func TestEventsAreTheTransactions(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ctx := tenant.With(t.Context(), 1)
	never := errors.New("never mind")

	err := pg.InTx(ctx, b.pool, func(ctx context.Context, tx pgx.Tx) error {
		require.NoError(t, outbox.Append(ctx, tx, b.event("a")))
		return never
	})
	require.ErrorIs(t, err, never)
	assert.Zero(t, b.count("true"))

	b.append(1, "a", "b")
	assert.Equal(t, 2, b.count("sent_at IS NULL"))
	b.append(1)
	assert.Equal(t, 2, b.count("true"))
}

func TestACommitThatAppendedEventsSignalsItOnce(t *testing.T) {
	t.Parallel()
	never := errors.New("never mind")
	queue := func(ctx context.Context, tx pgx.Tx, events ...proto.Message) error {
		var batch pgx.Batch
		return errors.Join(outbox.Queue(ctx, tx, &batch, events...), tx.SendBatch(ctx, &batch).Close())
	}
	for name, c := range map[string]struct {
		work             func(ctx context.Context, tx pgx.Tx, event proto.Message) error
		signals, written int
	}{
		"append": {func(ctx context.Context, tx pgx.Tx, event proto.Message) error {
			return outbox.Append(ctx, tx, event)
		}, 1, 1},
		"append twice": {func(ctx context.Context, tx pgx.Tx, event proto.Message) error {
			return errors.Join(outbox.Append(ctx, tx, event), outbox.Append(ctx, tx, event))
		}, 1, 2},
		"queue": {func(ctx context.Context, tx pgx.Tx, event proto.Message) error { return queue(ctx, tx, event, event) }, 1, 2},
		"no events": {func(ctx context.Context, tx pgx.Tx, _ proto.Message) error {
			return errors.Join(outbox.Append(ctx, tx), queue(ctx, tx))
		}, 0, 0},
		"rollback": {func(ctx context.Context, tx pgx.Tx, event proto.Message) error {
			return errors.Join(outbox.Append(ctx, tx, event), never)
		}, 0, 0},
		"savepoint": {func(ctx context.Context, tx pgx.Tx, event proto.Message) error {
			return pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return outbox.Append(ctx, tx, event) })
		}, 1, 1},
		"savepoint that is rolled back": {func(ctx context.Context, tx pgx.Tx, event proto.Message) error {
			assert.ErrorIs(t, pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
				return errors.Join(outbox.Append(ctx, tx, event), never)
			}), never)
			return nil
		}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, signals := newBundle(t), 0
			b.pool.Listen(outbox.Appended, func() { signals++ })
			err := pg.InTx(tenant.With(t.Context(), 1), b.pool, func(ctx context.Context, tx pgx.Tx) error {
				return c.work(ctx, tx, b.event("a"))
			})
			if !errors.Is(err, never) {
				require.NoError(t, err)
			}
			assert.Equal(t, c.signals, signals)
			assert.Equal(t, c.written, b.count("true"))
		})
	}
}

func TestAppendRefusesWhatCouldNotLeave(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ctx := tenant.With(t.Context(), 1)

	for _, c := range []struct {
		name     string
		ctx      context.Context
		tenantID int64
		event    proto.Message
		want     string
	}{
		{"no event", ctx, 1, testevent.New(t, b.events, testevent.Plain, "a"), "is not an event"},
		{"too large", ctx, 1, b.event(strings.Repeat("x", outbox.MaxEvent)), "at most"},
		{"of another tenant", ctx, 2, b.event("a"), "row-level security"},
		{"of no tenant", t.Context(), 1, b.event("a"), "row-level security"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := pg.InTx(c.ctx, b.pool, func(ctx context.Context, tx pgx.Tx) error {
				return outbox.Append(tenant.With(ctx, c.tenantID), tx, c.event)
			})
			assert.ErrorContains(t, err, c.want)
		})
	}
	assert.Zero(t, b.count("true"))
}

func TestTenantsSeeTheirOwnEventsOnly(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.append(1, "a")
	b.append(2, "b", "c")
	for i, c := range []struct {
		ctx  context.Context
		want int
	}{
		{tenant.With(t.Context(), 1), 1}, {tenant.With(t.Context(), 2), 2}, {t.Context(), 0}, {tenant.All(t.Context()), 3},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			var n int
			require.NoError(t, b.pool.QueryRow(c.ctx, "SELECT count(*) FROM outbox").Scan(&n))
			assert.Equal(t, c.want, n)
		})
	}
}

func TestRelayPublishesWithHeaders(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ctx := obs.WithRequest(tenant.With(t.Context(), 7), obs.Request{ID: "request-1", Traceparent: trace})
	require.NoError(t, pg.InTx(ctx, b.pool, func(ctx context.Context, tx pgx.Tx) error {
		return outbox.Append(ctx, tx, b.event("a"), b.event(""))
	}))
	b.relay(quick())
	b.allSent()

	messages := b.storedMessages()
	require.Len(t, messages, 2, "an event with no field set is an event")
	m := messages[0]
	assert.Equal(t, testevent.ChangedSubject, m.Subject)
	assert.Equal(t, "7", m.Header.Get(bus.HeaderTenant))
	assert.Equal(t, testevent.Changed, m.Header.Get(bus.HeaderEvent))
	assert.Equal(t, "request-1", m.Header.Get(bus.HeaderRequest))
	assert.Equal(t, trace, m.Header.Get(bus.HeaderTraceparent))
	assert.Len(t, m.Header.Get(bus.HeaderID), 36)
	assert.Equal(t, testevent.Payload(t, "a"), m.Data)
	assert.NotEqual(t, m.Header.Get(bus.HeaderID), messages[1].Header.Get(bus.HeaderID))
}

func TestDeadLettersLiveInTheDatabase(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	letters := outbox.NewDeadLetters(b.pool)
	events := b.bus(prometheus.NewRegistry(), letters)
	b.relay(quick())
	b.append(7, "poison")

	mended := make(chan struct{})
	var got bus.Message
	reader := bus.Consumer{Durable: "reader", Stream: "TEST", Handle: func(ctx context.Context, m bus.Message) error {
		select {
		case <-mended:
			got = m
			return nil
		default:
			return bus.Permanent(errors.New("cannot digest \xff"))
		}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- events.Run(ctx, reader) }()
	list := func(ctx context.Context) []bus.DeadLetter {
		found, err := letters.List(ctx, 0, 10)
		require.NoError(t, err)
		return found
	}
	require.Eventually(t, func() bool { return len(list(tenant.All(t.Context()))) == 1 }, waitTimeout, pollEvery)
	cancel()
	require.NoError(t, <-done)

	letter := list(tenant.With(t.Context(), 7))[0]
	assert.Equal(t, "cannot digest ", letter.Reason)
	assert.Empty(t, list(tenant.With(t.Context(), 8)), "another tenant's")
	require.NoError(t, letters.Put(tenant.With(t.Context(), 7), letter))
	assert.Len(t, list(tenant.All(t.Context())), 1, "one for a consumer and event")

	close(mended)
	n, err := letters.RequestReplay(tenant.With(t.Context(), 8), nil)
	require.NoError(t, err)
	assert.Empty(t, n, "another tenant's")
	n, err = letters.RequestReplay(tenant.With(t.Context(), 7), []int64{letter.ID})
	require.NoError(t, err)
	assert.Equal(t, []int64{letter.ID}, n)
	ctx, cancel = context.WithCancel(t.Context())
	go func() { done <- events.Run(ctx, reader) }()
	require.Eventually(t, func() bool { return len(list(tenant.All(t.Context()))) == 0 }, waitTimeout, pollEvery)
	cancel()
	require.NoError(t, <-done)
	letter.Message.Attempt = 1
	assert.Equal(t, letter.Message, got, "exactly what had arrived")
}
