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
	"time"

	"github.com/rotaloom/rotaloom/gateway/errorbody"
	"github.com/rotaloom/rotaloom/gateway/listener"
)

// Bounds of a connection.
const (
	// partOfAddress is the divisor of MaxHandshakes that gives the default of HandshakesPerAddress.
	partOfAddress = 8

	idleTimeout    = 3 * time.Minute
	maxHeaderBytes = 32 << 10
	// grace is the time for reading and writing beyond the timeout of the request.
	grace = time.Minute
)

// Server serves an edge on listeners.
type Server struct {
	edge    *Edge
	http    *http.Server
	log     *slog.Logger
	drain   time.Duration
	limiter *listener.Limiter
	linger  *listener.Lingerer
	// stopping reports whether the process is about to stop.
	stopping func() bool
}

// NewServer returns the server of an edge. config supplies the certificate; NewServer raises its minimum
// version to TLS 1.2. drain is the time for running requests to end when the server stops.
func NewServer(e *Edge, config *tls.Config, drain time.Duration) *Server {
	config = config.Clone()
	config.MinVersion = max(config.MinVersion, tls.VersionTLS12)
	config.NextProtos = []string{"h2", "http/1.1"}
	s := &Server{edge: e, log: e.log, drain: drain, linger: listener.NewLingerer(listener.DefaultLingerBounds()), stopping: func() bool { return false }}
	s.http = &http.Server{
		Handler:           s.closeWhenStopping(e),
		TLSConfig:         config,
		ReadHeaderTimeout: e.cfg.HeaderTimeout,
		ReadTimeout:       e.cfg.Timeout + grace,
		WriteTimeout:      e.cfg.Timeout + grace,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             listener.NewHTTP2Config(e.cfg.StallTimeout),
		ConnContext:       listener.WithConn,
		ConnState:         listener.NoteState,
		ErrorLog:          log.New(logWriter{e.log}, "", 0),
	}
	// While a connection waits for a slot, idle connections are closed, and the others after their next
	// response.
	s.limiter = listener.NewLimiter(e.cfg.MaxConnections, e.metrics.Connections, func(full bool) { s.http.SetKeepAlivesEnabled(!full) })
	return s
}

// LeaveWhen makes clients disconnect as soon as stopping reports that the process is about to stop: each
// connection ends with its next response. Otherwise a client whose connection ends while it sends a request
// would not know the result. Call it before serving.
func (s *Server) LeaveWhen(stopping func() bool) { s.stopping = stopping }

func (s *Server) closeWhenStopping(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.stopping() {
			w.Header().Set("Connection", "close") // For HTTP/2 the server sends GOAWAY.
		}
		next.ServeHTTP(w, r)
	})
}

// Run serves HTTPS, and plain HTTP for trusted proxies unless plain is nil, until ctx ends. Then it stops
// accepting, and closes the connections of requests that run longer than drain. It stores all denials
// before it returns.
func (s *Server) Run(ctx context.Context, https, plain net.Listener) error {
	defer s.edge.denials.Gather(ctx)()
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
		// Slow requests are not an error of a server that was told to stop.
		s.log.Warn("running requests were cut off", "after", s.drain.String())
		return nil
	}
	return err
}

// Serve serves HTTPS until Shutdown. It answers plain HTTP with an error body.
func (s *Server) Serve(l net.Listener) error {
	secure := listener.TLS{
		Config: s.http.TLSConfig, MaxHandshakes: s.edge.cfg.MaxHandshakes, PerAddress: s.edge.cfg.HandshakesPerAddress,
		Timeout: s.edge.cfg.HandshakeTimeout, Running: s.edge.metrics.Handshakes, Failures: s.edge.metrics.Failures, Log: s.log,
	}
	return serveError(s.http.Serve(secure.Listen(listener.RefusePlain(s.linger.Linger(s.limiter.Limit(listener.Cork(l))), plainRefusal(s.edge.cfg.Docs)))))
}

// ServePlain serves plain HTTP until Shutdown. The edge refuses requests that do not come from trusted proxies.
func (s *Server) ServePlain(l net.Listener) error {
	return serveError(s.http.Serve(s.linger.Linger(s.limiter.Limit(l))))
}

func serveError(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serving HTTP: %w", err)
}

// Shutdown stops accepting, and waits until the running requests have ended and their responses are sent, or
// until ctx ends; then it closes the connections. The next bytes of bodies must now arrive within two
// seconds.
func (s *Server) Shutdown(ctx context.Context) error {
	s.edge.stop()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
		return fmt.Errorf("stopping the HTTP server: %w", err)
	}
	s.linger.Stop(ctx)
	return nil
}

type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	w.log.Debug("http server", "message", string(bytes.TrimSpace(p)))
	return len(p), nil
}

// plainRefusal returns the response to plain HTTP on the HTTPS port, in the common form of errors. It is the same
// for all connections, so that it has no request id.
func plainRefusal(docs bool) []byte {
	f := httpsOnly()
	body := errorbody.Context{Docs: docs}.JSON(f)
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		f.Status, http.StatusText(f.Status), contentType, len(body), body)
}
