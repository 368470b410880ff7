package listener

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
)

// TLS writes each of its records, 16 KiB at most, by a system call of its own, and each
// wakes the client up. A large response corks its connection while it writes a chunk, so
// that the records of the chunk go out together.

// Cork returns a listener whose connections large responses may cork.
func Cork(l net.Listener) net.Listener { return corkListener{l} }

type corkListener struct{ net.Listener }

// Accept returns the next connection.
func (l corkListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &corkConn{Conn: conn}, nil
}

// corkConn is a connection that holds back what is written while it is corked. One
// response at a time may cork it; others, such as an alert of TLS, may write meanwhile.
type corkConn struct {
	net.Conn

	mu       sync.Mutex
	corked   bool
	flushing bool    // whether what was held back is being written, without the lock
	held     *[]byte // what is held back, or nil
	failed   error   // of an earlier write of what was held back
}

// corkBytes is how much is held back at most, but for one record: a chunk of a response
// with what TLS and HTTP add to it.
const corkBytes = writeChunk + 4<<10

var corkBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, corkBytes)
	return &b
}}

// Write writes, or holds back what it is given. It does not wait for what was held back to
// be written: the alert with which a connection is closed comes when its client takes
// nothing any more.
func (c *corkConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.failed == nil && !c.corked && !c.flushing {
		c.mu.Unlock() // TLS writes one record at a time.
		return c.Conn.Write(p)
	}
	defer c.mu.Unlock()
	if c.failed != nil {
		return 0, c.failed
	}
	if c.held == nil {
		c.held = corkBuffers.Get().(*[]byte)
	}
	*c.held = append(*c.held, p...)
	if c.flushing || len(*c.held) < corkBytes {
		return len(p), nil
	}
	return len(p), c.flush()
}

// cork holds back what is written from now on.
func (c *corkConn) cork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = true
}

// uncork writes what was held back.
func (c *corkConn) uncork() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = false
	return c.flush()
}

// flush writes what was held back, and what comes to that meanwhile. TLS takes it for sent,
// so after an error nothing more may be.
func (c *corkConn) flush() error {
	c.flushing = true
	for c.held != nil {
		held := c.held
		c.held = nil
		if c.failed == nil {
			c.mu.Unlock()
			_, err := c.Conn.Write(*held)
			c.mu.Lock()
			c.failed = err
		}
		*held = (*held)[:0]
		corkBuffers.Put(held)
	}
	c.flushing = false
	return c.failed
}

type corkKey struct{}

// WithConn returns the context of a connection, in which large responses find what they
// cork. It is for [http.Server.ConnContext].
func WithConn(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if refusing, ok := conn.(*refusingConn); ok {
		conn = refusing.Conn
	}
	if lingering, ok := conn.(*lingerConn); ok {
		conn = lingering.Conn
	}
	if limited, ok := conn.(*limitedConn); ok {
		conn = limited.Conn
	}
	if c, ok := conn.(*corkConn); ok {
		return context.WithValue(ctx, corkKey{}, c)
	}
	return ctx
}

// corkOf returns the connection of a request, or nil when it is shared with others, as in
// HTTP/2, or cannot be corked.
func corkOf(r *http.Request) *corkConn {
	if r.ProtoMajor != 1 {
		return nil
	}
	c, _ := r.Context().Value(corkKey{}).(*corkConn)
	return c
}

// readsFrom returns what a connection reads from: past those in between, which read as the
// one in them does.
func readsFrom(conn net.Conn) io.Reader {
	if lingering, ok := conn.(*lingerConn); ok {
		conn = lingering.Conn
	}
	if limited, ok := conn.(*limitedConn); ok {
		conn = limited.Conn
	}
	if c, ok := conn.(*corkConn); ok {
		conn = c.Conn
	}
	return conn
}
