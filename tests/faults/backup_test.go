package faults

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// TestDatabasesAreRestoredToAMoment runs the drill of docs/operations/backup.md: a base backup and the log
// after it restore a chosen moment on an empty server with an empty broker.
func TestDatabasesAreRestoredToAMoment(t *testing.T) {
	w := newFixtureOn(t, launch.DeployedDurably(t, withSettings()...))
	w.archiveLog()
	crew, assigned := w.working(200, first)
	backup := filepath.Join(t.TempDir(), "backup")
	command(t, "pg_basebackup", "--dbname="+w.Postgres.AdminURL("postgres"), "--pgdata="+backup, "--wal-method=none", "--checkpoint=fast")
	w.finish(w.recreate(crew, assigned.ID, second).Propagation, 200)
	var moment string
	w.query(`SELECT clock_timestamp()::text`, &moment)
	w.finish(w.recreate(crew, assigned.ID, third).Propagation, 200)
	w.awaitArchived()

	w.stopServices()
	w.StopPostgres(t)
	w.StopNATS()
	require.NoError(t, os.RemoveAll(w.PostgresData()))
	w.WipeNATS(t)

	config := fmt.Sprintf("restore_command = 'cp \"%s/%%f\" \"%%p\"'\nrecovery_target_time = '%s'\nrecovery_target_action = 'promote'\n", archive, moment)
	require.NoError(t, os.WriteFile(filepath.Join(backup, "recovery.signal"), nil, 0o600))
	appendTo(t, filepath.Join(backup, "postgresql.auto.conf"), config)
	command(t, "cp", "-a", backup, w.PostgresData())
	w.GiveToServer(w.t, w.PostgresData())
	w.StartPostgres(t)
	w.StartNATS(t)
	w.startServices()
	before := w.api.Token
	for _, d := range databases {
		w.awaitRefused(d.write, d.body)
	}
	w.finishRestore()
	w.logIn()
	w.requireUnknown(before)

	w.awaitShifts(second, crew.Persons)
	w.verify()
	w.recreate(crew, assigned.ID, first)
	w.awaitShifts(first, crew.Persons)
	w.verify()
}

// One database is restored to an earlier moment than its neighbours. It catches up without help: it
// asks the owners for the data that it lacks, and its neighbours accept its events again.
func TestOneDatabaseIsRestoredToBeforeItsNeighbours(t *testing.T) {
	w := newFixture(t, "ROTALOOM_REPLICA_COMPARE_EVERY=2s", "ROTALOOM_REPLICA_SETTLE=1s")
	crew, assigned := w.working(200, first)
	staying, leaving, late := crew.Persons[:150], crew.Persons[150:], w.crew(50).Persons
	nobody := rotation{cycle: "-"}
	dump := filepath.Join(t.TempDir(), "scheduling.dump")
	command(t, "pg_dump", "--format=custom", "--file="+dump, "--dbname="+w.Postgres.AdminURL("scheduling"))

	w.putOnTerm(crew.TermID, late)
	w.awaitShifts(first, late)
	w.terminate(leaving, monday)
	w.awaitShifts(nobody, leaving)
	w.finishAny(w.recreate(crew, assigned.ID, second).Propagation)

	for _, name := range []string{"scheduling", "propagator"} {
		w.Services[name].Stop(t)
	}
	command(t, "pg_restore", "--clean", "--create", "--exit-on-error", "--dbname="+w.Postgres.AdminURL("postgres"), dump)
	for _, name := range []string{"scheduling", "propagator"} {
		w.Start(name)
	}
	w.awaitRefused(shiftsPath, databases[2].body)
	w.finishRestore()
	w.logIn()

	// The copies of commons' data are current again, so the terminated employees stay out.
	// Scheduling's own changes since the dump are lost.
	w.awaitShifts(nobody, append(slices.Clone(leaving), late...))
	w.awaitShifts(first, sample(staying, 50))
	w.verify()
	w.putOnTerm(crew.TermID, late)
	w.recreate(crew, assigned.ID, third)
	w.awaitShifts(third, append(sample(staying, 50), late...))
	w.verify()
}

// archive lies beside the server's data. The server works there, and its user may not enter the
// folders of tests.
const archive = "../archive"

// archiveLog makes the server copy each finished segment of its log to the archive.
func (w *fixture) archiveLog() {
	w.t.Helper()
	folder := filepath.Join(w.PostgresData(), archive)
	require.NoError(w.t, os.Mkdir(folder, 0o700))
	w.GiveToServer(w.t, folder)
	w.query(`ALTER SYSTEM SET archive_mode = 'on'`)
	w.query(`ALTER SYSTEM SET archive_command = 'cp "%p" "` + archive + `/%f"'`)
	w.stopServices() // Restarting the server breaks their connections, and a caller that uses one at once would get 503.
	w.StopPostgres(w.t)
	w.StartPostgres(w.t)
	w.startServices()
}

// awaitArchived waits until the archive holds everything that was logged.
func (w *fixture) awaitArchived() {
	w.t.Helper()
	var last string
	w.query(`SELECT pg_walfile_name(pg_switch_wal())`, &last)
	launch.Await(w.t, waitTimeout, last+" is archived", func() bool {
		var done bool
		w.query(fmt.Sprintf(`SELECT coalesce(last_archived_wal >= '%s', false) FROM pg_stat_archiver`, last), &done)
		return done
	})
}

// query runs a query on the server as its administrator.
func (w *fixture) query(sql string, into ...any) {
	w.t.Helper()
	conn, err := pgx.Connect(w.ctx, w.Postgres.AdminURL("postgres"))
	require.NoError(w.t, err)
	defer conn.Close(context.WithoutCancel(w.ctx))
	if len(into) == 0 {
		_, err = conn.Exec(w.ctx, sql)
	} else {
		err = conn.QueryRow(w.ctx, sql).Scan(into...)
	}
	require.NoError(w.t, err, sql)
}

func (w *fixture) stopServices() {
	w.t.Helper()
	for _, name := range []string{"gateway", "platform", "recruiting", "propagator", "scheduling", "timekeeping", "commons", "auth"} {
		w.Services[name].Stop(w.t)
	}
}

func (w *fixture) startServices() {
	w.t.Helper()
	for _, name := range []string{"auth", "commons", "timekeeping", "scheduling", "propagator", "recruiting", "platform", "gateway"} {
		w.Start(name)
	}
	w.AwaitServices(w.t)
}

// command runs one of PostgreSQL's programs, as an operator does.
func command(t *testing.T, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	require.NoError(t, err, "%s: %s", name, out)
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}
