// Package outage logs when a server that a process depends on becomes unreachable and reachable
// again: one line for each change, not one for each attempt.
package outage

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

// unexplained is how often a line passes whose error looks like an outage that no connection has
// noticed: the error may have another cause.
const unexplained = time.Minute

// Reporter logs the outages of servers, once for all connections of a process. It is safe for
// concurrent use. A nil Reporter logs nothing.
type Reporter struct {
	log *slog.Logger

	mu         sync.Mutex
	down       map[string]clock.Stopwatch
	recognizes map[string]func(error) bool
	passed     clock.Stopwatch
}

// NewReporter returns a Reporter that writes to log.
func NewReporter(log *slog.Logger) *Reporter {
	return &Reporter{log: log, down: map[string]clock.Stopwatch{}, recognizes: map[string]func(error) bool{}}
}

// Failed records that a connection to a server failed. The first failure is logged.
func (r *Reporter) Failed(kind, server string, err error) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.down[kind+server]; known {
		return
	}
	r.down[kind+server] = clock.Start()
	r.log.Warn(kind+" is unreachable; trying again until it is reachable", "server", server, "error", err)
}

// Reached records that a connection to a server succeeded. The end of an outage is logged.
func (r *Reporter) Reached(kind, server string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	since, known := r.down[kind+server]
	if !known {
		return
	}
	delete(r.down, kind+server)
	r.log.Info(kind+" is reachable again", "server", server, "after", since.Elapsed().Round(time.Millisecond))
}

// Recognize adds a function that recognizes the errors of an outage. A second function with the
// same name replaces the first one.
func (r *Reporter) Recognize(name string, outage func(error) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recognizes[name] = outage
}

// Handler wraps the handler of a process. Work that is tried again logs each failure. During an
// outage, Handler writes these lines at the level debug.
func (r *Reporter) Handler(next slog.Handler) slog.Handler { return handler{next, r} }

type handler struct {
	slog.Handler
	reporter *Reporter
}

func (h handler) Handle(ctx context.Context, line slog.Record) error {
	if line.Level >= slog.LevelWarn && h.reporter.repeats(line) {
		line.Level = slog.LevelDebug
		if !h.Enabled(ctx, line.Level) {
			return nil
		}
	}
	return h.Handler.Handle(ctx, line)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.reporter}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.reporter}
}

// repeats reports whether a line tells of an outage that was logged already.
func (r *Reporter) repeats(line slog.Record) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	recognized := false
	line.Attrs(func(attr slog.Attr) bool {
		if err, is := attr.Value.Any().(error); is {
			for _, outage := range r.recognizes {
				recognized = recognized || outage(err)
			}
		}
		return !recognized
	})
	switch {
	case !recognized:
		return false
	case len(r.down) > 0 || r.passed.Elapsed() < unexplained:
		return true
	}
	r.passed = clock.Start()
	return false
}
