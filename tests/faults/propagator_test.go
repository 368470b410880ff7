package faults

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The propagator is killed while it applies a change, again and again. Each
// change reaches every employee exactly once.
func TestPropagatorIsKilledAtRandomMoments(t *testing.T) {
	size, kills := shortOrLong(2000, 10_000), shortOrLong(5, 20)
	w := newWorld(t, "ROTALOOM_PROPAGATION_CONCURRENCY=1")
	crew := w.crew(size)
	rotations := []rotation{first, second}
	assigned := w.assign(crew, rotations[0])
	w.finish(assigned.Propagation, size)
	undisturbed := w.undisturbed(func() string { return w.recreate(crew, assigned.ID, rotations[1]).Propagation }, size)

	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("%d employees, an undisturbed change takes %s, seed %d", size, undisturbed, seed)
	hits, change := 0, 0
	for ; hits < kills; change++ {
		require.Less(t, change, 4*kills, "the moments are never while work is going on")
		applied := w.recreate(crew, assigned.ID, rotations[change%2])
		time.Sleep(time.Duration(random.Int64N(int64(undisturbed)))) // The moment of the crash.
		w.Services["propagator"].Kill(t)
		p, ok := w.propagation(applied.Propagation)
		require.True(t, ok)
		w.Start("propagator")
		if p.State != "FINISHED" {
			hits++
			t.Logf("killed with %d of %d employees done (%s)", p.EmployeesDone, size, p.State)
			began := time.Now()
			w.finish(applied.Propagation, size)
			t.Logf("recovered %s later", time.Since(began))
		}
		w.finish(applied.Propagation, size)
	}
	t.Logf("%d kills hit work, of %d", hits, change)
	w.verify(size)
	w.requireShifts(rotations[(change-1)%2], sample(crew.Persons, 50))
}

// undisturbed measures how long a change takes.
func (w *world) undisturbed(change func() string, employees int) time.Duration {
	began := time.Now()
	w.finish(change(), employees)
	return time.Since(began)
}

// Changes pile up while the propagator dies under them; in the end the last one
// holds.
func TestPropagatorIsKilledWhileChangesPileUp(t *testing.T) {
	size, kills := shortOrLong(1000, 5000), shortOrLong(5, 20)
	w := newWorld(t)
	crew := w.crew(size)
	assigned := w.assign(crew, first)
	open := []string{assigned.Propagation}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for range kills {
		open = append(open, w.recreate(crew, assigned.ID, second).Propagation, w.recreate(crew, assigned.ID, first).Propagation)
		time.Sleep(time.Duration(random.Int64N(int64(400 * time.Millisecond)))) // The moment of the crash.
		w.Services["propagator"].Kill(t)
		w.Start("propagator")
	}
	for _, path := range open {
		w.finish(path, size)
	}
	w.verify(size)
	w.requireShifts(first, sample(crew.Persons, 50))
}
