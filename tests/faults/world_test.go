package faults

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// patience is how long anything may take to become right again.
	patience = 90 * time.Second
	monday   = "2026-01-05"
	hired    = "2026-01-01"
	patterns = "/v1/scheduling/employment_term_schedule_patterns"
)

// shortOrLong chooses a number by the form of the run.
func shortOrLong(short, long int) int {
	if os.Getenv("ROTALOOM_FAULTS") == "long" {
		return long
	}
	return short
}

// world is the product as separate processes, and a way to call it.
type world struct {
	*launch.Deployment
	t   *testing.T
	ctx context.Context
	api scenario.API
}

func newWorld(t *testing.T, settings ...string) *world {
	t.Helper()
	// Whoever waits for a sweep waits for seconds, not for minutes.
	settings = append(settings, "ROTALOOM_PROPAGATION_SWEEP_EVERY=250ms", "ROTALOOM_PROPAGATION_SWEEP_AFTER=2s")
	d := launch.Deployed(t, settings...)
	return &world{Deployment: d, t: t, ctx: t.Context(), api: scenario.API{Target: launch.Login(t, d.Client, d.Ready)}}
}

func (w *world) crew(size int) *scenario.Crew {
	w.t.Helper()
	crew, err := scenario.NewCrew(w.ctx, w.api, size, hired)
	require.NoError(w.t, err)
	return crew
}

func (w *world) assign(crew *scenario.Crew, r rotation) scenario.Assignment {
	w.t.Helper()
	a, err := crew.Assign(w.ctx, w.api, r.pattern(), monday, "", 0)
	require.NoError(w.t, err)
	require.NotEmpty(w.t, a.Propagation)
	return a
}

func (w *world) recreate(crew *scenario.Crew, id int64, r rotation) scenario.Assignment {
	w.t.Helper()
	a, err := crew.Recreate(w.ctx, w.api, id, r.pattern(), monday)
	require.NoError(w.t, err)
	require.NotEmpty(w.t, a.Propagation)
	return a
}

// propagation reads a propagation, and answers false while the service is away.
func (w *world) propagation(path string) (p scenario.Propagation, ok bool) {
	w.t.Helper()
	_, err := w.api.Call(w.ctx, http.MethodGet, path, nil, &p)
	if isAway(err) {
		return p, false
	}
	require.NoError(w.t, err)
	return p, true
}

// finish waits until a propagation has reached everybody, each of them once.
func (w *world) finish(path string, employees int) scenario.Propagation {
	w.t.Helper()
	var p scenario.Propagation
	launch.Await(w.t, patience, path+" finishes", func() bool {
		var ok bool
		p, ok = w.propagation(path)
		require.NotEqual(w.t, "FAILED", p.State, p.Error)
		return ok && p.State == "FINISHED"
	})
	require.EqualValues(w.t, employees, p.EmployeesTotal)
	require.EqualValues(w.t, employees, p.EmployeesDone, "each employee counts once")
	return p
}

// isAway reports whether an answer says that something will be back soon.
func isAway(err error) bool {
	var refused *scenario.Refused
	return errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable
}

// verify has the operator's command compare what is stored with the rules.
func (w *world) verify(employees int) {
	w.t.Helper()
	propagator := filepath.Join(launch.Root(w.t), "bin", "test", "propagator")
	out, errs, code := launch.Run(w.t, propagator, nil, "verify", "--database-url", w.DatabaseURL("scheduling"))
	require.Zero(w.t, code, "%s%s", out, errs)
	require.Contains(w.t, out, " 0 differ; 0 propagations have not finished")
	w.t.Log("verify: ", strings.TrimSpace(out))
	require.Regexp(w.t, `^\d+ employees with \d+ spans`, out)
	_ = employees
}

// requireShifts compares what the schedules of employees show on four weeks
// with what the rotation says.
func (w *world) requireShifts(r rotation, employees []int64) {
	w.t.Helper()
	const from, to = "2026-03-02", "2026-03-29"
	shifts, err := scenario.ReadShifts(w.ctx, w.api, employees, from, to)
	require.NoError(w.t, err)
	require.Equal(w.t, r.expected(employees, from, to), shown(shifts))
}

// sample picks employees from everywhere in a list.
func sample(employees []int64, size int) []int64 {
	var picked []int64
	for i := range min(size, len(employees)) {
		picked = append(picked, employees[i*len(employees)/min(size, len(employees))])
	}
	return picked
}
