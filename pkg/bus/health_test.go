package bus_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus"
)

// A process is not ready while a broker that is there lacks one of its consumers, and
// stays ready while the broker is away.
func TestCheckNamesConsumersThatDoNotExist(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	assert.NoError(t, b.bus.Check(), "there are none")
	js, err := b.conn.JetStream()
	require.NoError(t, err)
	// Somebody else's consumer of that name, which cannot become ours.
	_, err = js.AddConsumer("TEST", &nats.ConsumerConfig{Durable: "taken", DeliverSubject: "elsewhere", AckPolicy: nats.AckExplicitPolicy})
	require.NoError(t, err)
	b.run(bus.Consumer{Durable: "taken", Stream: "TEST", Handle: func(context.Context, bus.Message) error { return nil }})
	require.Eventually(t, func() bool {
		err := b.bus.Check()
		return err != nil && strings.Contains(err.Error(), "consumer taken: ") && strings.Contains(err.Error(), "ensure consumer")
	}, waitTimeout, 10*time.Millisecond)

	require.NoError(t, js.DeleteConsumer("TEST", "taken"))
	require.Eventually(t, func() bool { return b.bus.Check() == nil }, waitTimeout, 10*time.Millisecond)
	b.server.Stop()
	require.Eventually(t, func() bool { return !b.conn.IsConnected() }, waitTimeout, 10*time.Millisecond)
	assert.NoError(t, b.bus.Check())
}
