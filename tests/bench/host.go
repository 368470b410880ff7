package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
)

// host takes the place of a test for the launcher, which starts and ends
// processes with one.
type host struct {
	testing.TB // nil: the launcher needs no more than what is below

	ctx      context.Context
	log      io.Writer
	cleanups []func()
	failures []error
}

// withHost runs f and then, in reverse order, what f asked to be cleaned up.
func withHost(ctx context.Context, log io.Writer, f func(*host) error) error {
	h := &host{ctx: ctx, log: log}
	var err error
	h.apart(func() { err = f(h) })
	for len(h.cleanups) > 0 {
		last := len(h.cleanups) - 1
		cleanup := h.cleanups[last]
		h.cleanups = h.cleanups[:last]
		h.apart(cleanup)
	}
	return errors.Join(append(h.failures, err)...)
}

// apart runs f in a goroutine that FailNow can end.
func (h *host) apart(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// Name is that of the program.
func (h *host) Name() string { return "bench" }

// Context ends with the program.
func (h *host) Context() context.Context { return h.ctx }

// Helper does nothing.
func (h *host) Helper() {}

// Failed reports whether something went wrong.
func (h *host) Failed() bool { return len(h.failures) > 0 }

// Cleanup lets f run at the end.
func (h *host) Cleanup(f func()) { h.cleanups = append(h.cleanups, f) }

// TempDir is a new folder that goes at the end.
func (h *host) TempDir() string {
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
func (h *host) Logf(format string, args ...any) { fmt.Fprintf(h.log, format+"\n", args...) }

// Errorf notes a failure.
func (h *host) Errorf(format string, args ...any) {
	h.failures = append(h.failures, fmt.Errorf(format, args...))
}

// FailNow ends the goroutine.
func (h *host) FailNow() { runtime.Goexit() }

// Fatalf notes a failure and ends the goroutine.
func (h *host) Fatalf(format string, args ...any) {
	h.Errorf(format, args...)
	h.FailNow()
}
