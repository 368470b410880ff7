package faults

import (
	"context"
	"net/http"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// sweepDisabled postpones the sweep, so that it does not resume stalled changes.
const sweepDisabled = "ROTALOOM_PROPAGATION_SWEEP_AFTER=1h"

// scheduling connects to the scheduling database as a superuser.
func (w *fixture) scheduling() *pgx.Conn {
	w.t.Helper()
	conn, err := pgx.Connect(w.ctx, w.Postgres.AdminURL("scheduling"))
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = conn.Close(context.Background()) }) // The server may be gone.
	return conn
}

// lockSpans locks the spans of a crew against all changes until release is called.
func (w *fixture) lockSpans(crew *scenario.Crew) (release func()) {
	w.t.Helper()
	tx, err := w.scheduling().Begin(w.ctx)
	require.NoError(w.t, err)
	tag, err := tx.Exec(w.ctx, "SELECT FROM span WHERE employee_id = ANY($1) FOR UPDATE", crew.Persons)
	require.NoError(w.t, err)
	require.NotZero(w.t, tag.RowsAffected())
	return func() { require.NoError(w.t, tx.Rollback(w.ctx)) }
}

// A change that the database refuses repeatedly shows as failed, and stays visible as failed.
// Changes of others are applied in the meantime, and the operator's command resumes the failed
// change.
func TestAFailedChangeIsReplayed(t *testing.T) {
	w := newFixture(t, sweepDisabled, "ROTALOOM_PROPAGATION_MAX_DELIVER=4", "ROTALOOM_DATABASE_STATEMENT_TIMEOUT=1s")
	crew, assigned := w.working(3, first)
	other, otherAssigned := w.working(5, first)
	release := w.lockSpans(crew)
	applied := w.recreate(crew, assigned.ID, second)
	// The change shows as failed as soon as one employee has failed. This test waits until all of them
	// have failed, because an attempt in progress would fail once more after the operator's command.
	launch.Await(t, waitTimeout, "the change has failed for all employees", func() bool {
		var p struct {
			scenario.Propagation
			EmployeesFailed int64
		}
		_, err := w.api.Call(w.ctx, http.MethodGet, applied.Propagation, nil, &p)
		return err == nil && p.State == "FAILED" && p.Error != "" && p.EmployeesDone == 0 && p.EmployeesFailed == int64(len(crew.Persons))
	})
	w.finish(w.recreate(other, otherAssigned.ID, second).Propagation, 5)
	release()

	propagator := filepath.Join(launch.Root(t), "bin", "test", "propagator")
	replay := func() (out, errs string, code int) {
		return launch.Run(t, propagator, nil, "replay", path.Base(applied.Propagation), "--database-url", w.DatabaseURL("scheduling"))
	}
	p, _ := w.propagation(applied.Propagation)
	require.Equal(t, "FAILED", p.State, "it waits for the sweep or the operator")
	out, errs, code := replay()
	require.Zero(t, code, errs)
	require.Contains(t, out, "continues")
	w.finish(applied.Propagation, len(crew.Persons))
	w.requireShifts(second, crew.Persons)
	w.verify()
	_, errs, code = replay()
	require.NotZero(t, code)
	require.Contains(t, errs, "no failed propagation")
}

// The work of a process that died is taken over within six seconds, without the sweep.
func TestWorkOfADeadPropagatorIsTakenOver(t *testing.T) {
	w := newFixture(t, sweepDisabled)
	crew, assigned := w.working(300, first)
	release := w.lockSpans(crew)
	applied := w.recreate(crew, assigned.ID, second)
	admin := w.scheduling()
	launch.Await(t, waitTimeout, "a worker is at it", func() bool {
		var waiting int
		err := admin.QueryRow(w.ctx, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = 'scheduling' AND wait_event_type = 'Lock' AND query LIKE '%DELETE FROM span%'`).Scan(&waiting)
		require.NoError(t, err)
		return waiting > 0
	})
	w.Services["propagator"].Kill(t)
	died := time.Now()
	release()
	w.Start("propagator")
	w.finish(applied.Propagation, len(crew.Persons))
	require.Less(t, time.Since(died), 6*time.Second)
	w.verify()
}

// The broker has lost the hint, and the outbox no longer has it. Only the sweep of the running
// propagator can find the change.
func TestTheSweepFindsLostChanges(t *testing.T) {
	w := newFixture(t)
	crew, assigned := w.working(20, first)
	w.Services["propagator"].Stop(t)
	applied := w.recreate(crew, assigned.ID, second)
	admin := w.scheduling()
	launch.Await(t, waitTimeout, "the outbox has nothing to send", func() bool {
		var waiting int
		require.NoError(t, admin.QueryRow(w.ctx, "SELECT count(*) FROM outbox WHERE sent_at IS NULL").Scan(&waiting))
		return waiting == 0
	})
	w.StopNATS()
	_, err := admin.Exec(w.ctx, "DELETE FROM outbox")
	require.NoError(t, err)
	w.WipeNATS(t)
	w.StartNATS(t)
	w.Start("propagator")
	w.finish(applied.Propagation, len(crew.Persons))
	w.requireShifts(second, crew.Persons)
}
