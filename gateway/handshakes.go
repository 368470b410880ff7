package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"
)

const (
	// maxHandshakes is how many TLS handshakes run at a time unless a setting says
	// otherwise: far fewer than there are places for connections, so that those who
	// only knock take no places from those who are in.
	maxHandshakes    = 2000
	handshakeTimeout = 5 * time.Second
	// partOfAddress is the part of them that run for one address.
	partOfAddress = 8
)

// handshaker is a listener whose connections have their TLS handshake behind them.
// While as many run as may, further connections wait in the queue of the operating
// system. Those of an address that has its part are ended: they would wait in
// front of others.
type handshaker struct {
	net.Listener
	config     *tls.Config
	timeout    time.Duration
	slots      chan struct{}
	perAddress addresses
	metrics    *metrics
	log        *slog.Logger

	ready  chan net.Conn
	failed chan error
	once   sync.Once
	ctx    context.Context
	cancel context.CancelFunc
}

func newHandshaker(l net.Listener, config *tls.Config, cfg Config, m *metrics, log *slog.Logger) *handshaker {
	h := &handshaker{
		Listener: l, config: config, timeout: cfg.HandshakeTimeout, slots: make(chan struct{}, cfg.MaxHandshakes),
		perAddress: addresses{most: cfg.HandshakesPerAddress, busy: map[string]int{}}, metrics: m, log: log, ready: make(chan net.Conn), failed: make(chan error),
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
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
	site := siteOf(conn.RemoteAddr().String())
	if !h.perAddress.enter(site) {
		<-h.slots
		h.metrics.failures.Inc()
		_ = conn.Close()
		return
	}
	go h.shake(conn, site)
}

// shake carries a handshake out, and hands the connection over.
func (h *handshaker) shake(conn net.Conn, site string) {
	h.metrics.handshakes.Inc()
	defer func() {
		h.metrics.handshakes.Dec()
		h.perAddress.leave(site)
		<-h.slots
	}()
	ctx, cancel := context.WithTimeout(h.ctx, h.timeout)
	defer cancel()
	secure := tls.Server(conn, h.config)
	if err := secure.HandshakeContext(ctx); err != nil {
		h.metrics.failures.Inc()
		// The doing of strangers, not of the edge.
		h.log.Debug("TLS handshake", "from", conn.RemoteAddr().String(), "error", err)
		_ = conn.Close()
		return
	}
	select {
	case h.ready <- secure:
	case <-h.ctx.Done():
		_ = conn.Close()
	}
}

// Accept answers the next connection whose handshake is done.
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
	most int

	mu   sync.Mutex
	busy map[string]int
}

// enter counts one more, unless there are as many as may be.
func (a *addresses) enter(site string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy[site] >= a.most {
		return false
	}
	a.busy[site]++
	return true
}

func (a *addresses) leave(site string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy[site]--; a.busy[site] == 0 {
		delete(a.busy, site)
	}
}
