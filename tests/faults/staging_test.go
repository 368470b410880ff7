package faults

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const staging = "/v1/commons/payroll/staging/"

// The process that stages payroll is killed while it works, again and again. Each run stages the
// time of every employee once, and each available earning once.
func TestStagingWorkerIsKilled(t *testing.T) {
	w := newFixture(t)
	crew := w.crew(byForm(1000, 2000, 5000))
	w.punchDay(crew.Persons, stagedDay(0))
	began := time.Now()
	numbers := w.awaitStaged(w.stage(crew.Persons, stagedDay(0)), len(crew.Persons))
	undisturbed := time.Since(began)
	seed := uint64(time.Now().UnixNano())
	t.Logf("%d employees, an undisturbed run takes %s, seed %d", len(numbers), undisturbed, seed)
	random := rand.New(rand.NewPCG(seed, 0))

	hits, kills, last := 0, byForm(5, 20, 20), 0
	for round := 1; hits < kills; round++ {
		last = round
		require.LessOrEqual(t, round, 4*kills, "the moments are never while work is going on")
		w.punchDay(crew.Persons, stagedDay(round))
		w.earn(numbers, round)
		run := w.stage(crew.Persons, stagedDay(round))
		time.Sleep(time.Duration(random.Int64N(int64(undisturbed)))) // until the crash
		w.Services["timekeeping"].Kill(t)
		w.Start("timekeeping")
		if w.stagingStatus(run) != "success" {
			hits++
		}
		w.awaitStaged(run, len(crew.Persons))
		w.requireRows(run, numbers, round)
	}
	// The ledger has each day once: a run over all days finds nothing to stage.
	run := w.stageDays(crew.Persons, stagedDay(0), stagedDay(last))
	w.awaitStaged(run, len(crew.Persons))
	assert.Empty(t, w.stagedRows(run))
}

// stagedDay returns the day of a round: each run stages only time that no earlier run has staged.
func stagedDay(round int) string { return (civil.Of(2026, time.March, 2) + civil.Date(round)).String() }

// punchDay lets every employee work eight hours on a day.
func (w *fixture) punchDay(persons []int64, day string) {
	w.t.Helper()
	for part := range slices.Chunk(persons, 500) {
		var punches []scenario.Object
		for _, id := range part {
			for _, at := range []string{"08:00:00", "16:00:00"} {
				punches = append(punches, scenario.Object{"employee": scenario.Object{"id": id}, "punchDtm": day + "T" + at})
			}
		}
		_, err := w.api.Call(w.ctx, http.MethodPost, "/v1/timekeeping/punches/import", scenario.Object{"punches": punches}, nil)
		require.NoError(w.t, err)
	}
}

// earn imports an earning of each employee for the day of a round. The round is the amount.
func (w *fixture) earn(numbers []string, amount int) {
	w.t.Helper()
	for part := range slices.Chunk(numbers, 1000) {
		var earnings []scenario.Object
		for _, number := range part {
			earnings = append(earnings, scenario.Object{
				"refId": uuid.NewString(), "companyCode": "A", "empNo": number, "code": "BONUS", "source": "faults",
				"chargeDate": stagedDay(amount), "amount": fmt.Sprint(amount),
			})
		}
		_, err := w.api.Call(w.ctx, http.MethodPost, "/v1/payroll/earnings_import", scenario.Object{"earnings": earnings}, nil)
		require.NoError(w.t, err)
	}
}

// stage begins a run over a day.
func (w *fixture) stage(persons []int64, day string) string {
	w.t.Helper()
	return w.stageDays(persons, day, day)
}

// stageDays begins a run over the days from one to another, inclusive.
func (w *fixture) stageDays(persons []int64, from, through string) string {
	w.t.Helper()
	var run struct{ RequestID string }
	_, err := w.api.Call(w.ctx, http.MethodPost, staging+"async", scenario.Object{
		"executionId": scenario.Unique("run"), "employees": scenario.Object{"ids": persons},
		"dateRange": scenario.Object{"startDateTime": from + "T00:00:00", "endDateTime": through + "T23:59:59"},
	}, &run)
	require.NoError(w.t, err)
	return run.RequestID
}

func (w *fixture) stagingStatus(run string) string {
	var status struct{ Status string }
	if _, err := w.api.Call(w.ctx, http.MethodGet, staging+run+"/status", nil, &status); err != nil {
		return err.Error()
	}
	return status.Status
}

// awaitStaged waits for the end of a run, and returns the person numbers of its employees.
func (w *fixture) awaitStaged(run string, employees int) []string {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.stagingStatus(run) == "success" }, waitTimeout, 50*time.Millisecond)
	var details struct {
		ErrorOffsets []int
		Results      struct {
			Success struct{ EmployeeQualifiers []string }
		}
	}
	_, err := w.api.Call(w.ctx, http.MethodGet, staging+run+"/details", nil, &details)
	require.NoError(w.t, err)
	require.Empty(w.t, details.ErrorOffsets)
	require.Len(w.t, details.Results.Success.EmployeeQualifiers, employees)
	return details.Results.Success.EmployeeQualifiers
}

// requireRows requires one row of time and one earning of each employee in a run.
func (w *fixture) requireRows(run string, numbers []string, amount int) {
	w.t.Helper()
	found := map[string]int{}
	rows := w.stagedRows(run)
	for _, row := range rows {
		found[strings.Join(row, "|")]++
	}
	assert.Len(w.t, rows, 2*len(numbers))
	for _, number := range numbers {
		assert.Equal(w.t, 1, found[number+"|WORKED|28800|"], number)
		assert.Equal(w.t, 1, found[fmt.Sprintf("%s|EARNING|0|%d", number, amount)], number)
	}
}

// stagedRows reads the export of a run.
func (w *fixture) stagedRows(run string) [][]string {
	w.t.Helper()
	var export struct{ ExecutionKey string }
	_, err := w.api.Call(w.ctx, http.MethodPost, "/v1/commons/payroll/export/async", scenario.Object{
		"requestId": run, "query": "SELECT person_num, source, seconds_amount, money_amount FROM $Payroll",
	}, &export)
	require.NoError(w.t, err)
	_, text, err := w.api.Bytes(w.ctx, http.MethodGet, "/v1/commons/payroll/export/async/"+export.ExecutionKey+"/response", nil)
	require.NoError(w.t, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(w.t, err)
	return rows[1:]
}
