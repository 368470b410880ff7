package listener

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TLS configures and bounds the TLS handshakes of a listener.
type TLS struct {
	// Config contains the certificate.
	Config *tls.Config
	// MaxHandshakes is the number of handshakes that run at a time, and PerAddress the number of them for one
	// address ([AddressKey]).
	MaxHandshakes, PerAddress int
	// Timeout bounds a handshake.
	Timeout time.Duration
	// Running counts the running handshakes, and Failures the failed ones.
	Running  prometheus.Gauge
	Failures prometheus.Counter
	Log      *slog.Logger
}

// handshaker is a listener that returns connections after their TLS handshake. While the maximum of handshakes
// runs, further connections wait in the queue of the operating system. Connections of an address that has
// reached its limit are closed, because they would block others in the queue.
type handshaker struct {
	net.Listener
	TLS
	slots      chan struct{}
	perAddress addresses

	ready  chan net.Conn
	failed chan error
	once   sync.Once
	ctx    context.Context
	cancel context.CancelFunc
}

// Listen returns a listener whose connections use TLS and have completed their handshakes.
func (t TLS) Listen(l net.Listener) net.Listener { return t.newHandshaker(l) }

func (t TLS) newHandshaker(l net.Listener) *handshaker {
	h := &handshaker{
		Listener: l, TLS: t, slots: make(chan struct{}, t.MaxHandshakes),
		perAddress: addresses{max: t.PerAddress, busy: map[string]int{}}, ready: make(chan net.Conn), failed: make(chan error),
	}
	h.ctx, h.cancel = context.WithCancel(context.Background()) //nolint:gosec // Close calls it.
	go h.run()
	return h
}

// run accepts connections until the listener is closed.
func (h *handshaker) run() {
	for {
		select {
		case h.slots <- struct{}{}:
		case <-h.ctx.Done():
			return
		}
		conn, err := h.Listener.Accept()
		if err == nil {
			h.begin(conn)
			continue
		}
		<-h.slots
		select {
		case h.failed <- err:
		case <-h.ctx.Done():
			return
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// begin starts a handshake, or closes the connection if its address has reached the limit.
func (h *handshaker) begin(conn net.Conn) {
	key := AddressKey(conn.RemoteAddr().String())
	if !h.perAddress.enter(key) {
		<-h.slots
		h.Failures.Inc()
		_ = conn.Close()
		return
	}
	go h.handshake(conn, key)
}

// handshake runs a handshake and delivers the connection to Accept.
func (h *handshaker) handshake(conn net.Conn, key string) {
	h.Running.Inc()
	defer func() {
		h.Running.Dec()
		h.perAddress.leave(key)
		<-h.slots
	}()
	ctx, cancel := context.WithTimeout(h.ctx, h.Timeout)
	defer cancel()
	secure := tls.Server(conn, h.Config)
	if err := secure.HandshakeContext(ctx); err != nil {
		h.Failures.Inc()
		// Anonymous clients cause such errors, so do not log them as errors of the edge.
		h.Log.Debug("TLS handshake", "from", conn.RemoteAddr().String(), "error", err)
		_ = conn.Close()
		return
	}
	select {
	case h.ready <- secure:
	case <-h.ctx.Done():
		_ = conn.Close()
	}
}

// Accept returns the next connection that has completed its handshake.
func (h *handshaker) Accept() (net.Conn, error) {
	select {
	case conn := <-h.ready:
		return conn, nil
	case err := <-h.failed:
		return nil, err
	case <-h.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close closes the listener and cancels the running handshakes.
func (h *handshaker) Close() error {
	h.once.Do(h.cancel)
	return h.Listener.Close()
}

// addresses counts connections by address.
type addresses struct {
	max int

	mu   sync.Mutex
	busy map[string]int
}

// enter counts a connection, unless its address has reached the limit.
func (a *addresses) enter(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy[key] >= a.max {
		return false
	}
	a.busy[key]++
	return true
}

func (a *addresses) leave(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy[key]--; a.busy[key] == 0 {
		delete(a.busy, key)
	}
}
