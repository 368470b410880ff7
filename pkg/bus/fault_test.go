package bus_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func TestConsumerOutlivesTheBroker(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	var seen seen
	b.run(consumer(func(_ context.Context, m bus.Message) error {
		seen.add(m.ID)
		return nil
	}))
	b.publish(1, "before")
	seen.await(t, "before")

	b.stopBroker()
	b.startBroker()
	b.publish(1, "after a restart")
	seen.await(t, "after a restart")

	b.stopBroker()
	b.server.Wipe()
	b.startBroker()
	require.Eventually(t, func() bool { return b.bus.EnsureStreams(t.Context()) == nil }, waitTimeout, 10*time.Millisecond)
	b.publish(1, "after losing everything")
	seen.await(t, "after losing everything")
}

func (b *bundle) stopBroker() {
	b.t.Helper()
	b.server.Stop()
	require.Eventually(b.t, func() bool { return !b.conn.IsConnected() }, waitTimeout, time.Millisecond)
}

func (b *bundle) startBroker() {
	b.t.Helper()
	b.server.Start()
	require.Eventually(b.t, b.conn.IsConnected, waitTimeout, 5*time.Millisecond)
}

func TestConsumerWaitsForABrokerThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	b.publish(1, "a")
	b.stopBroker()
	var seen seen
	b.run(consumer(func(_ context.Context, m bus.Message) error {
		seen.add(m.ID)
		return nil
	}))
	b.startBroker()
	seen.await(t, "a")
}

func TestConsumerIsSetUpAgainWhenItIsDeleted(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	var seen seen
	b.run(consumer(func(_ context.Context, m bus.Message) error {
		seen.add(m.ID)
		return nil
	}))
	b.publish(1, "first")
	seen.await(t, "first")
	b.awaitSettled("reader")

	js, err := jetstream.New(b.conn)
	require.NoError(t, err)
	require.NoError(t, js.DeleteConsumer(t.Context(), "TEST", "reader"))
	b.publish(1, "second")
	seen.await(t, "second")
}

func TestStopLetsHandlersFinishAndGivesTheRestBack(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	b.publish(1, "begun", "not begun")
	begun, finish := make(chan struct{}), make(chan struct{})
	var seen seen
	reader := consumer(func(ctx context.Context, m bus.Message) error {
		close(begun) // A second call would panic.
		<-finish
		assert.NoError(t, ctx.Err(), "the handler's context lasts while it drains")
		seen.add(m.ID)
		return nil
	})
	reader.MaxDeliver, reader.AckWait = 100, time.Minute
	stop := b.run(reader)
	<-begun
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	select {
	case <-stopped:
		t.Fatal("stopped over the head of a handler")
	case <-time.After(50 * time.Millisecond):
	}
	close(finish)
	<-stopped
	assert.Equal(t, 1, seen.count("begun"))

	// Given back, not timed out.
	reader.Handle = func(_ context.Context, m bus.Message) error {
		seen.add(m.ID)
		return nil
	}
	b.run(reader)
	b.awaitSettled("reader")
	assert.Equal(t, 1, seen.count("begun"))
	assert.Equal(t, 1, seen.count("not begun"))
}

func TestStopEndsAHandlerThatDoesNotFinish(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	b.publish(1, "endless")
	begun := make(chan struct{}, 1)
	reader := consumer(func(ctx context.Context, _ bus.Message) error {
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	reader.DrainTimeout = 20 * time.Millisecond
	stop := b.run(reader)
	<-begun
	stop()
	assert.Empty(t, b.deadLetters.list())
}

func TestConnectDoesNotNeedABroker(t *testing.T) {
	t.Parallel()
	server := natstest.New(t)
	server.Stop()
	conn, err := natsconn.Connect(natsconn.Config{URL: obs.Secret(server.URL())}, "test", pgtest.Log(t))
	require.NoError(t, err)
	defer conn.Close()
	assert.False(t, conn.IsConnected())
	assert.Error(t, conn.Publish("x", nil), "nothing is kept for later")

	server.Start()
	require.Eventually(t, conn.IsConnected, waitTimeout, 5*time.Millisecond)

	_, err = natsconn.Connect(natsconn.Config{URL: obs.Secret(server.URL()), CA: "/no/such/file"}, "test", pgtest.Log(t))
	assert.Error(t, err)
}
