// Package clock lets the present be passed in, so that tests can choose it.
package clock

import (
	"sync"
	"time"
)

// Clock returns the present instant.
type Clock interface {
	// Now returns the present instant in UTC. What day it is somewhere follows
	// from it and that place's zone, never from the zone of the machine.
	Now() time.Time
}

// System is the clock of the machine.
type System struct{}

// Now returns the machine's time in UTC.
func (System) Now() time.Time { return time.Now().UTC() }

// Stopwatch measures how long something takes. It goes by the monotonic clock of the
// machine: changes of the time of day do not show. The zero Stopwatch has run for longer
// than anything takes.
type Stopwatch struct{ began time.Time }

// Start returns a stopwatch that runs.
func Start() Stopwatch { return Stopwatch{time.Now()} }

// Elapsed returns for how long it has run.
func (s Stopwatch) Elapsed() time.Duration { return time.Since(s.began) }

// Fake is a clock that stands still until a test moves it. It may be used from
// several goroutines. The zero Fake stands at the zero time.
type Fake struct {
	mu  sync.Mutex
	now time.Time
}

// NewFake returns a clock that stands at the given instant.
func NewFake(now time.Time) *Fake { return &Fake{now: now.UTC()} }

// Now returns the instant at which the clock stands, in UTC.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Set moves the clock to an instant, which may lie in its past.
func (f *Fake) Set(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = now.UTC()
}

// Advance moves the clock on and returns where it then stands.
func (f *Fake) Advance(by time.Duration) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(by)
	return f.now
}
