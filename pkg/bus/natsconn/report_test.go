package natsconn_test

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/syncbuffer"
)

// However many connections a process has, its log says once that NATS is unavailable, and once
// that it is back: when it was there, and when it never was.
func TestTheLogSaysOnceThatNATSIsAwayAndBack(t *testing.T) {
	t.Parallel()
	server, log := natstest.New(t), &syncbuffer.Buffer{}
	server.Stop()
	logger := slog.New(slog.NewTextHandler(log, nil))
	report := natsconn.NewReporter(logger)
	logged := func(text string) int { return strings.Count(log.String(), text) }
	for range 5 {
		conn, err := report.Connect(natsconn.Config{URL: obs.Secret(server.URL())}, "test", logger)
		require.NoError(t, err)
		defer conn.Close()
	}
	for round := 1; round <= 2; round++ {
		require.Eventually(t, func() bool { return logged("NATS is unavailable") == round }, waitTimeout, 10*time.Millisecond)
		server.Start()
		require.Eventually(t, func() bool { return logged("NATS is back") == round }, waitTimeout, 10*time.Millisecond)
		assert.Equal(t, round, logged("NATS is unavailable"), log.String())
		server.Stop()
	}
}

// broken is a connection whose writes fail as soon as it is broken.
type broken struct {
	net.Conn
	is *atomic.Bool
}

func (b broken) Write(p []byte) (int, error) {
	if b.is.Load() {
		return 0, io.ErrClosedPipe
	}
	return b.Conn.Write(p)
}

// brokenDialer makes such connections.
type brokenDialer struct{ is *atomic.Bool }

func (d brokenDialer) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address)
	return broken{conn, d.is}, err
}

// A server of the same process may close its end before the client does. The log already says that
// NATS is unavailable, so this needs no further warning.
func TestAFailedWriteIsNotReportedByItself(t *testing.T) {
	t.Parallel()
	server, log, is := natstest.New(t), &syncbuffer.Buffer{}, &atomic.Bool{}
	conn, err := natsconn.Connect(natsconn.Config{URL: obs.Secret(server.URL())}, "test",
		slog.New(slog.NewTextHandler(log, nil)), nats.SetCustomDialer(brokenDialer{is}))
	require.NoError(t, err)
	closed := make(chan struct{})
	conn.SetClosedHandler(func(*nats.Conn) { close(closed) })
	is.Store(true)
	require.NoError(t, conn.Publish("subject", nil))
	require.Eventually(t, func() bool { return errors.Is(conn.LastError(), io.ErrClosedPipe) }, waitTimeout, 10*time.Millisecond)
	conn.Close()
	<-closed // All log lines have been written.
	assert.Empty(t, log.String())
}

// A server that refuses the user is there, and the log says so.
func TestTheLogSaysWhyNATSIsUnavailable(t *testing.T) {
	t.Parallel()
	server, err := natsserver.NewServer(&natsserver.Options{
		Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoLog: true, NoSigs: true, Username: "user", Password: "right",
	})
	require.NoError(t, err)
	server.Start()
	t.Cleanup(func() { server.Shutdown(); server.WaitForShutdown() })
	for range 50 { // The client deletes the error at about the time when Connect returns.
		log := &syncbuffer.Buffer{}
		conn, err := natsconn.Connect(natsconn.Config{URL: obs.Secret("nats://user:wrong@" + server.Addr().String())}, "test", slog.New(slog.NewTextHandler(log, nil)))
		require.NoError(t, err)
		t.Cleanup(conn.Close)
		require.Eventually(t, func() bool { return log.String() != "" }, waitTimeout, 10*time.Millisecond)
		require.Contains(t, log.String(), "Authorization Violation")
		require.NotContains(t, log.String(), "wrong")
	}
}

// An operator may permit a user after the service has started.
func TestARefusedConnectionIsTriedAgain(t *testing.T) {
	t.Parallel()
	options := natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoLog: true, NoSigs: true, Username: "user", Password: "old"}
	server, err := natsserver.NewServer(&options)
	require.NoError(t, err)
	server.Start()
	t.Cleanup(func() { server.Shutdown(); server.WaitForShutdown() })
	conn, err := natsconn.Connect(natsconn.Config{URL: obs.Secret("nats://user:new@" + server.Addr().String())}, "test", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	require.Eventually(t, func() bool {
		v, err := server.Varz(nil)
		return err == nil && v.TotalConnections >= 4 || conn.IsClosed()
	}, waitTimeout, 10*time.Millisecond)
	changed := options
	changed.Port, changed.Password = server.Addr().(*net.TCPAddr).Port, "new"
	require.NoError(t, server.ReloadOptions(&changed))
	require.Eventually(t, conn.IsConnected, waitTimeout, 10*time.Millisecond)
}
