// Package backoff determines the wait before the next attempt after a failure.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff counts attempts. The wait doubles from First up to Max; the upper half of each wait is
// random, so that competitors do not collide again. It is for one goroutine.
type Backoff struct {
	First, Max time.Duration

	attempts int
}

// Next counts a failed attempt and returns the next wait.
func (b *Backoff) Next() time.Duration {
	b.attempts++
	return b.After(b.attempts)
}

// After returns the wait after a number of failed attempts, from 1, for callers that store the
// count elsewhere.
func (b *Backoff) After(failed int) time.Duration {
	wait := min(b.First, b.Max)
	for range failed - 1 {
		if wait > b.Max/2 { // Doubling would exceed Max, or overflow.
			wait = b.Max
			break
		}
		wait *= 2
	}
	return wait/2 + rand.N(wait/2+1)
}

// Attempts returns the number of failures since the last success.
func (b *Backoff) Attempts() int { return b.attempts }

// Reset records a success.
func (b *Backoff) Reset() { b.attempts = 0 }

// Wait counts a failed attempt and waits. It returns the context's error if ctx ends first.
func (b *Backoff) Wait(ctx context.Context) error { return Sleep(ctx, b.Next()) }

// Sleep waits, or returns the context's error if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
