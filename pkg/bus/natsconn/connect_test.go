package natsconn_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
)

// After a drain the server may stop: it has all published messages.
func TestDrainWaits(t *testing.T) {
	t.Parallel()
	server := natstest.New(t)
	receiver := server.Conn()
	reader, err := receiver.SubscribeSync("subject")
	require.NoError(t, err)
	require.NoError(t, receiver.Flush())
	conn, err := nats.Connect(server.URL())
	require.NoError(t, err)
	const count = 1000
	for range count {
		require.NoError(t, conn.Publish("subject", nil))
	}
	require.NoError(t, natsconn.Drain(t.Context(), conn))
	assert.True(t, conn.IsClosed())
	for range count {
		_, err := reader.NextMsg(waitTimeout)
		require.NoError(t, err)
	}
	assert.NoError(t, natsconn.Drain(t.Context(), conn), "once more")
}

// A drain that does not end in time closes the connection.
func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	server := natstest.New(t)
	conn, err := nats.Connect(server.URL())
	require.NoError(t, err)
	began, done := make(chan struct{}), make(chan struct{})
	_, err = conn.Subscribe("subject", func(*nats.Msg) { close(began); <-done })
	require.NoError(t, err)
	t.Cleanup(func() { close(done) })
	require.NoError(t, conn.Publish("subject", nil))
	<-began
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, natsconn.Drain(ctx, conn), context.DeadlineExceeded)
	assert.True(t, conn.IsClosed())
}

// A drain does not wait for a server that is away.
func TestDrainWithoutAServer(t *testing.T) {
	t.Parallel()
	server := natstest.New(t)
	conn, err := nats.Connect(server.URL(), nats.MaxReconnects(-1))
	require.NoError(t, err)
	server.Stop()
	require.Eventually(t, conn.IsReconnecting, waitTimeout, 10*time.Millisecond)
	require.NoError(t, natsconn.Drain(t.Context(), conn))
	assert.True(t, conn.IsClosed())
}
