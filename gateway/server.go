package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of a connection, whatever is asked over it.
const (
	idleTimeout    = 3 * time.Minute
	maxHeaderBytes = 32 << 10
	maxStreams     = 128
	// pingAfter is how long a connection of HTTP/2 is silent before its client
	// is asked whether it is there.
	pingAfter = 30 * time.Second
	// drain is how long requests that run may take when the server stops. The
	// whole process must have ended within the 10 s that containers are given.
	drain = 4 * time.Second
	// grace is what reading and writing may take beyond the time that the
	// request itself may take.
	grace = time.Minute
)

// Server serves an edge on listeners.
type Server struct {
	edge   *Edge
	http   *http.Server
	log    *slog.Logger
	drain  time.Duration
	places *places
}

// NewServer makes the server of an edge. The certificate comes from config,
// whose version is raised to TLS 1.2 when it allows older ones.
func NewServer(e *Edge, config *tls.Config) *Server {
	config = config.Clone()
	config.MinVersion = max(config.MinVersion, tls.VersionTLS12)
	config.NextProtos = []string{"h2", "http/1.1"}
	s := &Server{edge: e, log: e.log, drain: drain, places: newPlaces(e.cfg.MaxConnections, e.metrics.connections), http: &http.Server{
		Handler:           e,
		TLSConfig:         config,
		ReadHeaderTimeout: e.cfg.HeaderTimeout,
		ReadTimeout:       e.cfg.Timeout + grace,
		WriteTimeout:      e.cfg.Timeout + grace,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams,
			SendPingTimeout:      pingAfter,
			PingTimeout:          e.cfg.StallTimeout,
			WriteByteTimeout:     e.cfg.StallTimeout,
		},
		ErrorLog: log.New(logWriter{e.log}, "", 0),
	}}
	// While somebody waits for a place, connections that rest are ended, and the
	// others after their next answer.
	s.places.full = func(full bool) { s.http.SetKeepAlivesEnabled(!full) }
	return s
}

// Run serves HTTPS, and plain HTTP for trusted proxies when plain is not nil,
// until ctx ends. Then it stops accepting, and gives the requests that run a
// short time. What was refused by then is kept before it returns.
func (s *Server) Run(ctx context.Context, https, plain net.Listener) error {
	defer s.edge.gather(ctx)()
	ended := make(chan error, 2)
	go func() { ended <- s.Serve(https) }()
	if plain != nil {
		go func() { ended <- s.ServePlain(plain) }()
	}
	select {
	case err := <-ended:
		return errors.Join(err, s.http.Close())
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.drain)
	defer cancel()
	err := s.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		// That a request was slow is no failure of a server that was asked to stop.
		s.log.Warn("requests that ran were cut off", "after", s.drain.String())
		return nil
	}
	return err
}

// Serve serves HTTPS until Shutdown. Plain HTTP is refused with an error body.
func (s *Server) Serve(l net.Listener) error {
	return closed(s.http.Serve(newHandshaker(refuser{s.places.on(l)}, s.http.TLSConfig, s.edge.cfg, s.edge.metrics, s.log)))
}

// ServePlain serves plain HTTP until Shutdown. The edge refuses it but from
// trusted proxies.
func (s *Server) ServePlain(l net.Listener) error {
	return closed(s.http.Serve(s.places.on(l)))
}

func closed(err error) error {
	if err == http.ErrServerClosed {
		return nil
	}
	return fmt.Errorf("serving HTTP: %w", err)
}

// Shutdown stops accepting and waits until the requests that run have ended,
// or until ctx ends; then it closes their connections.
func (s *Server) Shutdown(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
		return fmt.Errorf("stopping the HTTP server: %w", err)
	}
	return nil
}

type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	w.log.Debug("http server", "message", string(bytes.TrimSpace(p)))
	return len(p), nil
}

// refuser tells clients that speak plain HTTP on the port of HTTPS what is
// wrong, in the form of all our errors.
type refuser struct{ net.Listener }

func (l refuser) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &refusingConn{Conn: conn}, nil
}

// refusingConn looks at the first byte: HTTP begins with the letters of a
// method, TLS with a control character. The server then finds that a plain
// request is no TLS, and what it writes about that is replaced.
type refusingConn struct {
	net.Conn
	looked bool
	plain  atomic.Bool // A handshake that takes too long is ended beside its reading.
	refuse sync.Once
}

func (c *refusingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.looked {
		c.looked = true
		c.plain.Store(p[0] >= 'A' && p[0] <= 'Z')
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
	f := httpsOnly()
	body := errorJSON(f)
	_, err := fmt.Fprintf(c.Conn, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		f.Status, http.StatusText(f.Status), contentType, len(body), body)
	return err
}
