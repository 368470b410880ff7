package faults

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// Days that are locked right after an acknowledged move to another term show the pattern of that
// term, with and without the broker, and stay so.
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
	w.putOnTerm(from.TermID, from.Persons)
	w.verify()
	w.requireShifts(second, from.Persons)
}

// Days that are locked right after acknowledged leave show the shifts that the leave replaces or
// shortens, with and without the broker. They stay so when the leave is deleted afterwards.
func TestDayLocksFreezeAcknowledgedLeave(t *testing.T) {
	w := newFixture(t)
	rounds := shortOrLong(10, 60)
	crew, _ := w.working(2*rounds, first)
	frozen := map[int64][]scenario.Object{}
	enter := func(persons []int64) {
		for _, person := range persons {
			free := w.readShifts(person)
			edit := w.enterLeave(person)
			w.lock(person)
			frozen[person] = w.readShifts(person)
			require.NotEqual(t, free, frozen[person], "leave takes a shift")
			_, err := w.api.Call(w.ctx, http.MethodDelete, fmt.Sprint(leaveEdits, "/", edit), nil, nil)
			require.NoError(t, err)
			require.Equal(t, frozen[person], w.readShifts(person))
		}
	}
	enter(crew.Persons[:rounds])
	w.StopNATS()
	enter(crew.Persons[rounds:])
	w.StartNATS(t)
	w.verify()
	for person, shifts := range frozen {
		require.Equal(t, shifts, w.readShifts(person))
	}
}

const leaveEdits = "/v1/leave/leave_edits"

// enterLeave enters a day of leave for a person, and returns the id of the edit.
func (w *fixture) enterLeave(person int64) int64 {
	w.t.Helper()
	var opened struct{ ID int64 }
	_, err := w.api.Call(w.ctx, http.MethodPost, leaveCases, medicalLeave(person), &opened)
	require.NoError(w.t, err)
	segment := scenario.Object{"amountInSeconds": 8 * 3600}
	var made []struct{ ID int64 }
	_, err = w.api.Call(w.ctx, http.MethodPost, leaveEdits, scenario.Object{
		"leaveCase":  scenario.Object{"id": opened.ID},
		"leaveEdits": []scenario.Object{{"date": lookFrom, "paidSegment": segment, "trackingSegment": segment}},
	}, &made)
	require.NoError(w.t, err)
	require.Len(w.t, made, 1)
	return made[0].ID
}

// readShifts returns the shifts that the schedule of a person shows.
func (w *fixture) readShifts(person int64) []scenario.Object {
	w.t.Helper()
	request := scenario.ReadRequest([]int64{person}, lookFrom, lookTo)
	request["select"] = []string{"SHIFTS"}
	var shown struct{ Shifts []scenario.Object }
	_, err := w.api.Call(w.ctx, http.MethodPost, "/v1/scheduling/schedule/multi_read", request, &shown)
	require.NoError(w.t, err)
	return shown.Shifts
}

// lock locks the days from lookFrom through lookTo.
func (w *fixture) lock(person int64) {
	w.t.Helper()
	_, err := w.api.Call(w.ctx, http.MethodPost, "/v1/scheduling/schedule/daylocks/apply_create", scenario.Object{
		"forEmployees": scenario.Object{"where": scenario.Object{
			"employeeRefs": scenario.Object{"ids": []int64{person}}, "startDate": lookFrom, "endDate": lookTo,
		}},
	}, nil)
	require.NoError(w.t, err)
}
