package natsconn_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/syncbuffer"
)

// However many connections a process has, its log says once that NATS is away, and once
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
		require.Eventually(t, func() bool { return logged("NATS is away") == round }, waitTimeout, 10*time.Millisecond)
		server.Start()
		require.Eventually(t, func() bool { return logged("NATS is back") == round }, waitTimeout, 10*time.Millisecond)
		assert.Equal(t, round, logged("NATS is away"), log.String())
		server.Stop()
	}
}
