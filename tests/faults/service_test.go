package faults

import (
	"slices"
	"testing"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// A service dies in the moment in which it has accepted a change. What follows
// from the change follows all the same.
func TestServicesAreKilledAfterAcceptedChanges(t *testing.T) {
	w := newFixture(t)
	other := w.crew(50)
	crew, assigned := w.working(200, first)
	rotations := []rotation{second, first}
	for round := range shortOrLong(2, 20) {
		r := rotations[round%2]

		applied := w.recreate(crew, assigned.ID, r)
		w.Services["scheduling"].Kill(t)
		w.Start("scheduling")
		w.finishAny(applied.Propagation)
		w.requireShifts(r, sample(crew.Persons, 50))

		// One round moves the others to the term, the next takes them off it.
		wanted, term := r, crew.TermID
		if round%2 == 1 {
			wanted, term = rotation{cycle: "-"}, other.TermID
		}
		w.put(term, other.Persons)
		w.Services["scheduling"].Kill(t)
		w.Start("scheduling")
		w.awaitShifts(wanted, other.Persons)
		w.verify()
	}
}

// put puts persons on a term, as soon as that is possible, from the day of their
// hire on.
func (w *fixture) put(term int64, persons []int64) {
	w.t.Helper()
	const most = 100 // of one request
	for some := range slices.Chunk(persons, most) {
		w.retry("persons are put on a term", func() error {
			return scenario.PutOnTerm(w.ctx, w.api, term, some, hired, forever)
		})
	}
}
