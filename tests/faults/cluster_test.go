package faults

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// Each server of a broker cluster dies once while a change is applied; the remaining servers apply
// the change. Then all servers die at once, and the change is applied when they are back.
func TestBrokersOfAClusterDie(t *testing.T) {
	w := newFixtureOn(t, launch.DeployedOnCluster(t, withSettings()...))
	size := shortOrLong(1_000, 10_000)
	crew, assigned := w.working(size, first)
	w.AwaitBrokers(t)
	for i := range w.Brokers() {
		last := []rotation{second, third, first}[i]
		applied := w.begin(crew, assigned.ID, last)
		w.KillBroker(t, i)
		w.finish(applied, size)
		w.StartBroker(t, i)
		w.awaitShifts(last, sample(crew.Persons, 50))
		w.AwaitBrokers(t)
	}

	applied := w.begin(crew, assigned.ID, second)
	for i := range w.Brokers() {
		w.KillBroker(t, i)
	}
	for i := range w.Brokers() {
		w.StartBroker(t, i)
	}
	w.finish(applied, size)
	w.awaitShifts(second, sample(crew.Persons, 50))
	w.AwaitBrokers(t)
	w.verify()
	require.True(t, launch.LoginWorks(t, w.Client, w.Ready))
}

// begin replaces a pattern and waits until the propagator has begun to apply the change.
func (w *fixture) begin(crew *scenario.Crew, id int64, r rotation) string {
	w.t.Helper()
	path := w.recreate(crew, id, r).Propagation
	launch.Await(w.t, waitTimeout, path+" is being applied", func() bool {
		p, ok := w.propagation(path)
		return ok && p.EmployeesDone > 0
	})
	return path
}
