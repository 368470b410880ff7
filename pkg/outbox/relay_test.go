package outbox_test

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/testevent"
)

const pollEvery = 5 * time.Millisecond

func TestEventsOfManyTenantsArriveOnceAndInOrder(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	opts := quick()
	opts.Batch = 7 // Several batches, the last one not full.
	b.relay(opts)
	var want []string
	for tenantID := range int64(5) {
		names := numberedNames(string('a'+rune(tenantID)), 10)
		b.append(tenantID+1, names...)
		want = append(want, names...)
	}
	b.allSent()
	assert.Equal(t, want, b.names())
}

func TestSentEventsAreKeptForAWhileAndThenDeleted(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	keeping := b.relay(quick())
	b.append(1, "a", "b")
	b.allSent()
	assert.Equal(t, 2, b.count("true"))
	keeping.stop()

	opts := quick()
	opts.Retention = time.Millisecond
	b.relay(opts)
	require.Eventually(t, func() bool { return b.count("true") == 0 }, waitTimeout, pollEvery)
	assert.Len(t, b.storedMessages(), 2)
}

func TestCrashBetweenPublishingAndMarking(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	// A relay that marks events loses its connection while there is a row in "crash".
	_, err := b.pool.Exec(t.Context(), `
		CREATE TABLE crash (n int);
		INSERT INTO crash VALUES (1);
		CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		  IF EXISTS (SELECT FROM crash) THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
		  RETURN NEW;
		END $$;
		CREATE TRIGGER crash BEFORE UPDATE ON outbox FOR EACH ROW EXECUTE FUNCTION crash();`)
	require.NoError(t, err)
	b.append(1, "a", "b", "c")
	b.relay(quick())

	require.Eventually(t, func() bool { return len(b.storedMessages()) == 3 }, waitTimeout, pollEvery)
	assert.Equal(t, 3, b.count("sent_at IS NULL"))
	_, err = b.pool.Exec(t.Context(), "DELETE FROM crash")
	require.NoError(t, err)
	b.allSent()
	assert.Equal(t, []string{"a", "b", "c"}, b.names(), "published again, and dropped by the broker")
}

func TestEventsWaitWhileTheBrokerIsAway(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	relay := b.relay(quick())
	b.append(1, "before")
	b.allSent()

	b.stopBroker()
	b.append(1, "during")
	require.Eventually(t, func() bool {
		return testutil.GatherAndCompare(relay.metrics, strings.NewReader(`
			# HELP rotaloom_outbox_unsent Events that wait, up to 100000; 0 at a replica that does not relay.
			# TYPE rotaloom_outbox_unsent gauge
			rotaloom_outbox_unsent 1
		`), "rotaloom_outbox_unsent") == nil
	}, waitTimeout, pollEvery)
	assert.Equal(t, 1, b.count("sent_at IS NULL"))

	b.server.Start()
	b.allSent()
	assert.Equal(t, []string{"before", "during"}, b.names())
}

func TestRelayStartsBeforeTheBroker(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.stopBroker()
	b.append(1, "a")
	b.relay(quick())
	b.server.Start()
	b.allSent()
	assert.Equal(t, []string{"a"}, b.names())
}

func TestWipedBrokerIsFilledAgain(t *testing.T) {
	t.Parallel()
	for name, relayLives := range map[string]bool{"under a running relay": true, "while no relay runs": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			first := b.relay(quick())
			b.append(1, "a", "b")
			b.allSent()
			if !relayLives {
				first.stop()
			}
			b.stopBroker()
			b.server.Wipe()
			b.append(1, "c")
			b.server.Start()
			if !relayLives {
				b.relay(quick())
			}
			require.Eventually(t, func() bool { return len(b.storedMessages()) == 3 }, waitTimeout, pollEvery)
			b.allSent()
			assert.ElementsMatch(t, []string{"a", "b", "c"}, b.names())
		})
	}
}

func TestBrokerThatLostTheEndIsFilledAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	relay := b.relay(quick())
	b.append(1, "flushed")
	b.allSent()
	b.stopBroker()
	saved := b.server.Save()
	b.server.Start()
	b.append(1, numberedNames("lost-", 3)...)
	b.allSent()

	b.stopBroker()
	b.server.Restore(saved)
	b.server.Start()
	require.Eventually(t, func() bool { return len(b.storedMessages()) == 4 }, waitTimeout, pollEvery)
	b.allSent()
	assert.ElementsMatch(t, []string{"flushed", "lost-0", "lost-1", "lost-2"}, b.names())
	assert.NoError(t, testutil.GatherAndCompare(relay.metrics, strings.NewReader(`
		# HELP rotaloom_outbox_repeated_total Events that are published again because the broker lost them, or may have.
		# TYPE rotaloom_outbox_repeated_total counter
		rotaloom_outbox_repeated_total 4
	`), "rotaloom_outbox_repeated_total"))
}

