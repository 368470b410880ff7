package faults

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

const (
	dayBefore = "2026-01-04" // the day before monday
	forever   = "3000-01-01"
)

// Changes are accepted while the broker is away, and applied when it is back, even if it has lost
// all its data.
func TestBrokerIsAway(t *testing.T) {
	for name, forgets := range map[string]bool{"and remembers": false, "and has forgotten all": true} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			crew, before := w.working(300, second)
			late := w.crew(100) // move to crew's term while nothing is published
			w.putOnTerm(crew.TermID, late.Persons[:50])
			w.StopNATS() // before all their changes are published

			w.putOnTerm(crew.TermID, late.Persons[50:])
			applied := w.recreate(crew, before.ID, first)
			p, ok := w.propagation(applied.Propagation)
			require.True(t, ok)
			require.Equal(t, "ACCEPTED", p.State)
			require.Equal(t, dayBefore, w.populatedThrough(before.ID))

			if forgets {
				w.WipeNATS(t)
			}
			w.StartNATS(t)
			back := time.Now()
			launch.Await(t, waitTimeout, "the change is applied", func() bool { return w.populatedThrough(before.ID) == forever })
			all := append(sample(crew.Persons, 50), late.Persons...)
			w.awaitShifts(first, all)
			w.verify()
			t.Logf("all is applied %s after the broker is back", time.Since(back))
		})
	}
}

// populatedThrough returns the last day when all schedules show an assignment.
func (w *fixture) populatedThrough(id int64) string {
	w.t.Helper()
	var response struct{ PopulatedThroughDate string }
	_, err := w.api.Call(w.ctx, http.MethodGet, fmt.Sprint(patterns, "/", id), nil, &response)
	require.NoError(w.t, err)
	return response.PopulatedThroughDate
}
