package listener

import (
	"net"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A server whose connections are all taken can be stopped.
func TestAFullServerStops(t *testing.T) {
	t.Parallel()
	limiter := NewLimiter(1, prometheus.NewGauge(prometheus.GaugeOpts{}), func(bool) {})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := limiter.Limit(inner)
	_, err = net.Dial("tcp", inner.Addr().String())
	require.NoError(t, err)
	first, err := l.Accept()
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-ended, net.ErrClosed)
	for range 2 {
		_ = first.Close() // The second one finds it closed.
	}
	assert.Zero(t, limiter.Open())
}
