package link_test

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/bench/link"
)

// The link neither sends faster than its rate nor loses data, and nothing of it remains.
func TestLinkHasItsRateAndDelay(t *testing.T) {
	shape := link.Shape{Rate: 20_000_000, Delay: 30 * time.Millisecond, Queue: 100 * time.Millisecond}
	l, err := link.Open(shape)
	if os.Geteuid() != 0 {
		require.ErrorIs(t, err, link.ErrUnavailable)
		return
	}
	require.NoError(t, err)
	listener, err := net.Listen("tcp4", link.ServerAddress+":0")
	require.NoError(t, err)
	defer listener.Close()
	const size = 1 << 20
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Write(make([]byte, size)) // The client notices missing bytes.
	}()

	began := time.Now()
	conn, err := l.DialContext(t.Context(), "tcp", listener.Addr().String())
	require.NoError(t, err)
	assert.GreaterOrEqual(t, time.Since(began), 2*shape.Delay, "a handshake goes there and back")
	received, err := io.Copy(io.Discard, conn)
	require.NoError(t, err)
	assert.EqualValues(t, size, received)
	assert.GreaterOrEqual(t, time.Since(began).Seconds(), float64(size*8)/float64(shape.Rate))

	require.NoError(t, conn.Close())
	require.NoError(t, l.Close())
	_, err = net.InterfaceByName("rotaloom-bench")
	assert.Error(t, err, "the device is removed")
}
