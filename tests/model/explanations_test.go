package model

import (
	"net/http"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// explainedDay is an explanation of a day of an employee.
type explainedDay struct {
	Employee struct{ ID int64 }
	Date     string
	Outcome  string
	ShiftIDs []int64 `json:"shiftIds"`
	Layers   []struct {
		Kind, Effect, Text string
		ShiftIDs           []int64 `json:"shiftIds"`
	}
}

// remaining returns the shifts that the layers show in the end.
func (e *explainedDay) remaining() []int64 {
	shown := []int64{}
	for _, l := range e.Layers {
		switch l.Effect {
		case "PRODUCES", "ADDS":
			shown = append(shown, l.ShiftIDs...)
		case "HIDES":
			shown = slices.DeleteFunc(shown, func(id int64) bool { return slices.Contains(l.ShiftIDs, id) })
		}
	}
	return slices.Sorted(slices.Values(shown))
}

// checkExplanations requires that the explanations name the shifts of the schedule.
func (w *fixture) checkExplanations(got []shown) {
	w.t.Helper()
	index, ids := map[int64]int{}, []int64{}
	for i, e := range w.employees {
		index[e.id], ids = i, append(ids, e.id)
	}
	var explained []explainedDay
	w.must(http.MethodPost, "/v1/scheduling/schedule/explanations/multi_read", scenario.Object{"where": scenario.Object{"employees": scenario.Object{
		"employeeRefs": scenario.Object{"ids": ids}, "startDate": day(0).date(), "endDate": (window - 1).date(),
	}}}, &explained)
	want := map[[2]int][]int64{}
	for _, s := range got {
		if !s.payCode {
			at := [2]int{s.employee, int(s.day)}
			want[at] = append(want[at], s.id)
		}
	}
	require.Len(w.t, explained, len(ids)*int(window))
	for i := range explained {
		e := &explained[i]
		at := [2]int{index[e.Employee.ID], int(parseDay(e.Date))}
		shown := slices.Sorted(slices.Values(e.ShiftIDs))
		require.ElementsMatch(w.t, want[at], shown, "%+v", e)
		require.ElementsMatch(w.t, shown, e.remaining(), "%+v", e)
		require.Equal(w.t, len(shown) > 0, e.Outcome == "WORKS", "%+v", e)
		w.counts["explained "+e.Outcome]++
	}
}
