package listener

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newTestHandshaker(t *testing.T, limit, perAddress int, timeout time.Duration) *handshaker {
	t.Helper()
	donor := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(donor.Close)
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := TLS{
		Config: donor.TLS, MaxHandshakes: limit, PerAddress: perAddress, Timeout: timeout, Log: slog.New(slog.DiscardHandler),
		Running: prometheus.NewGauge(prometheus.GaugeOpts{}), Failures: prometheus.NewCounter(prometheus.CounterOpts{}),
	}.newHandshaker(inner)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func dial(t *testing.T, h *handshaker) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", h.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	return conn
}

func running(h *handshaker, n float64) func() bool {
	return func() bool { return testutil.ToFloat64(h.Running) == n }
}

// Clients that never finish their handshake occupy a bounded number of slots for a bounded time. Later clients
// are served.
func TestHandshakesAreBounded(t *testing.T) {
	t.Parallel()
	const limit = 3
	h := newTestHandshaker(t, limit, limit, 300*time.Millisecond)
	for range 4 * limit {
		dial(t, h)
	}
	require.Eventually(t, running(h, limit), 10*time.Second, time.Millisecond)
	// The test does not check the name.
	secure := tls.Client(dial(t, h), &tls.Config{InsecureSkipVerify: true}) //nolint:gosec
	done := make(chan error, 1)
	go func() { done <- secure.Handshake() }()
	highest := 0.0
	for waiting := true; waiting; {
		select {
		case err := <-done:
			require.NoError(t, err)
			waiting = false
		default:
			highest = max(highest, testutil.ToFloat64(h.Running))
		}
	}
	assert.LessOrEqual(t, highest, float64(limit))
	conn, err := h.Accept()
	require.NoError(t, err)
	assert.True(t, conn.(*tls.Conn).ConnectionState().HandshakeComplete)
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return testutil.ToFloat64(h.Failures) == 4*limit }, 10*time.Second, time.Millisecond)
	require.Eventually(t, running(h, 0), 10*time.Second, time.Millisecond)
}

// Closing the listener ends waiting Accept calls and running handshakes.
func TestHandshakesEndWithTheirListener(t *testing.T) {
	t.Parallel()
	h := newTestHandshaker(t, 2, 2, time.Hour)
	silent := dial(t, h)
	require.Eventually(t, running(h, 1), 10*time.Second, time.Millisecond)
	accepted := make(chan error, 1)
	go func() {
		_, err := h.Accept()
		accepted <- err
	}()
	require.NoError(t, h.Close())
	require.ErrorIs(t, <-accepted, net.ErrClosed)
	_, err := io.ReadAll(silent)
	assert.False(t, isTimeout(err), "the connection is ended")
	require.Eventually(t, running(h, 0), 10*time.Second, time.Millisecond)
}

// Clients at one address that never finish their handshakes do not make clients at other addresses wait.
func TestOneAddressTakesAPartOfTheHandshakes(t *testing.T) {
	t.Parallel()
	h := newTestHandshaker(t, 4, 2, time.Hour)
	var knocks []net.Conn
	for range 8 {
		knocks = append(knocks, dial(t, h))
	}
	ended := 0
	for _, conn := range knocks {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(500*time.Millisecond)))
		if _, err := io.ReadAll(conn); !isTimeout(err) {
			ended++
		}
	}
	assert.Equal(t, 6, ended, "connections beyond its part are ended at once")
	other := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	conn, err := other.DialContext(t.Context(), "tcp", h.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		if conn, err := h.Accept(); err == nil {
			accepted <- conn
		}
	}()
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	// The test does not check the name.
	require.NoError(t, tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).Handshake()) //nolint:gosec
	require.NoError(t, (<-accepted).Close())
	for _, conn := range knocks {
		require.NoError(t, conn.Close())
	}
	require.Eventually(t, func() bool {
		h.perAddress.mu.Lock()
		defer h.perAddress.mu.Unlock()
		return len(h.perAddress.busy) == 0
	}, 10*time.Second, time.Millisecond)
}

func TestAddressesAreCountedByTheirKey(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"192.0.2.7:99": "192.0.2.7", "[::ffff:192.0.2.7]:99": "192.0.2.7", "[2001:db8:1:2:3::4]:99": "2001:db8:1:2::",
		"[fe80::1%eth0]:99": "fe80::", "pipe": "unknown",
	} {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, AddressKey(from))
		})
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
