package listener

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
)

// TLS writes each record (16 KiB at most) with a separate system call, and each one wakes the client. A large
// response corks its connection while it writes a chunk, so that the records of the chunk leave together.

// Cork returns a listener whose connections support corking by large responses.
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

// corkConn is a connection that buffers writes while it is corked. One response at a time may cork it; other
// writers, such as a TLS alert, may write at the same time.
type corkConn struct {
	net.Conn

	mu       sync.Mutex
	corked   bool
	flushing bool    // whether buffered data is being written, without the lock
	held     *[]byte // buffered data, or nil
	failed   error   // error of an earlier write of buffered data
}

// corkBytes is the buffer limit, which one more record may exceed: a chunk of a response with the overhead of
// TLS and HTTP.
const corkBytes = writeChunk + 4<<10

var corkBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, corkBytes)
	return &b
}}

// Write writes or buffers p. It does not wait for a running flush: TLS sends its closing alert when the client
// has stopped reading.
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

// cork starts buffering.
func (c *corkConn) cork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = true
}

// uncork stops buffering and writes the buffered data.
func (c *corkConn) uncork() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = false
	return c.flush()
}

// flush writes the buffered data, and the data that is added while it writes. TLS regards this data as sent, so
// after an error all further writes must fail.
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

// WithConn returns a context that contains the connection, so that large responses can cork it. Use it as
// [http.Server.ConnContext].
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

// requestCork returns the connection of a request. It returns nil if other requests share the connection, as in
// HTTP/2, or if it cannot be corked.
func requestCork(r *http.Request) *corkConn {
	if r.ProtoMajor != 1 {
		return nil
	}
	c, _ := r.Context().Value(corkKey{}).(*corkConn)
	return c
}

// innerReader returns the reader inside a connection. The wrappers that it skips do not change reads.
func innerReader(conn net.Conn) io.Reader {
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
