package natsd_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/standalone/internal/natsd"
)

// connect returns the JetStream of a service and what ends its connection.
func connect(t *testing.T, broker *natsd.Broker) (jetstream.JetStream, func()) {
	t.Helper()
	conn, err := broker.Connect("test")
	require.NoError(t, err)
	require.Eventually(t, conn.IsConnected, 20*time.Second, time.Millisecond)
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	return js, conn.Close
}

func TestStreamsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := natsd.Start(natsconn.Config{}, dir, pgtest.Log(t))
	require.NoError(t, err)
	js, end := connect(t, first)
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "KEPT", Subjects: []string{"kept"}})
	require.NoError(t, err)
	_, err = js.Publish(t.Context(), "kept", []byte("here"))
	require.NoError(t, err)
	end()
	first.Stop()

	second, err := natsd.Start(natsconn.Config{}, dir, pgtest.Log(t))
	require.NoError(t, err)
	defer second.Stop()
	js, end = connect(t, second)
	defer end()
	stream, err := js.Stream(t.Context(), "KEPT")
	require.NoError(t, err)
	assert.EqualValues(t, 1, stream.CachedInfo().State.Msgs)
}

func TestGivenServerIsUsed(t *testing.T) {
	t.Parallel()
	server := natstest.New(t)
	broker, err := natsd.Start(natsconn.Config{URL: obs.Secret(server.URL())}, "", pgtest.Log(t))
	require.NoError(t, err)
	defer broker.Stop()
	js, end := connect(t, broker)
	defer end()
	_, err = js.AccountInfo(t.Context())
	assert.NoError(t, err)
}
