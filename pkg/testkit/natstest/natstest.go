// Package natstest gives each test its own NATS server with JetStream, in this process. The test
// can stop and restart the server, and delete its streams.
package natstest

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localnats"
)

// Server is the server of one test. Only that test's goroutine may call its methods.
type Server struct {
	t       testing.TB
	dir     string
	port    int
	running *localnats.Server
}

// New starts a server on a random loopback port, which stays the same across restarts. The server
// stops when the test ends.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, dir: filepath.Join(t.TempDir(), "nats"), port: localnats.Random}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

// URL returns the address for clients, whether or not the server runs.
func (s *Server) URL() string { return "nats://127.0.0.1:" + strconv.Itoa(s.port) }

// Start starts the server with its earlier streams.
func (s *Server) Start() {
	s.t.Helper()
	require.Nil(s.t, s.running, "the server runs already")
	running, err := localnats.Start(localnats.Config{Dir: s.dir, Port: s.port})
	require.NoError(s.t, err)
	s.running = running
	at, err := url.Parse(running.URL())
	require.NoError(s.t, err)
	s.port, err = strconv.Atoi(at.Port())
	require.NoError(s.t, err)
}

// Stop stops the server. Stopping a stopped server does nothing.
func (s *Server) Stop() {
	if s.running != nil {
		s.running.Stop()
		s.running = nil
	}
}

// Wipe removes all streams and messages of a stopped server, as if its disk were replaced.
func (s *Server) Wipe() {
	s.t.Helper()
	require.Nil(s.t, s.running, "the server must be stopped")
	require.NoError(s.t, os.RemoveAll(s.dir))
}

// Save copies the streams of a stopped server to a new folder, for Restore.
func (s *Server) Save() (saved string) {
	s.t.Helper()
	require.Nil(s.t, s.running, "the server must be stopped")
	saved = filepath.Join(s.t.TempDir(), "saved")
	require.NoError(s.t, os.CopyFS(saved, os.DirFS(s.dir)))
	return saved
}

// Restore resets a stopped server to a saved state, like a crash that loses unflushed data.
func (s *Server) Restore(saved string) {
	s.t.Helper()
	s.Wipe()
	require.NoError(s.t, os.CopyFS(s.dir, os.DirFS(saved)))
}

// Conn returns a connection that survives restarts of the server. It is closed when the test ends.
func (s *Server) Conn(opts ...nats.Option) *nats.Conn {
	s.t.Helper()
	opts = append([]nats.Option{
		nats.MaxReconnects(-1), nats.ReconnectWait(10 * time.Millisecond), nats.ReconnectJitter(0, 0),
		nats.ReconnectBufSize(-1),
	}, opts...)
	conn, err := nats.Connect(s.URL(), opts...)
	require.NoError(s.t, err)
	s.t.Cleanup(conn.Close)
	return conn
}
