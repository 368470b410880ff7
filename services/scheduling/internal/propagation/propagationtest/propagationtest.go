// Package propagationtest runs a propagator in tests.
package propagationtest

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/propagator"
)

// Run runs a relay and a propagator on a database until the test ends, as a process does.
// Transactions of the pool wake the relay.
func Run(t testing.TB, pool *pg.Pool, clk clock.Clock) {
	t.Helper()
	log, registry := pgtest.Log(t), prometheus.NewRegistry()
	b, err := bus.New(bus.Options{
		Conn: natstest.New(t).Conn(), DeadLetters: outbox.NewDeadLetters(pool), Transient: pgerr.Unavailable, Log: log, Registry: registry,
	})
	require.NoError(t, err)
	relay, err := outbox.NewRelay(outbox.Options{
		Pool: pool, Bus: b, Log: log, Registry: registry, Poll: 5 * time.Millisecond, IdlePoll: 20 * time.Millisecond,
	})
	require.NoError(t, err)
	p, err := propagator.New(propagator.Options{Pool: pool, Clock: clk, Bus: b, Log: log, Registry: registry})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running errgroup.Group
	running.Go(func() error { return p.Run(ctx) })
	running.Go(func() error { return relay.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, running.Wait())
	})
}
