package outbox_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/testevent"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const waitTimeout = 20 * time.Second

// bundle is a service's database and a broker.
type bundle struct {
	t      testing.TB
	events *protoregistry.Files
	pool   *pg.Pool
	server *natstest.Server
	conn   *nats.Conn
}

func newBundle(t testing.TB) *bundle {
	t.Helper()
	migrations, err := outbox.Migrations()
	require.NoError(t, err)
	b := &bundle{t: t, events: testevent.Files(t), pool: pgtest.New(t, migrations), server: natstest.New(t)}
	b.conn = b.server.Conn()
	return b
}

func (b *bundle) event(name string) proto.Message {
	return testevent.New(b.t, b.events, testevent.Changed, name)
}

// append commits one event for each name.
func (b *bundle) append(tenantID int64, names ...string) {
	b.t.Helper()
	events := make([]proto.Message, len(names))
	for i, name := range names {
		events[i] = b.event(name)
	}
	ctx := tenant.With(b.t.Context(), tenantID)
	require.NoError(b.t, pg.InTx(ctx, b.pool, func(ctx context.Context, tx pgx.Tx) error {
		return outbox.Append(ctx, tx, events...)
	}))
}

// replica is one relay of the service.
type replica struct {
	*outbox.Relay
	metrics *prometheus.Registry
	stop    func()
}

// relay runs a relay until the test ends or it is stopped.
func (b *bundle) relay(opts outbox.Options) *replica {
	b.t.Helper()
	r := &replica{metrics: prometheus.NewRegistry()}
	opts.Pool, opts.Log, opts.Registry = b.pool, pgtest.Log(b.t), r.metrics
	opts.Bus = b.bus(r.metrics, nil)
	var err error
	r.Relay, err = outbox.NewRelay(opts)
	require.NoError(b.t, err)

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		assert.NoError(b.t, r.Run(ctx))
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	b.t.Cleanup(r.stop)
	return r
}

func (b *bundle) bus(registry prometheus.Registerer, letters bus.DeadLetters) *bus.Bus {
	b.t.Helper()
	made, err := bus.New(bus.Options{
		Conn: b.conn, Events: b.events, DeadLetters: letters, Log: pgtest.Log(b.t), Registry: registry,
		Transient: pgerr.Unavailable,
	})
	require.NoError(b.t, err)
	return made
}

// quick are settings for tests that wait for the relay's own initiative.
func quick() outbox.Options {
	return outbox.Options{Poll: time.Millisecond, IdlePoll: 10 * time.Millisecond, Housekeeping: 20 * time.Millisecond, AckTimeout: time.Second}
}

func (b *bundle) count(where string) (n int) {
	b.t.Helper()
	require.NoError(b.t, b.pool.QueryRow(tenant.All(b.t.Context()), "SELECT count(*) FROM outbox WHERE "+where).Scan(&n))
	return n
}

// allSent waits until no event waits.
func (b *bundle) allSent() {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return b.count("sent_at IS NULL") == 0 }, waitTimeout, 5*time.Millisecond)
}

func (b *bundle) stopBroker() {
	b.t.Helper()
	b.server.Stop()
	require.Eventually(b.t, func() bool { return !b.conn.IsConnected() }, waitTimeout, time.Millisecond)
}

// storedMessages returns the messages of the stream, in order.
func (b *bundle) storedMessages() []*jetstream.RawStreamMsg {
	b.t.Helper()
	js, err := jetstream.New(b.conn)
	require.NoError(b.t, err)
	var messages []*jetstream.RawStreamMsg
	var stream jetstream.Stream
	require.Eventually(b.t, func() bool {
		stream, err = js.Stream(b.t.Context(), "TEST")
		return err == nil
	}, waitTimeout, 5*time.Millisecond)
	for sequence := uint64(1); sequence <= stream.CachedInfo().State.LastSeq; sequence++ {
		message, err := stream.GetMsg(b.t.Context(), sequence)
		require.NoError(b.t, err)
		messages = append(messages, message)
	}
	return messages
}

// names are the events in the stream, in order.
func (b *bundle) names() (names []string) {
	b.t.Helper()
	found, err := b.events.FindDescriptorByName(testevent.Changed)
	require.NoError(b.t, err)
	for _, message := range b.storedMessages() {
		names = append(names, testevent.Name(b.t, found, message.Data))
	}
	return names
}

// numberedNames returns n names.
func numberedNames(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(prefix, i)
	}
	return names
}
