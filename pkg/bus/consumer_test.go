package bus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/testevent"
)

func TestHandlerWorksInTheContextOfTheEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	b.publish(7, "a")
	got := make(chan bus.Message, 1)

	b.run(consumer(func(ctx context.Context, m bus.Message) error {
		id, ok := tenant.From(ctx)
		assert.True(t, ok)
		assert.EqualValues(t, 7, id)
		assert.Equal(t, "request-a", obs.RequestFrom(ctx).ID)
		got <- m
		return nil
	}))
	m := <-got
	assert.Equal(t, "a", m.ID)
	assert.EqualValues(t, 7, m.Tenant)
	assert.Equal(t, testevent.ChangedSubject, m.Subject)
	assert.Equal(t, testevent.Changed, m.Event)
	assert.Equal(t, testevent.Payload(t, "a"), m.Payload)
	assert.Equal(t, 1, m.Delivery)
	assert.WithinDuration(t, time.Now(), m.Published, time.Minute)
	b.awaitSettled("reader")
}

func TestFailedEventComesAgainAndDoesNotHoldOthersBack(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	b.publish(1, "shaky", "sound")
	var seen seen

	b.run(consumer(func(_ context.Context, m bus.Message) error {
		if n := seen.add(m.ID); m.ID == "shaky" && n < 3 {
			return errors.New("not yet")
		}
		return nil
	}))
	b.awaitSettled("reader")
	assert.Equal(t, 3, seen.count("shaky"))
	assert.Equal(t, 1, seen.count("sound"))
	assert.Empty(t, b.deadLetters.list())
}

// Alerts look for growth, which a counter that begins at 1 does not show.
func TestDeadLettersAreCountedFromTheBeginning(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	b.publish(7, "good")
	b.run(consumer(func(context.Context, bus.Message) error { return nil }))
	b.awaitSettled("reader")
	assert.NoError(t, testutil.GatherAndCompare(b.reg, strings.NewReader(`
		# HELP rotaloom_bus_dead_letters_total Events that became dead letters. An operator must examine and replay each of them.
		# TYPE rotaloom_bus_dead_letters_total counter
		rotaloom_bus_dead_letters_total{consumer="reader"} 0
	`), "rotaloom_bus_dead_letters_total"))
}

func TestPoisonGoesToTheDeadLettersAndCanBeReplayed(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	b.publish(7, "good", "poison", "better")
	var mended, seen seen
	reader := consumer(func(_ context.Context, m bus.Message) error {
		seen.add(m.ID)
		switch {
		case m.ID != "poison":
			return nil
		case mended.count("yes") == 0:
			panic("cannot digest")
		}
		return nil
	})

	b.run(reader)
	b.awaitSettled("reader")
	require.Len(t, b.deadLetters.list(), 1)
	letter := b.deadLetters.list()[0]
	assert.Equal(t, "poison", letter.Message.ID)
	assert.Equal(t, "reader", letter.Consumer)
	assert.Contains(t, letter.Reason, "cannot digest")
	assert.Equal(t, 3, seen.count("poison"))
	assert.Equal(t, 1, seen.count("good"))
	assert.Equal(t, 1, seen.count("better"))
	assert.NoError(t, testutil.GatherAndCompare(b.reg, strings.NewReader(`
		# HELP rotaloom_bus_dead_letters_total Events that became dead letters. An operator must examine and replay each of them.
		# TYPE rotaloom_bus_dead_letters_total counter
		rotaloom_bus_dead_letters_total{consumer="reader"} 1
	`), "rotaloom_bus_dead_letters_total"))

	b.deadLetters.request()
	require.Eventually(t, func() bool { return b.deadLetters.refusals() == 1 }, waitTimeout, 5*time.Millisecond, "still poison")
	assert.Len(t, b.deadLetters.list(), 1)

	mended.add("yes")
	b.deadLetters.request()
	require.Eventually(t, func() bool { return len(b.deadLetters.list()) == 0 }, waitTimeout, 5*time.Millisecond)
}

// Processes that die take messages with them that they have not handled. This does not count as a
// failure of the messages. But a message that ends its process each time becomes a dead letter.
func TestDeadProcessesAreNoFailuresOfMessages(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	b.publish(1, "a")
	js, err := jetstream.New(b.conn)
	require.NoError(t, err)
	c, err := js.CreateOrUpdateConsumer(t.Context(), "TEST", jetstream.ConsumerConfig{
		Durable: "reader", AckPolicy: jetstream.AckExplicitPolicy, MaxDeliver: -1,
	})
	require.NoError(t, err)
	for range 10 { // delivered to a process that dies before it handles the message
		fetched, err := c.Fetch(1)
		require.NoError(t, err)
		for m := range fetched.Messages() {
			require.NoError(t, m.Nak())
		}
	}
	attempts := make(chan bus.Message, 1)
	b.run(consumer(func(_ context.Context, m bus.Message) error {
		attempts <- m
		return nil
	}))
	m := <-attempts
	assert.Greater(t, m.Delivery, 3)
	assert.Equal(t, 1, m.Attempt)
	b.awaitSettled("reader")
	assert.Empty(t, b.deadLetters.list())
}

func TestPermanentErrorsAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	b.publish(1, "a")
	b.publish(0, "nobody's")
	var seen seen

	b.run(consumer(func(_ context.Context, m bus.Message) error {
		seen.add(m.ID)
		return fmt.Errorf("apply: %w", bus.Permanent(errors.New("unreadable")))
	}))
	b.awaitSettled("reader")
	assert.Equal(t, 1, seen.count("a"))
	assert.Zero(t, seen.count("nobody's"), "an event without a tenant reaches no handler")
	assert.Len(t, b.deadLetters.list(), 2)
}

func TestTransientErrorsAreWaitedOut(t *testing.T) {
	t.Parallel()
	away := errors.New("database is away")
	b := newBundle(t, func(err error) bool { return errors.Is(err, away) })
	b.publish(1, "a", "poison")
	var seen seen
	b.deadLetters.setFail(away)

	reader := consumer(func(_ context.Context, m bus.Message) error {
		switch n := seen.add(m.ID); {
		case m.ID == "poison":
			return bus.Permanent(errors.New("poison"))
		case n < 5:
			return away
		}
		return nil
	})
	reader.MaxDeliver = 1
	b.run(reader)
	seen.await(t, "poison")
	b.deadLetters.setFail(nil)
	b.awaitSettled("reader")
	assert.Equal(t, 5, seen.count("a"), "held and tried until it went through, however few tries it had")
	require.Len(t, b.deadLetters.list(), 1, "the dead letter waited for the database as well")
	assert.Equal(t, "poison", b.deadLetters.list()[0].Message.ID)
	assert.Zero(t, b.state("reader").NumRedelivered)
}

func TestBatchesHoldOneTenantAndIsolateThePoison(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	for i := range 20 {
		b.publish(int64(i%2+1), fmt.Sprint("event-", i))
	}
	b.publish(1, "poison")
	var seen seen
	var mu sync.Mutex
	largest := 0

	b.run(bus.Consumer{
		Durable: "reader", Stream: "TEST", MaxDeliver: 2, Backoff: []time.Duration{time.Millisecond}, BatchSize: 50,
		HandleBatch: func(ctx context.Context, batch []bus.Message) error {
			mu.Lock()
			largest = max(largest, len(batch))
			mu.Unlock()
			id, _ := tenant.From(ctx)
			for _, m := range batch {
				assert.Equal(t, id, m.Tenant)
				if m.ID == "poison" {
					return errors.New("cannot digest")
				}
			}
			for _, m := range batch {
				seen.add(m.ID)
			}
			return nil
		},
	})
	b.awaitSettled("reader")
	for i := range 20 {
		assert.Equal(t, 1, seen.count(fmt.Sprint("event-", i)))
	}
	require.Len(t, b.deadLetters.list(), 1)
	assert.Equal(t, "poison", b.deadLetters.list()[0].Message.ID)
	mu.Lock()
	defer mu.Unlock()
	assert.Greater(t, largest, 1)
}

func TestSlowHandlerKeepsItsMessage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	b.publish(1, "slow", "waiting")
	var seen seen

	reader := consumer(func(_ context.Context, m bus.Message) error {
		seen.add(m.ID)
		if m.ID == "slow" {
			<-time.After(3 * time.Second) // three times the wait of the broker
		}
		return nil
	})
	reader.AckWait = time.Second
	b.run(reader)
	b.awaitSettled("reader")
	assert.Equal(t, 1, seen.count("slow"))
	assert.Equal(t, 1, seen.count("waiting"))
}

func TestWrongConsumersAreRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	handle := func(context.Context, bus.Message) error { return nil }
	for _, wrong := range []bus.Consumer{
		{Stream: "TEST", Handle: handle},
		{Durable: "a", Handle: handle},
		{Durable: "a", Stream: "TEST"},
		{Durable: "a", Stream: "TEST", Handle: handle, HandleBatch: func(context.Context, []bus.Message) error { return nil }},
		{Durable: "a", Stream: "TEST", Handle: handle, MaxDeliver: -1},
	} {
		assert.Error(t, b.bus.Run(t.Context(), wrong))
	}
}
