package boot

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

// State is where a program is in its life.
type State string

// The states of a program.
const (
	StateStarting State = "starting"
	StateReady    State = "ready"
	// StateFailing is that of a program which runs, but cannot work.
	StateFailing  State = "failing"
	StateStopping State = "stopping"
)

const (
	// checkLife is how long the outcome of the checks is kept, so that probes
	// cost the same however many come.
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

// NewChecks makes Checks of a program that is starting.
func NewChecks() *Checks { return &Checks{state: StateStarting} }

// Add adds a check of something that the program cannot work without. A check
// has two seconds.
func (c *Checks) Add(name string, check func(ctx context.Context) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checks = append(c.checks, namedCheck{name, check})
	c.checked = clock.Stopwatch{}
}

// AddNotice adds something that operators should see, and that does not keep the program
// from working. The notice is empty when there is nothing to say; it must not wait.
func (c *Checks) AddNotice(name string, notice func() string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notices = append(c.notices, namedNotice{name, notice})
}

// Notices returns what operators should see, by name.
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

// SetState sets where the program is in its life.
func (c *Checks) SetState(state State) {
	c.stopping.Store(state == StateStopping)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
}

// Stopping reports whether the program is about to end. It never waits.
func (c *Checks) Stopping() bool { return c.stopping.Load() }

// Failing returns the state, and what fails by name. When something fails, a
// program that is otherwise ready has StateFailing.
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

// run asks all checks at the same time.
func (c *Checks) run(ctx context.Context) map[string]string {
	// One who goes away must not make the checks of the others fail.
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
