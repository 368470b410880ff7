package gateway

import (
	"net"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// maxConnections is how many connections are open at a time unless a setting says
// otherwise.
const maxConnections = 10_000

// places bound the connections of all listeners of a server together. A connection
// has one from when it is accepted until it is closed, handshakes included. While
// all are taken, further connections wait in the queue of the operating system.
type places struct {
	slots chan struct{}
	// full is told when somebody waits for a place, and when nobody does any more.
	full func(bool)
	open prometheus.Gauge

	mu      sync.Mutex
	waiting int
}

func newPlaces(n int, open prometheus.Gauge) *places {
	return &places{slots: make(chan struct{}, n), full: func(bool) {}, open: open}
}

// on bounds the connections of a listener.
func (p *places) on(l net.Listener) net.Listener {
	return &boundedListener{Listener: l, places: p, closed: make(chan struct{})}
}

// take waits for a place, and answers false when the listener is closed before.
func (p *places) take(closed <-chan struct{}) bool {
	select {
	case p.slots <- struct{}{}:
		return true
	default:
	}
	p.wait(1)
	defer p.wait(-1)
	select {
	case p.slots <- struct{}{}:
		return true
	case <-closed:
		return false
	}
}

func (p *places) wait(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.waiting > 0
	p.waiting += n
	if now := p.waiting > 0; now != before {
		p.full(now)
	}
}

func (p *places) leave() { <-p.slots }

type boundedListener struct {
	net.Listener
	places *places
	once   sync.Once
	closed chan struct{}
}

// Accept answers the next connection, which has a place.
func (l *boundedListener) Accept() (net.Conn, error) {
	if !l.places.take(l.closed) {
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		l.places.leave()
		return nil, err
	}
	l.places.open.Inc()
	return &placedConn{Conn: conn, places: l.places}, nil
}

// Close ends the listener.
func (l *boundedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type placedConn struct {
	net.Conn
	places *places
	once   sync.Once
}

// Close ends the connection and gives its place to the next one.
func (c *placedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.places.open.Dec()
		c.places.leave()
	})
	return err
}
