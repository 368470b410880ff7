package restore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// CodeRestored (503): the database of the service was restored to an earlier state. The
// operator runs rotaloom restore finish, after which writes are accepted again.
const CodeRestored = "WRL-00507"

const (
	// startWait is how long a write waits for a guard that still reads the evidence.
	startWait = 3 * time.Second
	// retryStarting and retryRestored are the retry times for rejected callers.
	retryStarting = time.Second
	retryRestored = time.Minute
)

// CheckWrite returns a fault while the database accepts no writes. It waits a moment for a guard
// that has just started.
func (g *Guard) CheckWrite(ctx context.Context) error {
	now := g.current()
	if now.phase == starting {
		now = g.awaitDecision(ctx, now)
	}
	switch now.phase {
	case opened:
		return nil
	case restored:
		return fault.Newf(CodeRestored, http.StatusServiceUnavailable,
			"The %s database was restored to an earlier state, so it accepts no writes yet. An operator must run: rotaloom restore finish", g.opts.Service).
			WithRetryAfter(retryRestored).WithCause(errors.New(now.reason))
	}
	return fault.Unavailable("The service has just started and is still checking whether its database is complete. Try again in a moment.", retryStarting)
}

func (g *Guard) awaitDecision(ctx context.Context, now state) state {
	limit := time.NewTimer(startWait)
	defer limit.Stop()
	select {
	case <-ctx.Done():
	case <-limit.C:
	case <-now.changed:
	}
	return g.current()
}

// Notice returns the reason why writes are refused, or "".
func (g *Guard) Notice() string {
	if now := g.current(); now.phase == restored {
		return fmt.Sprintf("writes are refused until rotaloom restore finish: %s", now.reason)
	}
	return ""
}

// Pause returns work that runs only while the database accepts writes: the work is stopped when the
// database refuses writes, and started again afterwards.
func (g *Guard) Pause(run func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		for ctx.Err() == nil {
			now := g.current()
			if now.phase != opened {
				select {
				case <-ctx.Done():
				case <-now.changed:
				}
				continue
			}
			err := runUntil(ctx, now.changed, run)
			if ctx.Err() != nil || g.current().phase == opened {
				return err // It ended on its own, or with the program.
			}
		}
		return nil
	}
}

// runUntil runs work until it ends, ctx ends, or the channel is closed.
func runUntil(ctx context.Context, end <-chan struct{}, run func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-ctx.Done():
		case <-end:
			cancel()
		}
	}()
	err := run(ctx)
	cancel()
	<-watched
	return err
}
