package listener

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// RefusePlain returns a listener that answers clients that speak plain HTTP instead of TLS with response, which
// is an HTTP/1.1 response.
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
	return &refusingConn{Conn: conn, below: innerReader(conn), response: l.response}, nil
}

// refusingConn inspects the first byte: HTTP begins with a letter, TLS with a control character. For plain
// HTTP, the server's TLS layer fails and writes an alert; refusingConn replaces that alert by the response.
type refusingConn struct {
	net.Conn
	// below is the reader inside the wrapped connections. While a request is in progress, the HTTP server reads
	// ahead in a separate goroutine. With one more method call in between, the initial stack of that goroutine
	// is slightly too small, and each request would pay for a stack copy.
	below    io.Reader
	response []byte

	inspected bool
	plain     atomic.Bool // A handshake timeout closes the connection while another goroutine reads.
	refuse    sync.Once
}

func (c *refusingConn) Read(p []byte) (int, error) {
	n, err := c.below.Read(p)
	if n > 0 && !c.inspected {
		c.inspected = true
		if p[0] >= 'A' && p[0] <= 'Z' {
			c.plain.Store(true)
			if below := findLinger(c); below != nil {
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
