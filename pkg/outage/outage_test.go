package outage_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/outage"
)

var errDown = errors.New("connection refused")

// lines returns the levels and messages that were written.
func lines(log *bytes.Buffer) (found []string) {
	for line := range strings.Lines(log.String()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), "level=")
		found = append(found, line)
	}
	log.Reset()
	return found
}

func newReporter(level slog.Level) (*outage.Reporter, *slog.Logger, *bytes.Buffer) {
	out := &bytes.Buffer{}
	text := slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})
	r := outage.NewReporter(slog.New(text))
	r.Recognize("test", func(err error) bool { return errors.Is(err, errDown) })
	return r, slog.New(r.Handler(text)).With("service", "auth"), out
}

func TestEachChangeIsLoggedOnce(t *testing.T) {
	t.Parallel()
	r, _, out := newReporter(slog.LevelInfo)
	r.Begin("the database", "a").Succeeded()
	assert.Empty(t, lines(out), "it was never unreachable")
	for range 3 {
		r.Begin("the database", "a").Failed(errDown)
	}
	found := lines(out)
	assert.Len(t, found, 1)
	assert.Equal(t, `WARN msg="the database is unreachable; trying again until it is reachable" server=a error="connection refused"`, found[0])
	for range 3 {
		r.Begin("the database", "a").Succeeded()
	}
	found = lines(out)
	assert.Len(t, found, 1)
	assert.Regexp(t, `^INFO msg="the database is reachable again" server=a after=\S+$`, found[0])

	var none *outage.Reporter
	none.Begin("the database", "a").Failed(errDown)
	none.Begin("the database", "a").Succeeded()
}

// Connections are opened at the same time, and a failure may be noticed late.
func TestALateFailureBelongsToTheOutageThatHasEnded(t *testing.T) {
	t.Parallel()
	r, _, out := newReporter(slog.LevelInfo)
	first, late, other := r.Begin("the database", "a"), r.Begin("the database", "a"), r.Begin("the database", "b")
	first.Failed(errDown)
	r.Begin("the database", "a").Succeeded()
	lines(out)
	late.Failed(errDown)
	assert.Empty(t, lines(out))
	other.Failed(errDown)
	assert.Len(t, lines(out), 1, "another server has its own outages")
	r.Begin("the database", "a").Failed(errDown)
	assert.Len(t, lines(out), 1, "the next outage")
}

func TestRepeatedWorkIsQuietDuringAnOutage(t *testing.T) {
	t.Parallel()
	r, log, out := newReporter(slog.LevelDebug)
	r.Begin("the database", "a").Failed(errDown)
	lines(out)
	for _, c := range []struct {
		write func()
		want  string
	}{
		{func() { log.Warn("trying again", "error", fmt.Errorf("relay: %w", errDown)) }, `DEBUG msg="trying again" service=auth error="relay: connection refused"`},
		{func() { log.Error("gave up", "error", errDown) }, `DEBUG msg="gave up" service=auth error="connection refused"`},
		{func() { log.Warn("bad data", "error", errors.New("no such column")) }, `WARN msg="bad data" service=auth error="no such column"`},
		{func() { log.Info("ready") }, `INFO msg=ready service=auth`},
	} {
		t.Run(c.want, func(t *testing.T) {
			c.write()
			assert.Equal(t, []string{c.want}, lines(out))
		})
	}
}

// A refused connection may have another cause than an outage, so that it must not vanish.
func TestErrorsWithoutAnOutagePassOnceAMinute(t *testing.T) {
	t.Parallel()
	_, log, out := newReporter(slog.LevelInfo)
	for range 5 {
		log.Warn("trying again", "error", errDown)
	}
	assert.Equal(t, []string{`WARN msg="trying again" service=auth error="connection refused"`}, lines(out))
}
