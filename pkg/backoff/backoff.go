// Package backoff says how long to wait before the next attempt of something that
// failed.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff counts attempts. The wait doubles from First up to Max; the upper half of
// each wait is left to chance, so that competitors do not meet again. It is for one
// goroutine.
type Backoff struct {
	First, Max time.Duration

	attempts int
}

// Next returns the wait after one more attempt has failed.
func (b *Backoff) Next() time.Duration {
	b.attempts++
	return b.After(b.attempts)
}

// After returns a wait after so many attempts, from 1 on, have failed: for counts that
// are kept elsewhere, as in a table.
func (b *Backoff) After(failed int) time.Duration {
	wait := min(b.First, b.Max)
	for range failed - 1 {
		if wait > b.Max/2 { // Twice as much would pass Max, or overflow.
			wait = b.Max
			break
		}
		wait *= 2
	}
	return wait/2 + rand.N(wait/2+1)
}

// Attempts returns how many have failed since the last success.
func (b *Backoff) Attempts() int { return b.attempts }

// Reset notes a success.
func (b *Backoff) Reset() { b.attempts = 0 }

// Wait waits after one more failed attempt. It returns the context's error when
// that ends first.
func (b *Backoff) Wait(ctx context.Context) error { return Sleep(ctx, b.Next()) }

// Sleep waits, or returns the context's error when that ends first.
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
