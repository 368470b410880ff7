// Package listener protects a server at its connections: it bounds their number, the time and number of TLS
// handshakes, and how slowly clients may send bodies and read responses. It also rejects plain HTTP.
package listener

import (
	"net"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Limiter bounds the connections of all listeners of a server together. A connection holds a slot from Accept
// until it is closed, handshakes included. While all slots are taken, further connections wait in the queue of
// the operating system.
type Limiter struct {
	slots chan struct{}
	// full is called with true when the first connection starts to wait, and with false when the last one
	// stops.
	full func(bool)
	open prometheus.Gauge

	mu      sync.Mutex
	waiting int
}

// NewLimiter returns a limiter of n connections, which exports their number in open. It calls full with true
// when the first connection starts to wait for a slot, and with false when the last one stops.
func NewLimiter(n int, open prometheus.Gauge, full func(bool)) *Limiter {
	return &Limiter{slots: make(chan struct{}, n), full: full, open: open}
}

// Open returns the number of open connections.
func (m *Limiter) Open() int { return len(m.slots) }

// Limit bounds the connections of a listener.
func (m *Limiter) Limit(l net.Listener) net.Listener {
	return &limitedListener{Listener: l, limiter: m, closed: make(chan struct{})}
}

// take waits for a slot. It returns false if the listener is closed first.
func (m *Limiter) take(closed <-chan struct{}) bool {
	select {
	case m.slots <- struct{}{}:
		return true
	default:
	}
	m.wait(1)
	defer m.wait(-1)
	select {
	case m.slots <- struct{}{}:
		return true
	case <-closed:
		return false
	}
}

func (m *Limiter) wait(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.waiting > 0
	m.waiting += n
	if now := m.waiting > 0; now != before {
		m.full(now)
	}
}

func (m *Limiter) leave() { <-m.slots }

type limitedListener struct {
	net.Listener
	limiter *Limiter
	once    sync.Once
	closed  chan struct{}
}

// Accept returns the next connection, which holds a slot.
func (l *limitedListener) Accept() (net.Conn, error) {
	if !l.limiter.take(l.closed) {
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		l.limiter.leave()
		return nil, err
	}
	l.limiter.open.Inc()
	return &limitedConn{Conn: conn, limiter: l.limiter}, nil
}

// Close closes the listener.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	limiter *Limiter
	once    sync.Once
}

// Close closes the connection and releases its slot.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.limiter.open.Dec()
		c.limiter.leave()
	})
	return err
}
