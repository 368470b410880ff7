package tenantclock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/tenantclock"
)

// owner is an auth service with the states of some tenants.
type owner struct {
	states map[int64]tenantclock.State
	err    error
	asked  int
}

func (o *owner) ask(ctx context.Context) (tenantclock.State, error) {
	o.asked++
	return o.states[tenant.Of(ctx)], o.err
}

func ahead(t *testing.T, clocks *tenantclock.Clocks, ctx context.Context) time.Duration {
	t.Helper()
	in, err := clocks.In(ctx)
	require.NoError(t, err)
	return clock.Ahead(in)
}

func TestEachWorkOfASandboxHasTheTimeThatWasSet(t *testing.T) {
	t.Parallel()
	o := &owner{states: map[int64]tenantclock.State{7: {Known: true, Sandbox: true}}}
	clocks, ctx := tenantclock.New(o.ask), tenant.With(t.Context(), 7)
	assert.Zero(t, ahead(t, clocks, ctx))
	o.states[7] = tenantclock.State{Known: true, Sandbox: true, Ahead: time.Hour}
	assert.Equal(t, time.Hour, ahead(t, clocks, ctx))
	o.err = errors.New("away")
	_, err := clocks.In(ctx)
	assert.Error(t, err, "it does not guess the time")
}

func TestOtherTenantsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	o := &owner{states: map[int64]tenantclock.State{1: {Known: true}}}
	clocks, ctx := tenantclock.New(o.ask), tenant.With(t.Context(), 1)
	assert.Zero(t, ahead(t, clocks, ctx))
	o.err = errors.New("away")
	assert.Zero(t, ahead(t, clocks, ctx), "their work does not depend on auth")
	assert.Zero(t, ahead(t, clocks, clock.WithAhead(ctx, time.Hour)), "work for a sandbox may begin other work")
	assert.Equal(t, 1, o.asked)

	o.err = nil
	assert.Zero(t, ahead(t, clocks, tenant.With(ctx, 8)))
	o.states[8] = tenantclock.State{Known: true, Sandbox: true, Ahead: time.Hour}
	assert.Equal(t, time.Hour, ahead(t, clocks, tenant.With(ctx, 8)), "a tenant that did not exist is asked for again")
}

func TestWorkWithoutATenantHasTheRealTime(t *testing.T) {
	t.Parallel()
	o := &owner{}
	assert.Zero(t, ahead(t, tenantclock.New(o.ask), t.Context()))
	assert.Zero(t, ahead(t, tenantclock.New(o.ask), tenant.All(t.Context())))
	assert.Zero(t, o.asked)
	var none *tenantclock.Clocks
	assert.Zero(t, ahead(t, none, tenant.With(t.Context(), 7)))
}
