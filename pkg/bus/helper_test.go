package bus_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/testevent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const waitTimeout = 20 * time.Second

// bundle is a broker with a bus on it.
type bundle struct {
	t           *testing.T
	server      *natstest.Server
	conn        *nats.Conn
	bus         *bus.Bus
	deadLetters *deadLetters
	reg         *prometheus.Registry
}

func newBundle(t *testing.T, transient func(error) bool) *bundle {
	t.Helper()
	b := &bundle{t: t, server: natstest.New(t), deadLetters: &deadLetters{failed: map[string]int{}, begun: map[string]int{}}, reg: prometheus.NewRegistry()}
	b.conn = b.server.Conn()
	var err error
	b.bus, err = bus.New(bus.Options{
		Conn: b.conn, Events: testevent.Files(t), DeadLetters: b.deadLetters,
		Transient: transient, Log: pgtest.Log(t), Registry: b.reg,
	})
	require.NoError(t, err)
	require.NoError(t, b.bus.EnsureStreams(t.Context()))
	return b
}

// publish stores an event of a tenant under an id, as the outbox does.
func (b *bundle) publish(tenant int64, ids ...string) {
	b.t.Helper()
	js, err := jetstream.New(b.conn)
	require.NoError(b.t, err)
	for _, id := range ids {
		msg := nats.NewMsg(testevent.ChangedSubject)
		msg.Header.Set(bus.HeaderID, id)
		msg.Header.Set(bus.HeaderEvent, testevent.Changed)
		if tenant != 0 {
			msg.Header.Set(bus.HeaderTenant, strconv.FormatInt(tenant, 10))
		}
		msg.Header.Set(bus.HeaderRequest, "request-"+id)
		msg.Data = testevent.Payload(b.t, id)
		_, err := js.PublishMsg(b.t.Context(), msg)
		require.NoError(b.t, err)
	}
}

// run runs the consumer until the test ends or the returned function is called.
func (b *bundle) run(c bus.Consumer) (stop func()) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		assert.NoError(b.t, b.bus.Run(ctx, c))
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	b.t.Cleanup(stop)
	return stop
}

// state returns the broker's state of a consumer.
func (b *bundle) state(durable string) *jetstream.ConsumerInfo {
	js, err := jetstream.New(b.conn)
	require.NoError(b.t, err)
	consumer, err := js.Consumer(context.Background(), "TEST", durable)
	if err != nil {
		return &jetstream.ConsumerInfo{NumPending: 1}
	}
	return consumer.CachedInfo()
}

// awaitSettled waits until the broker has a response for every message.
func (b *bundle) awaitSettled(durable string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		info := b.state(durable)
		// A new consumer may not have counted the waiting messages yet.
		return info.Delivered.Consumer > 0 && info.NumPending == 0 && info.NumAckPending == 0
	}, waitTimeout, 5*time.Millisecond)
}

// consumer is one for tests: it tries again at once.
func consumer(handle func(context.Context, bus.Message) error) bus.Consumer {
	return bus.Consumer{
		Durable: "reader", Stream: "TEST", Handle: handle,
		MaxDeliver: 3, Backoff: []time.Duration{time.Millisecond},
	}
}

// seen counts what handlers were given, by event id.
type seen struct {
	mu  sync.Mutex
	ids []string
}

func (s *seen) add(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = append(s.ids, id)
	return s.countLocked(id)
}

func (s *seen) count(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.countLocked(id)
}

func (s *seen) countLocked(id string) (n int) {
	for _, have := range s.ids {
		if have == id {
			n++
		}
	}
	return n
}

func (s *seen) await(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		require.Eventually(t, func() bool { return s.count(id) > 0 }, waitTimeout, 2*time.Millisecond, "event %s did not arrive", id)
	}
}

// deadLetters keeps dead letters in memory.
type deadLetters struct {
	mu   sync.Mutex
	last int64
	all  []bus.DeadLetter
	fail error

	requested     map[int64]bool
	refused       int
	failed, begun map[string]int
}

func (l *deadLetters) Put(_ context.Context, letter bus.DeadLetter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		return l.fail
	}
	l.last++
	letter.ID = l.last
	l.all = append(l.all, letter)
	return nil
}

func (l *deadLetters) ReplayRequested(_ context.Context, consumers []string, limit int) ([]bus.DeadLetter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []bus.DeadLetter
	for _, letter := range l.all {
		if slices.Contains(consumers, letter.Consumer) && l.requested[letter.ID] && len(found) < limit {
			found = append(found, letter)
		}
	}
	return found, nil
}

// request asks for a replay of all letters, as an operator does.
func (l *deadLetters) request() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requested = map[int64]bool{}
	for _, letter := range l.all {
		l.requested[letter.ID] = true
	}
}

func (l *deadLetters) ReplayFailed(_ context.Context, letter bus.DeadLetter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.requested, letter.ID)
	l.refused++
	return nil
}

func (l *deadLetters) BeginAttempt(_ context.Context, consumer string, m bus.Message, count bool) (failed, begun int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := consumer + " " + m.ID
	if count {
		l.begun[key]++
	}
	return l.failed[key], l.begun[key], l.fail
}

func (l *deadLetters) FailAttempt(_ context.Context, consumer string, m bus.Message) (failed int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := consumer + " " + m.ID
	l.failed[key]++
	return l.failed[key], nil
}

func (l *deadLetters) ClearAttempts(_ context.Context, consumer string, m bus.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.failed, consumer+" "+m.ID)
	delete(l.begun, consumer+" "+m.ID)
	return nil
}

func (l *deadLetters) Remove(_ context.Context, letter bus.DeadLetter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.DeleteFunc(l.all, func(have bus.DeadLetter) bool { return have.ID == letter.ID })
	return nil
}

func (l *deadLetters) refusals() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

func (l *deadLetters) setFail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail = err
}

func (l *deadLetters) list() []bus.DeadLetter {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}