// TestStreamReplacedUnderTheRelay loses the stream without losing the
// connection, as when an operator deletes it.
func TestStreamReplacedUnderTheRelay(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	opts := quick()
	opts.Housekeeping = time.Hour // The loss shows in the responses of the broker only.
	b.relay(opts)
	b.append(1, numberedNames("old-", 5)...)
	b.allSent()

	js, err := jetstream.New(b.conn)
	require.NoError(t, err)
	stream, err := js.Stream(t.Context(), "TEST")
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream(t.Context(), "TEST"))
	_, err = js.CreateStream(t.Context(), stream.CachedInfo().Config)
	require.NoError(t, err)

	b.append(1, "new")
	require.Eventually(t, func() bool { return len(b.storedMessages()) == 6 }, waitTimeout, pollEvery)
	names := b.names()
	slices.Sort(names)
	assert.Equal(t, []string{"new", "old-0", "old-1", "old-2", "old-3", "old-4"}, names)
}

func TestOneRelayWorksAndAnotherTakesOver(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	first := b.relay(quick())
	b.append(1, "a")
	b.allSent()
	second := b.relay(quick())
	b.append(1, "b")
	b.allSent()
	assert.NoError(t, testutil.GatherAndCompare(second.metrics, strings.NewReader(`
		# HELP rotaloom_outbox_published_total Events that the broker has accepted, including repetitions.
		# TYPE rotaloom_outbox_published_total counter
		rotaloom_outbox_published_total 0
	`), "rotaloom_outbox_published_total"), "the first one has the lock")

	first.stop()
	b.append(1, "c")
	b.allSent()
	assert.Equal(t, []string{"a", "b", "c"}, b.names())
}

// cancelAfterReading ends the context of a relay when the relay has read events that wait.
type cancelAfterReading struct{ cancel context.CancelFunc }

// readsEvents is the key of a context: whether the statement reads events to publish them.
type readsEvents struct{}

func (cancelAfterReading) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, readsEvents{}, strings.Contains(q.SQL, "payload"))
}

func (c cancelAfterReading) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if ctx.Value(readsEvents{}) == true {
		c.cancel()
	}
}

// TestARelayThatStopsWhileItPublishesLeavesNothing stops relays between their first publication and
// its acknowledgement. TestMain fails if goroutines remain.
func TestARelayThatStopsWhileItPublishesLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.append(1, "a")
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		pool, err := b.pool.Traced(ctx, cancelAfterReading{cancel})
		require.NoError(t, err)
		opts := quick()
		opts.Pool, opts.Log, opts.Registry = pool, pgtest.Log(t), prometheus.NewRegistry()
		opts.Bus = b.bus(opts.Registry, nil)
		relay, err := outbox.NewRelay(opts)
		require.NoError(t, err)
		require.NoError(t, relay.Run(ctx))
		pool.Close()
	}
	b.relay(quick())
	b.allSent()
	assert.Equal(t, []string{"a"}, b.names())
}

// patient is a relay that looks for events only when it is woken.
func patient() outbox.Options {
	return outbox.Options{Poll: time.Hour, IdlePoll: time.Hour, Housekeeping: time.Hour}
}

func TestACommitWakesTheRelay(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.relay(patient())
	names := numberedNames("event-", 5)
	for _, name := range names {
		b.append(1, name)
		b.allSent()
	}
	assert.Equal(t, names, b.names())
}

// A replica commits and wakes its own relay, which has no work to do.
func TestWakeUpsReachTheRelayThatWorks(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.relay(patient())
	b.append(1, "a")
	b.allSent()

	other, err := pg.Open(t.Context(), b.pool.Config(), pgtest.Log(t))
	require.NoError(t, err)
	t.Cleanup(other.Close)
	replica := *b
	replica.pool = other
	replica.relay(patient())
	replica.append(1, "b")
	b.allSent()
	assert.Equal(t, []string{"a", "b"}, b.names())
}

// BenchmarkRelay measures how fast waiting events leave.
func BenchmarkRelay(b *testing.B) {
	bundle := newBundle(b)
	const events = 40_000
	for b.Loop() {
		b.StopTimer()
		for range events / 1000 {
			bundle.append(1, numberedNames("event-", 1000)...)
		}
		b.StartTimer()
		relay := bundle.relay(outbox.Options{Retention: time.Hour})
		for readPublished(b, relay.metrics) < events {
			time.Sleep(time.Millisecond)
		}
		b.StopTimer()
		relay.stop()
		b.StartTimer()
	}
	b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// readPublished reads the counter of a relay, which costs the database nothing.
func readPublished(t testing.TB, metrics *prometheus.Registry) float64 {
	t.Helper()
	families, err := metrics.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == "rotaloom_outbox_published_total" {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return 0
}

// BenchmarkBarePublish is the baseline for BenchmarkRelay: the same messages
// from memory.
func BenchmarkBarePublish(b *testing.B) {
	bundle := newBundle(b)
	require.NoError(b, bundle.bus(prometheus.NewRegistry(), nil).EnsureStreams(b.Context()))
	js, err := jetstream.New(bundle.conn, jetstream.WithPublishAsyncMaxPending(1000))
	require.NoError(b, err)
	payload := testevent.Payload(b, "event-1")
	const events = 40_000
	for b.Loop() {
		for range events {
			msg := nats.NewMsg(testevent.ChangedSubject)
			msg.Data = payload
			msg.Header.Set(bus.HeaderID, rand.Text())
			_, err := js.PublishMsgAsync(msg, jetstream.WithStallWait(time.Second))
			require.NoError(b, err)
		}
		<-js.PublishAsyncComplete()
	}
	b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
