package gateway

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// At most the permitted number of connections is served at a time. Neither idle connections nor those without
// requests block others forever.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	const limit = 4
	servers := make(chan *Server, 1)
	cfg := Config{MaxConnections: limit, HandshakeTimeout: time.Second}
	address, client := listenWith(t, cfg, all(&recorder{}), func(s *Server, l net.Listener) error {
		servers <- s
		return s.Serve(l)
	})
	bounded := <-servers
	get := func() error {
		resp, err := client.Get("https://" + address + "/v1/nothing")
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	require.NoError(t, get())
	for range limit {
		conn := line(t, address, client)
		require.NoError(t, conn.Handshake(), "a connection that rests makes room: connection %d", bounded.limiter.Open())
		_, err := conn.Write([]byte("GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n"))
		require.NoError(t, err)
		_, err = conn.Read(make([]byte, 1))
		require.NoError(t, err)
	}
	// These say nothing. They wait outside, or lose their slots when their time is over.
	for range 10 * limit {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		assert.LessOrEqual(t, bounded.limiter.Open(), limit)
	}
	client.CloseIdleConnections()
	client.Timeout = time.Minute
	began := time.Now()
	require.NoError(t, get(), "waiting callers are served")
	assert.Less(t, time.Since(began), 30*time.Second)
	assert.LessOrEqual(t, bounded.limiter.Open(), limit)
}
