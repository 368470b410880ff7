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

// If a server closes a connection while the client still sends, the operating system resets it, and a client
// that reads only after it has sent everything never sees the response. Such a connection is first closed for
// writing; the rest that the client sends is read and discarded for a while.

// Lingerer closes connections with requests in progress without losing the responses. It is safe for concurrent
// use.
type Lingerer struct {
	bounds     LingerBounds
	slots      chan struct{}
	perAddress addresses
}

// LingerBounds limits the reading from connections that the server closes.
type LingerBounds struct {
	// Connections is the number of connections that linger at a time, and PerAddress the number of them for one
	// address ([AddressKey]). Further connections are closed at once.
	Connections, PerAddress int
	// Bytes is the number of bytes to discard from each connection, Time the longest time for that, and Stall
	// the longest time without data.
	Bytes       int64
	Time, Stall time.Duration
}

// DefaultLingerBounds returns the bounds of a server.
func DefaultLingerBounds() LingerBounds {
	return LingerBounds{Connections: 1024, PerAddress: 128, Bytes: 4 << 20, Time: 5 * time.Second, Stall: 2 * time.Second}
}

// NewLingerer returns a Lingerer with these bounds.
func NewLingerer(bounds LingerBounds) *Lingerer {
	return &Lingerer{
		bounds: bounds, slots: make(chan struct{}, bounds.Connections),
		perAddress: addresses{max: bounds.PerAddress, busy: map[string]int{}},
	}
}

// Linger returns a listener whose connections linger if they are closed while a request is in progress.
func (l *Lingerer) Linger(inner net.Listener) net.Listener { return lingerListener{inner, l} }

// Lingering returns the number of lingering connections.
func (l *Lingerer) Lingering() int { return len(l.slots) }

// Stop waits until no connection lingers, or until ctx ends. From then on, connections are closed without
// lingering.
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

// lingerConn is a connection that can linger.
type lingerConn struct {
	net.Conn
	lingerer *Lingerer
	// working reports whether a request is in progress.
	working atomic.Bool
	once    sync.Once
	err     error
}

// NoteState records whether requests are in progress on a connection. Use it as [http.Server.ConnState].
func NoteState(conn net.Conn, state http.ConnState) {
	if state != http.StateActive && state != http.StateIdle {
		return
	}
	if c := findLinger(conn); c != nil {
		c.working.Store(state == http.StateActive)
	}
}

// findLinger returns the lingerConn inside a connection, or nil.
func findLinger(conn net.Conn) *lingerConn {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if refusing, ok := conn.(*refusingConn); ok {
		conn = refusing.Conn
	}
	c, _ := conn.(*lingerConn)
	return c
}

// Close closes the connection: for writing at once, and completely after the client has sent everything or its
// time is over.
func (c *lingerConn) Close() error {
	c.once.Do(func() { c.err = c.close() })
	return c.err
}

func (c *lingerConn) close() error {
	writes := writeCloser(c.Conn)
	if !c.working.Load() || writes == nil || !c.lingerer.begin(c.RemoteAddr()) {
		return c.Conn.Close()
	}
	if writes.CloseWrite() != nil { // The client has disconnected.
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

// discard reads and drops the data that the client still sends.
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
		if _, err := io.CopyN(io.Discard, innerReader(c.Conn), min(left, drainChunk)); err != nil {
			return
		}
	}
}

// begin counts a lingering connection, unless a limit is reached.
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

// writeCloser returns the connection of the operating system, which can be closed for writing, or nil.
func writeCloser(conn net.Conn) interface{ CloseWrite() error } {
	if limited, ok := conn.(*limitedConn); ok {
		conn = limited.Conn
	}
	if c, ok := conn.(*corkConn); ok {
		conn = c.Conn
	}
	writes, _ := conn.(interface{ CloseWrite() error })
	return writes
}
