package client_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
)

// A process that starts beside the services that it calls is not ready before it reaches them.
func TestAProcessIsReadyOnceItHasConnected(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	conn, err := client.Dial(client.Config{Target: address, Insecure: true})
	require.NoError(t, err)
	defer conn.Close()
	opening := client.Open(conn, clock.System{})
	require.ErrorContains(t, opening.Check(t.Context()), "not connected to "+address+" yet")

	stop := serve(t, address)
	assert.Eventually(t, func() bool { return opening.Check(t.Context()) == nil }, 10*time.Second, time.Millisecond)
	stop()
	require.NoError(t, opening.Check(t.Context()), "it was there once")
}

// One service that stays away must not take the others away.
func TestAProcessIsReadyWithoutAServiceThatStaysAway(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	conn, err := client.Dial(client.Config{Target: listener.Addr().String(), Insecure: true})
	require.NoError(t, err)
	defer conn.Close()
	now := clock.NewFake(time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))
	opening := client.Open(conn, now)
	now.Advance(29 * time.Second)
	require.Error(t, opening.Check(t.Context()))
	now.Advance(time.Second)
	require.NoError(t, opening.Check(t.Context()))
}

// serve starts a service at an address, and returns what ends it.
func serve(t *testing.T, address string) (stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	server := grpc.NewServer()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	return func() { server.Stop(); assert.NoError(t, <-ended) }
}
