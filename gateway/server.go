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

	"github.com/rotaloom/rotaloom/gateway/listener"
)

// Bounds of a connection, whatever is asked over it.
const (
	// partOfAddress is the part of them that run for one address.
	partOfAddress = 8

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
	edge    *Edge
	http    *http.Server
	log     *slog.Logger
	drain   time.Duration
	limiter *listener.Limiter
	linger  *listener.Lingerer
	// stopping reports whether the process is about to end.
	stopping func() bool
}

// NewServer makes the server of an edge. The certificate comes from config,
// whose version is raised to TLS 1.2 when it allows older ones.
func NewServer(e *Edge, config *tls.Config) *Server {
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
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams,
			SendPingTimeout:      pingAfter,
			PingTimeout:          e.cfg.StallTimeout,
			WriteByteTimeout:     e.cfg.StallTimeout,
		},
		ConnContext: listener.WithConn,
		ConnState:   listener.NoteState,
		ErrorLog:    log.New(logWriter{e.log}, "", 0),
	}
	// While somebody waits for a slot, connections that rest are ended, and the
	// others after their next response.
	s.limiter = listener.NewLimiter(e.cfg.MaxConnections, e.metrics.Connections, func(full bool) { s.http.SetKeepAlivesEnabled(!full) })
	return s
}

// LeaveWhen has clients leave once stopping reports that the process is about to end,
// before the server stops: each connection ends with its next response. A client whose
// connection were ended while it sends a request would not know what became of that. It
// is called before the server serves.
func (s *Server) LeaveWhen(stopping func() bool) { s.stopping = stopping }

func (s *Server) closeWhenStopping(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.stopping() {
			w.Header().Set("Connection", "close") // In HTTP/2 the server says GOAWAY.
		}
		next.ServeHTTP(w, r)
	})
}

// Run serves HTTPS, and plain HTTP for trusted proxies when plain is not nil,
// until ctx ends. Then it stops accepting, and gives the requests that run a
// short time. What was refused by then is kept before it returns.
func (s *Server) Run(ctx context.Context, https, plain net.Listener) error {
	defer s.edge.denials.gather(ctx)()
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
	secure := listener.TLS{
		Config: s.http.TLSConfig, MaxHandshakes: s.edge.cfg.MaxHandshakes, PerAddress: s.edge.cfg.HandshakesPerAddress,
		Timeout: s.edge.cfg.HandshakeTimeout, Running: s.edge.metrics.Handshakes, Failures: s.edge.metrics.Failures, Log: s.log,
	}
	return closed(s.http.Serve(secure.Listen(listener.RefusePlain(s.linger.Linger(s.limiter.Limit(listener.Cork(l))), plainRefusal()))))
}

// ServePlain serves plain HTTP until Shutdown. The edge refuses it but from
// trusted proxies.
func (s *Server) ServePlain(l net.Listener) error {
	return closed(s.http.Serve(s.linger.Linger(s.limiter.Limit(l))))
}

func closed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serving HTTP: %w", err)
}

// Shutdown stops accepting and waits until the requests that run have ended and their
// clients have the responses, or until ctx ends; then it closes their connections.
func (s *Server) Shutdown(ctx context.Context) error {
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

// plainRefusal is the response to plain HTTP on the port of HTTPS, in the form of all
// our errors.
func plainRefusal() []byte {
	f := httpsOnly()
	body := errorJSON(f)
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		f.Status, http.StatusText(f.Status), contentType, len(body), body)
}
