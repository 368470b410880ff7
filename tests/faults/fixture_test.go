package faults

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// waitTimeout bounds how long the product may take to recover.
	waitTimeout = 90 * time.Second
	monday      = "2026-01-05"
	hired       = "2026-01-01"
	patterns    = "/v1/scheduling/employment_term_schedule_patterns"
)

// shortOrLong returns the number for the form of the run: short or long.
func shortOrLong(short, long int) int { return byForm(short, short, long) }

// byForm returns the number for the form of the run: short, CI or long.
func byForm(short, ci, long int) int {
	switch os.Getenv("ROTALOOM_FAULTS") {
	case "ci":
		return ci
	case "long":
		return long
	}
	return short
}

// fixture is a deployment of separate processes, with a client.
type fixture struct {
	*launch.Deployment
	t   *testing.T
	ctx context.Context
	api scenario.API
}

func newFixture(t *testing.T, settings ...string) *fixture {
	t.Helper()
	return newFixtureOn(t, launch.Deployed(t, withSettings(settings...)...))
}

// withSettings returns the settings of all programs in these tests, followed by the settings of one
// test.
func withSettings(own ...string) []string {
	// The sweep runs every second, so that tests which wait for it take seconds, not minutes.
	return append([]string{
		"ROTALOOM_LOG_LEVEL=warn", "ROTALOOM_PROPAGATION_SWEEP_EVERY=250ms", "ROTALOOM_PROPAGATION_SWEEP_AFTER=1s",
	}, own...)
}

func newFixtureOn(t *testing.T, d *launch.Deployment) *fixture {
	t.Helper()
	return &fixture{Deployment: d, t: t, ctx: t.Context(), api: scenario.API{Target: launch.Login(t, d.Client, d.Ready)}}
}

func (w *fixture) crew(size int) *scenario.Crew {
	w.t.Helper()
	crew, err := scenario.NewCrew(w.ctx, w.api, size, hired)
	require.NoError(w.t, err)
	return crew
}

func (w *fixture) assign(crew *scenario.Crew, r rotation) scenario.Assignment {
	w.t.Helper()
	a, err := crew.Assign(w.ctx, w.api, r.pattern(), monday, "", 0)
	require.NoError(w.t, err)
	require.NotEmpty(w.t, a.Propagation)
	return a
}

// working returns a crew whose schedules show a rotation. It waits until the services that copy
// employments know them.
func (w *fixture) working(size int, r rotation) (*scenario.Crew, scenario.Assignment) {
	w.t.Helper()
	crew := w.crew(size)
	assigned := w.assign(crew, r)
	for persons := range slices.Chunk(crew.Persons, 200) {
		launch.Await(w.t, waitTimeout, "all employees work on monday", func() bool {
			shifts, err := scenario.ReadShifts(w.ctx, w.api, persons, monday, monday)
			require.NoError(w.t, err)
			return len(shifts) == len(persons)
		})
	}
	return crew, assigned
}

func (w *fixture) recreate(crew *scenario.Crew, id int64, r rotation) (a scenario.Assignment) {
	w.t.Helper()
	w.retry("the pattern is replaced", func() (err error) {
		a, err = crew.Recreate(w.ctx, w.api, id, r.pattern(), monday)
		return err
	})
	require.NotEmpty(w.t, a.Propagation)
	return a
}

// propagation reads a propagation; ok is false while the service is away.
func (w *fixture) propagation(path string) (p scenario.Propagation, ok bool) {
	w.t.Helper()
	_, err := w.api.Call(w.ctx, http.MethodGet, path, nil, &p)
	if isUnavailable(err) {
		return p, false
	}
	require.NoError(w.t, err)
	return p, true
}

// finish waits until a propagation has reached the given number of employees, each of them once.
func (w *fixture) finish(path string, employees int) {
	w.t.Helper()
	p := w.finishAny(path)
	require.EqualValues(w.t, employees, p.EmployeesTotal)
}

// finishAny waits until a propagation has finished, with any number of employees.
func (w *fixture) finishAny(path string) (p scenario.Propagation) {
	w.t.Helper()
	launch.Await(w.t, waitTimeout, path+" finishes", func() bool {
		var ok bool
		p, ok = w.propagation(path)
		require.NotEqual(w.t, "FAILED", p.State, p.Error)
		return ok && p.State == "FINISHED"
	})
	require.Equal(w.t, p.EmployeesTotal, p.EmployeesDone, "each employee counts once")
	return p
}

// isUnavailable reports whether a response asks the caller to retry later.
func isUnavailable(err error) bool {
	var refused *scenario.Refused
	return errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable
}

// verify waits until all propagations have finished. Then the operator's command compares the
// stored shifts with the rules, and the copies with their owners.
func (w *fixture) verify() {
	w.t.Helper()
	propagator := filepath.Join(launch.Root(w.t), "bin", "test", "propagator")
	launch.Await(w.t, waitTimeout, "all propagations have finished", func() bool {
		out, errs, code := launch.Run(w.t, propagator, nil, "verify", "--database-url", w.DatabaseURL("scheduling"), "--nats-url", w.NATSURLFor("propagator"))
		if !strings.Contains(out, "; 0 propagations have not finished") || strings.Contains(errs, "does not respond") || strings.Contains(errs, "copies differ") {
			return false
		}
		require.Zero(w.t, code, "%s%s", out, errs)
		require.Contains(w.t, out, ": 0 differ;")
		require.Contains(w.t, out, "copy of persons in scheduling: 0 keys")
		w.t.Log(strings.TrimSpace(out))
		return true
	})
}

// lookFrom and lookTo are the first and the last day whose schedule the tests read.
const lookFrom, lookTo = "2026-03-02", "2026-03-29"

// requireShifts compares the schedules of employees with the shifts of the rotation.
func (w *fixture) requireShifts(r rotation, employees []int64) {
	w.t.Helper()
	shifts, err := scenario.ReadShifts(w.ctx, w.api, employees, lookFrom, lookTo)
	require.NoError(w.t, err)
	require.Equal(w.t, r.expectedEntries(employees, lookFrom, lookTo), shownEntries(shifts))
}

// awaitShifts waits until the schedules of employees show the shifts of the rotation.
func (w *fixture) awaitShifts(r rotation, employees []int64) {
	w.t.Helper()
	expected := r.expectedEntries(employees, lookFrom, lookTo)
	launch.Await(w.t, waitTimeout, "the schedules show the rotation", func() bool {
		shifts, err := scenario.ReadShifts(w.ctx, w.api, employees, lookFrom, lookTo)
		if isUnavailable(err) {
			return false
		}
		require.NoError(w.t, err)
		return maps.Equal(expected, shownEntries(shifts))
	})
}

// sample picks employees at even distances in a list.
func sample(employees []int64, size int) []int64 {
	var picked []int64
	for i := range min(size, len(employees)) {
		picked = append(picked, employees[i*len(employees)/min(size, len(employees))])
	}
	return picked
}

// retry repeats a call while the response asks the caller to retry later.
func (w *fixture) retry(what string, call func() error) {
	w.t.Helper()
	launch.Await(w.t, waitTimeout, what, func() bool {
		err := call()
		if !isUnavailable(err) {
			require.NoError(w.t, err)
		}
		return err == nil
	})
}
