package listener

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A server that closes a connection while its client still sends has the operating system
// reset it, and a client that looks at nothing before it has sent everything then never
// sees the response. Such a connection is closed for writing first, and what its client
// still sends is read and discarded for a while.

// Lingerer closes connections over which requests were on their way without losing the
// responses. It is safe for concurrent use.
type Lingerer struct {
	bounds     LingerBounds
	slots      chan struct{}
	perAddress addresses
}

// LingerBounds bound what is discarded of connections that the server closes.
type LingerBounds struct {
	// Connections is how many linger at a time, and PerAddress how many of them for one
	// address ([AddressKey]). More are closed at once.
	Connections, PerAddress int
	// Bytes is how much is discarded of each, Time for how long, and Stall is how long its
	// client may send nothing meanwhile.
	Bytes       int64
	Time, Stall time.Duration
}

// DefaultLingerBounds are the bounds of a server.
func DefaultLingerBounds() LingerBounds {
	return LingerBounds{Connections: 1024, PerAddress: 128, Bytes: 4 << 20, Time: 5 * time.Second, Stall: 2 * time.Second}
}

// NewLingerer returns a Lingerer with bounds.
func NewLingerer(bounds LingerBounds) *Lingerer {
	return &Lingerer{
		bounds: bounds, slots: make(chan struct{}, bounds.Connections),
		perAddress: addresses{max: bounds.PerAddress, busy: map[string]int{}},
	}
}

// Linger returns a listener whose connections linger when they are closed while a request
// is worked on.
func (l *Lingerer) Linger(of net.Listener) net.Listener { return lingerListener{of, l} }

// Lingering returns how many connections linger.
func (l *Lingerer) Lingering() int { return len(l.slots) }

// Stop waits until no connection lingers, or until ctx ends. From then on, connections are
// closed at once.
func (l *Lingerer) Stop(ctx context.Context) {
	for range cap(l.slots) {
		select {
		case l.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

type lingerListener struct {
	net.Listener
	lingerer *Lingerer
}

// Accept returns the next connection.
func (l lingerListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lingerConn{Conn: conn, lingerer: l.lingerer}, nil
}

// lingerConn is a connection that may linger.
type lingerConn struct {
	net.Conn
	lingerer *Lingerer
	// working is whether a request is worked on, whose client may still be sending.
	working atomic.Bool
	once    sync.Once
	err     error
}

// NoteState notes whether requests are worked on over a connection. It is for
// [http.Server.ConnState].
func NoteState(conn net.Conn, state http.ConnState) {
	if state != http.StateActive && state != http.StateIdle {
		return
	}
	if c := lingerOf(conn); c != nil {
		c.working.Store(state == http.StateActive)
	}
}

// lingerOf returns the connection below another one that may linger, or nil.
func lingerOf(conn net.Conn) *lingerConn {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if refusing, ok := conn.(*refusingConn); ok {
		conn = refusing.Conn
	}
	c, _ := conn.(*lingerConn)
	return c
}

// Close closes the connection: for writing at once, and altogether when its client has
// sent everything, or had the time to.
func (c *lingerConn) Close() error {
	c.once.Do(func() { c.err = c.close() })
	return c.err
}

func (c *lingerConn) close() error {
	writes := closesWriting(c.Conn)
	if !c.working.Load() || writes == nil || !c.lingerer.begin(c.RemoteAddr()) {
		return c.Conn.Close()
	}
	if writes.CloseWrite() != nil { // The client has gone.
		c.lingerer.end(c.RemoteAddr())
		return c.Conn.Close()
	}
	go func() {
		defer c.lingerer.end(c.RemoteAddr())
		defer c.Conn.Close()
		c.discard()
	}()
	return nil
}

// discard reads what is still sent, so long as it comes.
func (c *lingerConn) discard() {
	bounds := c.lingerer.bounds
	end := time.Now().Add(bounds.Time)
	for left := bounds.Bytes; left > 0; left -= drainChunk {
		next := time.Now().Add(bounds.Stall)
		if end.Before(next) {
			next = end
		}
		if c.SetReadDeadline(next) != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, readsFrom(c.Conn), min(left, drainChunk)); err != nil {
			return
		}
	}
}

// begin counts a connection that lingers, unless there are as many as may be.
func (l *Lingerer) begin(from net.Addr) bool {
	select {
	case l.slots <- struct{}{}:
	default:
		return false
	}
	if !l.perAddress.enter(AddressKey(from.String())) {
		<-l.slots
		return false
	}
	return true
}

func (l *Lingerer) end(from net.Addr) {
	l.perAddress.leave(AddressKey(from.String()))
	<-l.slots
}

// closesWriting returns what closes a connection for writing: the one of the operating
// system. It is nil when there is none.
func closesWriting(conn net.Conn) interface{ CloseWrite() error } {
	if limited, ok := conn.(*limitedConn); ok {
		conn = limited.Conn
	}
	if c, ok := conn.(*corkConn); ok {
		conn = c.Conn
	}
	writes, _ := conn.(interface{ CloseWrite() error })
	return writes
}
