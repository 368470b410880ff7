package faults

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// slowRequest is the time of a slow request. Programs that stop have ROTALOOM_STOP_TIMEOUT, 20 seconds,
// to finish it.
const slowRequest = 7 * time.Second

// A rollout stops the edge and a service while a slow request is running. They finish the request first.
func TestStoppingProgramsFinishSlowRequests(t *testing.T) {
	w := newFixture(t)
	tx, err := w.scheduling().Begin(w.ctx)
	require.NoError(t, err)
	_, err = tx.Exec(w.ctx, "LOCK TABLE shift_template IN EXCLUSIVE MODE")
	require.NoError(t, err)
	created := make(chan error, 1)
	go func() {
		created <- w.call(http.MethodPost, "/v1/scheduling/shift_templates", scenario.Object{
			"name": scenario.Unique("slow"), "label": "S", "startDateTime": "1900-01-01T06:00:00", "endDateTime": "1900-01-01T14:00:00",
		})
	}()
	launch.Await(t, waitTimeout, "the request waits for the lock", func() bool {
		var waits bool
		require.NoError(t, tx.QueryRow(w.ctx, `SELECT EXISTS (SELECT FROM pg_locks
			WHERE relation = 'shift_template'::regclass AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waits))
		return waits
	})
	stopped := make(chan struct{}, 2)
	for _, program := range []string{"gateway", "scheduling"} {
		go func() {
			w.Services[program].Stop(t)
			stopped <- struct{}{}
		}()
	}
	<-time.After(slowRequest) // The time of the request is the input of this test.
	require.NoError(t, tx.Rollback(w.ctx))
	require.NoError(t, <-created)
	for range 2 {
		<-stopped
	}
	for _, program := range []string{"gateway", "scheduling"} {
		require.Zero(t, w.Services[program].ExitCode(), program)
	}
}
