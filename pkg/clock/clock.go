// Package clock makes the current time a parameter, so that tests can choose it.
package clock

import (
	"sync"
	"time"
)

// Clock returns the current time.
type Clock interface {
	// Now returns the current time in UTC. The local day follows from it and the zone of a place,
	// never from the zone of the machine.
	Now() time.Time
}

// System is the clock of the machine.
type System struct{}

// Now returns the machine's time in UTC.
func (System) Now() time.Time { return time.Now().UTC() }

// Stopwatch measures durations with the monotonic clock of the machine, which changes of the time
// of day do not affect. The zero Stopwatch has run longer than any timeout.
type Stopwatch struct{ began time.Time }

// Start returns a running stopwatch.
func Start() Stopwatch { return Stopwatch{time.Now()} }

// Elapsed returns the time since Start.
func (s Stopwatch) Elapsed() time.Duration { return time.Since(s.began) }

// Fake is a clock that a test moves. It is safe for concurrent use. The zero Fake shows the zero
// time.
type Fake struct {
	mu  sync.Mutex
	now time.Time
}

// NewFake returns a clock that shows the given time.
func NewFake(now time.Time) *Fake { return &Fake{now: now.UTC()} }

// Now returns the time of the clock, in UTC.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Set moves the clock to a time, which may be in its past.
func (f *Fake) Set(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = now.UTC()
}

// Advance moves the clock forward and returns its new time.
func (f *Fake) Advance(by time.Duration) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(by)
	return f.now
}
