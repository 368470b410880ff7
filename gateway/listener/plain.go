package listener

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// RefusePlain returns a listener that informs clients which speak plain HTTP where TLS
// is expected what is wrong: they get the response, which is one of HTTP/1.1.
func RefusePlain(l net.Listener, response []byte) net.Listener {
	return plainHTTPRejecter{Listener: l, response: response}
}

type plainHTTPRejecter struct {
	net.Listener
	response []byte
}

func (l plainHTTPRejecter) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &refusingConn{Conn: conn, below: readsFrom(conn), response: l.response}, nil
}

// refusingConn looks at the first byte: HTTP begins with the letters of a
// method, TLS with a control character. The server then finds that a plain
// request is no TLS, and what it writes about that is replaced.
type refusingConn struct {
	net.Conn
	// below is what is read: past the connections in between. While a request is worked on, the HTTP server reads ahead in a goroutine of
	// its own. With one method more in between, that goroutine's first stack is just
	// too small, and each request would cost a copy of it.
	below    io.Reader
	response []byte

	inspected bool
	plain     atomic.Bool // A handshake that takes too long is ended beside its reading.
	refuse    sync.Once
}

func (c *refusingConn) Read(p []byte) (int, error) {
	n, err := c.below.Read(p)
	if n > 0 && !c.inspected {
		c.inspected = true
		if p[0] >= 'A' && p[0] <= 'Z' {
			c.plain.Store(true)
			if below := lingerOf(c); below != nil {
				below.working.Store(true)
			}
		}
	}
	return n, err
}

func (c *refusingConn) Write(p []byte) (int, error) {
	if !c.plain.Load() {
		return c.Conn.Write(p)
	}
	var err error
	c.refuse.Do(func() { err = c.writeRefusal() })
	return len(p), err
}

func (c *refusingConn) Close() error {
	if c.plain.Load() {
		c.refuse.Do(func() { _ = c.writeRefusal() })
	}
	return c.Conn.Close()
}

func (c *refusingConn) writeRefusal() error {
	_, err := c.Conn.Write(c.response)
	return err
}
