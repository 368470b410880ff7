package faults

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// Days that are locked right after an acknowledged move to another term show what that
// term's pattern puts on them, with and without the broker, and stay so.
func TestDayLocksFreezeAcknowledgedMoves(t *testing.T) {
	w := newFixture(t)
	rounds := shortOrLong(10, 60)
	from, _ := w.working(2*rounds, first)
	to, _ := w.working(1, second)
	move := func(persons []int64) {
		for _, person := range persons {
			require.NoError(t, scenario.PutOnTerm(w.ctx, w.api, to.TermID, []int64{person}, hired, forever))
			w.lock(person)
			w.requireShifts(second, []int64{person})
		}
	}
	move(from.Persons[:rounds])
	w.StopNATS()
	move(from.Persons[rounds:])
	w.StartNATS(t)
	w.put(from.TermID, from.Persons)
	w.verify()
	w.requireShifts(second, from.Persons)
}

// lock locks the days that are looked at.
func (w *fixture) lock(person int64) {
	w.t.Helper()
	_, err := w.api.Call(w.ctx, http.MethodPost, "/v1/scheduling/schedule/daylocks/apply_create", scenario.Object{
		"forEmployees": scenario.Object{"where": scenario.Object{
			"employeeRefs": scenario.Object{"ids": []int64{person}}, "startDate": lookFrom, "endDate": lookTo,
		}},
	}, nil)
	require.NoError(w.t, err)
}
