// Package listener protects a server where connections come in: how many there
// are, how long their TLS handshakes take and how many of them run, and that they
// speak TLS at all. It also bounds how slowly bodies may come and responses be
// taken.
package listener

import (
	"net"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Limiter bounds the connections of all listeners of a server together. A connection
// takes a slot from when it is accepted until it is closed, handshakes included. While
// all are taken, further connections wait in the queue of the operating system.
type Limiter struct {
	slots chan struct{}
	// full is called when somebody waits for a slot, and when nobody does any more.
	full func(bool)
	open prometheus.Gauge

	mu      sync.Mutex
	waiting int
}

// NewLimiter returns a limiter of n connections, which counts in open how many there
// are. It calls full when a connection waits for a slot, and when none does any more.
func NewLimiter(n int, open prometheus.Gauge, full func(bool)) *Limiter {
	return &Limiter{slots: make(chan struct{}, n), full: full, open: open}
}

// Open returns how many connections are open.
func (m *Limiter) Open() int { return len(m.slots) }

// Limit bounds the connections of a listener.
func (m *Limiter) Limit(l net.Listener) net.Listener {
	return &limitedListener{Listener: l, limiter: m, closed: make(chan struct{})}
}

// take waits for a slot, and returns false when the listener is closed before.
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

// Accept returns the next connection, which has taken a slot.
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

// Close ends the listener.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	limiter *Limiter
	once    sync.Once
}

// Close ends the connection and gives its slot to the next one.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.limiter.open.Dec()
		c.limiter.leave()
	})
	return err
}
