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

	mu   sync.Mutex
	down map[string]clock.Stopwatch
	// ended counts the outages of each server that have ended.
	ended      map[string]int
	recognizes map[string]func(error) bool
	passed     clock.Stopwatch
}

// NewReporter returns a Reporter that writes to log.
func NewReporter(log *slog.Logger) *Reporter {
	return &Reporter{log: log, down: map[string]clock.Stopwatch{}, ended: map[string]int{}, recognizes: map[string]func(error) bool{}}
}

// Attempt is an attempt to connect to a server.
type Attempt struct {
	reporter     *Reporter
	kind, server string
	// ended is the number of outages that had ended when the attempt began.
	ended int
}

// Begin records that an attempt to connect to a server begins. The log names the kind of the server.
func (r *Reporter) Begin(kind, server string) Attempt {
	if r == nil {
		return Attempt{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return Attempt{r, kind, server, r.ended[kind+server]}
}

// Failed records that the attempt failed. The first failure of an outage is logged. The failure of
// an attempt that began before the last outage ended belongs to that outage.
func (a Attempt) Failed(err error) {
	r, key := a.reporter, a.kind+a.server
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.down[key]; known || a.ended != r.ended[key] {
		return
	}
	r.down[key] = clock.Start()
	r.log.Warn(a.kind+" is unreachable; trying again until it is reachable", "server", a.server, "error", err)
}

// Succeeded records that the attempt succeeded. The end of an outage is logged.
func (a Attempt) Succeeded() {
	r, key := a.reporter, a.kind+a.server
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	since, known := r.down[key]
	if !known {
		return
	}
	delete(r.down, key)
	r.ended[key]++
	r.log.Info(a.kind+" is reachable again", "server", a.server, "after", since.Elapsed().Round(time.Millisecond))
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
