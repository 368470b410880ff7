package boot

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

// State is the state of a program.
type State string

// The states of a program.
const (
	StateStarting State = "starting"
	StateReady    State = "ready"
	// StateFailing means that the program runs, but cannot work.
	StateFailing  State = "failing"
	StateStopping State = "stopping"
)

const (
	// checkLife is how long the results of the checks are cached, so that the number of probes does
	// not matter.
	checkLife    = 2 * time.Second
	checkTimeout = 2 * time.Second
)

// Checks reports whether a program can do its work. It is safe for concurrent
// use.
type Checks struct {
	mu      sync.Mutex
	state   State
	checks  []namedCheck
	notices []namedNotice
	failing map[string]string
	checked clock.Stopwatch

	stopping atomic.Bool
}

type namedCheck struct {
	name  string
	check func(ctx context.Context) error
}

type namedNotice struct {
	name   string
	notice func() string
}

// NewChecks returns the Checks of a starting program.
func NewChecks() *Checks { return &Checks{state: StateStarting} }

// Add adds a check of a dependency that the program cannot work without. A check has two seconds.
func (c *Checks) Add(name string, check func(ctx context.Context) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checks = append(c.checks, namedCheck{name, check})
	c.checked = clock.Stopwatch{}
}

// AddNotice adds a notice for operators that does not affect readiness. notice returns "" if there
// is nothing to report; it must not block.
func (c *Checks) AddNotice(name string, notice func() string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notices = append(c.notices, namedNotice{name, notice})
}

// Notices returns the notices for operators, by name.
func (c *Checks) Notices() map[string]string {
	c.mu.Lock()
	notices := c.notices
	c.mu.Unlock()
	said := map[string]string{}
	for _, n := range notices {
		if text := n.notice(); text != "" {
			said[n.name] = text
		}
	}
	return said
}

// SetState sets the state of the program.
func (c *Checks) SetState(state State) {
	c.stopping.Store(state == StateStopping)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
}

// Stopping reports whether the program is about to end. It does not block.
func (c *Checks) Stopping() bool { return c.stopping.Load() }

// Failing returns the state, and the failures by name. If a check fails, a program that would be
// ready has StateFailing.
func (c *Checks) Failing(ctx context.Context) (State, map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.checked.Elapsed() >= checkLife {
		c.failing = c.run(ctx)
		c.checked = clock.Start()
	}
	if c.state == StateReady && len(c.failing) > 0 {
		return StateFailing, c.failing
	}
	return c.state, c.failing
}

// run runs all checks at the same time.
func (c *Checks) run(ctx context.Context) map[string]string {
	// A client that disconnects must not make the checks of others fail.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	errs := make([]error, len(c.checks))
	var wg sync.WaitGroup
	for i, check := range c.checks {
		wg.Go(func() { errs[i] = check.check(ctx) })
	}
	wg.Wait()
	failing := map[string]string{}
	for i, err := range errs {
		if err != nil {
			failing[c.checks[i].name] = err.Error()
		}
	}
	return failing
}
