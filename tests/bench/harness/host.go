// Package harness measures: it runs rounds in turns on processes of this machine, and prints the
// results next to baselines and targets.
package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
	"time"
)

// Host replaces a test for the launcher, which needs one to start and end processes.
type Host struct {
	testing.TB // nil: the launcher needs only the methods below

	ctx      context.Context
	log      io.Writer
	cleanups []func()
	failures []error
}

// WithHost runs f, and then its cleanup functions in reverse order.
func WithHost(ctx context.Context, log io.Writer, f func(*Host) error) error {
	h := &Host{ctx: ctx, log: log}
	var err error
	h.runInGoroutine(func() { err = f(h) })
	for len(h.cleanups) > 0 {
		last := len(h.cleanups) - 1
		cleanup := h.cleanups[last]
		h.cleanups = h.cleanups[:last]
		h.runInGoroutine(cleanup)
	}
	return errors.Join(append(h.failures, err)...)
}

// runInGoroutine runs f in a goroutine that FailNow can end.
func (h *Host) runInGoroutine(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// Name returns the name of the program.
func (h *Host) Name() string { return "bench" }

// Context returns a context that ends with the program.
func (h *Host) Context() context.Context { return h.ctx }

// Helper does nothing.
func (h *Host) Helper() {}

// Failed reports whether there was a failure.
func (h *Host) Failed() bool { return len(h.failures) > 0 }

// Cleanup registers f to run at the end.
func (h *Host) Cleanup(f func()) { h.cleanups = append(h.cleanups, f) }

// TempDir returns a new folder that is removed at the end.
func (h *Host) TempDir() string {
	dir, err := os.MkdirTemp("", "rotaloom-bench-")
	if err != nil {
		h.Fatalf("temporary folder: %v", err)
	}
	h.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			h.Logf("%v", err)
		}
	})
	return dir
}

// Logf writes a line.
func (h *Host) Logf(format string, args ...any) { fmt.Fprintf(h.log, format+"\n", args...) }

// Errorf records a failure.
func (h *Host) Errorf(format string, args ...any) {
	h.failures = append(h.failures, fmt.Errorf(format, args...))
}

// FailNow ends the goroutine.
func (h *Host) FailNow() { runtime.Goexit() }

// Fatalf records a failure and ends the goroutine.
func (h *Host) Fatalf(format string, args ...any) {
	h.Errorf(format, args...)
	h.FailNow()
}

// LogDuration runs a step and logs its duration.
func LogDuration[T any](h *Host, what string, step func() (T, error)) (T, error) {
	began := time.Now()
	out, err := step()
	h.Logf("%s: %.1f s", what, time.Since(began).Seconds())
	return out, err
}
