package faults

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// The propagator is killed while it applies changes, again and again. Each
// change reaches every employee exactly once.
func TestPropagatorIsKilled(t *testing.T) {
	w := newFixture(t, "ROTALOOM_PROPAGATION_CONCURRENCY=1")
	crew, assigned := w.working(byForm(2000, 10_000, 10_000), first)
	seed := uint64(time.Now().UnixNano())
	t.Logf("%d employees, seed %d", len(crew.Persons), seed)
	random := rand.New(rand.NewPCG(seed, 0))

	w.killAtRandomMoments(crew, assigned.ID, random, byForm(5, 20, 20))
	w.killWhileChangesPileUp(crew, assigned.ID, random, byForm(5, 5, 20))
}

// killAtRandomMoments lets a change recover from each kill before the next one. A kill counts only
// if a change was being applied.
func (w *fixture) killAtRandomMoments(crew *scenario.Crew, id int64, random *rand.Rand, kills int) {
	size, rotations := len(crew.Persons), []rotation{first, second}
	began := time.Now()
	w.finish(w.recreate(crew, id, second).Propagation, size)
	undisturbed := time.Since(began)
	w.t.Logf("an undisturbed change takes %s", undisturbed)

	hits, change := 0, 0
	for ; hits < kills; change++ {
		require.Less(w.t, change, 4*kills, "the moments are never while work is going on")
		applied := w.recreate(crew, id, rotations[change%2])
		time.Sleep(time.Duration(random.Int64N(int64(undisturbed)))) // until the crash
		w.Services["propagator"].Kill(w.t)
		p, ok := w.propagation(applied.Propagation)
		require.True(w.t, ok)
		killed := time.Now()
		w.Start("propagator")
		w.finish(applied.Propagation, size)
		if p.State != "FINISHED" {
			hits++
			w.t.Logf("killed with %d employees done (%s), all done %s later", p.EmployeesDone, p.State, time.Since(killed))
		}
	}
	w.t.Logf("%d of %d kills came while work was going on", hits, change)
	w.verify()
	w.requireShifts(rotations[(change-1)%2], sample(crew.Persons, 50))
	if change%2 == 0 {
		// The schedules show second now; recreating second would change nothing.
		w.finish(w.recreate(crew, id, first).Propagation, size)
	}
}

// killWhileChangesPileUp does not wait for the changes: in the end the last one holds.
func (w *fixture) killWhileChangesPileUp(crew *scenario.Crew, id int64, random *rand.Rand, kills int) {
	var open []string
	for range kills {
		open = append(open, w.recreate(crew, id, second).Propagation, w.recreate(crew, id, first).Propagation)
		time.Sleep(time.Duration(random.Int64N(int64(500 * time.Millisecond)))) // until the crash
		w.Services["propagator"].Kill(w.t)
		w.Start("propagator")
	}
	for _, path := range open {
		w.finish(path, len(crew.Persons))
	}
	w.verify()
	w.requireShifts(first, sample(crew.Persons, 50))
}
