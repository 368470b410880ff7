package faults

import (
	"slices"
	"testing"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// A service is killed just after it has accepted a change. The change is still propagated.
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

		// Each round moves the others to the term, or takes them off it.
		wanted, term := r, crew.TermID
		if round%2 == 1 {
			wanted, term = rotation{cycle: "-"}, other.TermID
		}
		w.putOnTerm(term, other.Persons)
		w.Services["scheduling"].Kill(t)
		w.Start("scheduling")
		w.awaitShifts(wanted, other.Persons)
		w.verify()
	}
}

// putOnTerm puts persons on a term from their hire date on, as soon as the service accepts it.
func (w *fixture) putOnTerm(term int64, persons []int64) {
	w.t.Helper()
	const most = 100 // persons in one request
	for some := range slices.Chunk(persons, most) {
		w.retry("persons are put on a term", func() error {
			return scenario.PutOnTerm(w.ctx, w.api, term, some, hired, forever)
		})
	}
}
