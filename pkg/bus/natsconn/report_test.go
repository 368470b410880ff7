package natsconn_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
)

// lines is a log that a test reads.
type lines struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.out.String(), text)
}

// However many connections a process has, its log says once that NATS is away, and once
// that it is back: when it was there, and when it never was.
func TestTheLogSaysOnceThatNATSIsAwayAndBack(t *testing.T) {
	t.Parallel()
	server, log := natstest.New(t), &lines{}
	server.Stop()
	logger := slog.New(slog.NewTextHandler(log, nil))
	report := natsconn.NewReporter(logger)
	connected := func() int { return log.count("NATS is back") }
	for range 5 {
		conn, err := report.Connect(natsconn.Config{URL: obs.Secret(server.URL())}, "test", logger)
		require.NoError(t, err)
		defer conn.Close()
	}
	for round := 1; round <= 2; round++ {
		require.Eventually(t, func() bool { return log.count("NATS is away") == round }, patience, 10*time.Millisecond)
		server.Start()
		require.Eventually(t, func() bool { return connected() == round }, patience, 10*time.Millisecond)
		assert.Equal(t, round, log.count("NATS is away"), log.out.String())
		server.Stop()
	}
}
