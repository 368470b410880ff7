package bus_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/tenantclock"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/testevent"
)

// Events of a sandbox are handled at the time of its clock.
func TestHandlersHaveTheClockOfTheTenant(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil)
	var err error
	b.bus, err = bus.New(bus.Options{
		Conn: b.conn, Events: testevent.Files(t), DeadLetters: b.deadLetters, Log: pgtest.Log(t), Registry: prometheus.NewRegistry(),
		Clocks: tenantclock.New(func(ctx context.Context) (tenantclock.State, error) {
			return tenantclock.State{Known: true, Sandbox: true, Ahead: time.Duration(tenant.Of(ctx)) * time.Hour}, nil
		}),
	})
	require.NoError(t, err)
	found := make(chan time.Duration, 1)
	b.run(consumer(func(ctx context.Context, _ bus.Message) error {
		found <- clock.Ahead(ctx)
		return nil
	}))
	b.publish(7, "a")
	assert.Equal(t, 7*time.Hour, <-found)
}
