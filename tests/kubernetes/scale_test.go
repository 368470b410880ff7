//go:build kubecluster

package kubernetes

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// employees returns the number of employees of a change while propagators are started and stopped.
func employees(t *testing.T) int {
	t.Helper()
	text := os.Getenv("ROTALOOM_KUBE_EMPLOYEES")
	if text == "" {
		return 100_000
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "ROTALOOM_KUBE_EMPLOYEES")
	return n
}

// scale changes the rotation of many employees repeatedly, with one propagator, with three, and
// with one again. Each change reaches every employee once.
func (c *cluster) scale(t *testing.T, l *load) {
	_, api, err := l.session(t, false)
	require.NoError(t, err)
	began := time.Now()
	crew, err := scenario.NewCrew(t.Context(), api, employees(t), hired)
	require.NoError(t, err)
	t.Logf("%d employees were hired within %s", len(crew.Persons), time.Since(began).Round(time.Second))
	api, err = l.login(api.Client)
	require.NoError(t, err)
	assigned, err := crew.Assign(t.Context(), api, early, monday, "", 0)
	require.NoError(t, err)
	_, err = scenario.Finish(t.Context(), api, assigned.Propagation)
	require.NoError(t, err)

	replicas := func() int { return len(c.pods(t, "propagator")) }
	changes := 0
	for _, wanted := range []int{1, 3, 1} {
		// A change is being applied when the number of propagators changes, and another change begins
		// afterwards.
		for first, last := true, false; ; first = false {
			began := time.Now()
			// Recreate with a rotation that the crew does not work yet.
			changed, err := crew.Recreate(t.Context(), api, assigned.ID, []scenario.Object{late, early}[changes%2], monday)
			require.NoError(t, err)
			changes++
			if first {
				c.kubectl(t, "scale", "deployment/"+release+"-propagator", "--replicas", strconv.Itoa(wanted))
			}
			finished, err := scenario.Finish(t.Context(), api, changed.Propagation)
			require.NoError(t, err)
			assert.EqualValues(t, len(crew.Persons), finished.EmployeesDone)
			assert.EqualValues(t, len(crew.Persons), finished.EmployeesTotal)
			if last {
				t.Logf("with %d propagators a change of %d employees took %s", wanted, len(crew.Persons), time.Since(began).Round(10*time.Millisecond))
				break
			}
			last = replicas() == wanted
		}
		c.awaitReady(t)
	}
	c.kubectl(t, "scale", "deployment/"+release+"-propagator", "--replicas", "2")
	c.awaitReady(t)
	launch.Await(t, waitTimeout, "two propagators are there", func() bool { return replicas() == 2 })
}
