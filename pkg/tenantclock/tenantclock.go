// Package tenantclock sets the clocks of sandbox tenants in the contexts of their work.
//
// The clock of a sandbox may be ahead of the real time (decision 158). Auth stores how far. A process
// asks auth at the beginning of each piece of work of a sandbox, and keeps no copy: work that begins
// after the clock was set has the new time, in each process. Whether a tenant is a sandbox is decided
// when it is created and never changes, so a process asks once about each other tenant.
package tenantclock

import (
	"context"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// State is what auth knows of the clock of a tenant.
type State struct {
	// Known means that the tenant exists. Sandbox means that its clock can be set.
	Known, Sandbox bool
	// Ahead is how far its clock is ahead of the real time, which is not negative.
	Ahead time.Duration
}

// Ask returns the state of the context's tenant.
type Ask func(ctx context.Context) (State, error)

// Clocks sets the clocks in contexts. It is safe for concurrent use. A nil Clocks knows no sandbox.
type Clocks struct {
	ask Ask
	// real contains the tenants that are not sandboxes.
	real sync.Map
}

// New returns Clocks that use ask.
func New(ask Ask) *Clocks { return &Clocks{ask: ask} }

// In returns a context with the clock of the context's tenant. Without a tenant, it returns ctx. It
// returns the error of ask if it cannot find out, because work at the wrong time would be worse.
func (c *Clocks) In(ctx context.Context) (context.Context, error) {
	id, ok := tenant.From(ctx)
	if c == nil || !ok {
		return ctx, nil
	}
	if _, known := c.real.Load(id); known {
		return clock.WithAhead(ctx, 0), nil
	}
	state, err := c.ask(ctx)
	if err != nil {
		return ctx, err
	}
	if state.Known && !state.Sandbox {
		c.real.Store(id, nil)
	}
	return clock.WithAhead(ctx, state.Ahead), nil
}
