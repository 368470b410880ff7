package ruleviolation

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleevaluation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

// An evaluation has as many violations as the parts before it left, and names the bound of all
// parts when there are more.
func TestViolationsAreBounded(t *testing.T) {
	t.Parallel()
	monday := civil.Of(2026, 3, 2)
	days := civil.Range{From: monday, To: monday + 3}
	employees := employeesIn(t, "UTC", 1)
	shifts := map[int64][]reading.TimedShift{}
	for day := days.From; day < days.To; day++ {
		at := ruleevaluation.Interval{Start: int64(day) * civil.SecondsPerDay, End: int64(day)*civil.SecondsPerDay + 11*3600}
		shifts[1] = append(shifts[1], reading.TimedShift{ID: int64(day), Interval: at, Work: []ruleevaluation.Interval{at}})
	}
	long := benchSet()
	long.rules, long.stored = long.rules[:1], long.stored[:1] // Ten hours a day.
	evaluated := func(most int) (*evaluation, error) {
		e := newEvaluation(&plan{sets: []set{long}, forAllEmployees: 1}, days, most)
		return e, e.addAll(t.Context(), employees, nil, shifts, nil)
	}
	e, err := evaluated(3)
	require.NoError(t, err)
	assert.Len(t, e.out.GetViolations(), 3)
	for name, most := range map[string]int{"fewer": 2, "none": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := evaluated(most)
			assert.True(t, fault.HasStatus(err, http.StatusRequestEntityTooLarge), err)
			assert.ErrorContains(t, err, "There are more than 20000 violations.")
		})
	}
}
