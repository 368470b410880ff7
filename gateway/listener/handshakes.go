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

// TLS is how the handshakes of a listener are bounded.
type TLS struct {
	// Config has the certificate.
	Config *tls.Config
	// MaxHandshakes is how many handshakes run at a time, and PerAddress how many of
	// them for one address ([AddressKey]).
	MaxHandshakes, PerAddress int
	// Timeout is how long one may take.
	Timeout time.Duration
	// Running is how many run, and Failures how many came to nothing.
	Running  prometheus.Gauge
	Failures prometheus.Counter
	Log      *slog.Logger
}

// handshaker is a listener whose connections have their TLS handshake behind them.
// While as many run as may, further connections wait in the queue of the operating
// system. Those of an address that has its part are ended: they would wait in
// front of others.
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

// Listen returns a listener whose connections speak TLS, with their handshakes done.
func (t TLS) Listen(l net.Listener) net.Listener { return t.listen(l) }

func (t TLS) listen(l net.Listener) *handshaker {
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

// begin starts a handshake, or ends the connection when its address has as many
// as it may.
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

// handshake carries a handshake out, and hands the connection over.
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
		// The doing of anonymous clients, not of the edge.
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

// Accept returns the next connection whose handshake is done.
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

// Close ends the listener, and the handshakes that run.
func (h *handshaker) Close() error {
	h.once.Do(h.cancel)
	return h.Listener.Close()
}

// addresses counts what runs for each address.
type addresses struct {
	max int

	mu   sync.Mutex
	busy map[string]int
}

// enter counts one more, unless there are as many as may be.
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
