package faults

import (
	"context"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// Employments end while scheduling's consumer is away, and neither the broker nor the outbox keeps
// the events. Scheduling compares its copy with the owner, and the employees no longer have shifts.
// Then the scheduling database is restored from a backup and forgets which persons were put on a
// term in the hour after it. Commons follows.
func TestCopiesAreRepaired(t *testing.T) {
	w := newFixture(t, "ROTALOOM_REPLICA_COMPARE_EVERY=2s", "ROTALOOM_REPLICA_SETTLE=500ms")
	crew, assigned := w.working(100, first)
	leaving, later := w.crew(20), w.crew(20)
	w.putOnTerm(crew.TermID, leaving.Persons)
	w.awaitShifts(first, leaving.Persons)

	w.Services["scheduling"].Stop(t)
	w.terminate(leaving.Persons, monday)
	commons := w.connect("commons")
	launch.Await(t, waitTimeout, "commons has published", func() bool {
		var waiting int
		require.NoError(t, commons.QueryRow(t.Context(), `SELECT count(*) FROM outbox WHERE sent_at IS NULL`).Scan(&waiting))
		return waiting == 0
	})
	_, err := commons.Exec(t.Context(), `DELETE FROM outbox`)
	require.NoError(t, err)
	w.StopNATS()
	w.WipeNATS(t)
	w.StartNATS(t)
	w.Start("scheduling")
	w.awaitShifts(rotation{cycle: "-"}, leaving.Persons)
	w.verify()

	w.backup("scheduling")
	w.putOnTerm(crew.TermID, later.Persons)
	w.finishAny(w.recreate(crew, assigned.ID, second).Propagation)
	w.awaitShifts(second, later.Persons)
	w.restore("scheduling")
	w.finishRestore()
	w.logIn()
	w.awaitShifts(first, sample(crew.Persons, 20))
	w.awaitShifts(rotation{cycle: "-"}, later.Persons)
	w.verify()
	w.awaitCommons()
	// Changes after the restore have higher versions than all that commons has seen.
	w.putOnTerm(crew.TermID, later.Persons)
	w.finishAny(w.recreate(crew, assigned.ID, second).Propagation)
	w.awaitShifts(second, later.Persons)
	w.awaitCommons()
}

// terminate ends the employment of persons on a day.
func (w *fixture) terminate(persons []int64, day string) {
	w.t.Helper()
	updates := make([]scenario.Object, len(persons))
	for i, id := range persons {
		updates[i] = scenario.Object{
			"personIdentity": scenario.Object{"personKey": id},
			"personInformation": scenario.Object{"employmentStatusList": []scenario.Object{
				{"employmentStatusName": "Terminated", "effectiveDate": day},
			}},
		}
	}
	_, err := w.api.Call(w.ctx, http.MethodPost, "/v1/commons/persons/multi_update", updates, nil)
	require.NoError(w.t, err)
}

// awaitCommons waits until commons has the same spans and memberships as scheduling.
func (w *fixture) awaitCommons() {
	w.t.Helper()
	launch.Await(w.t, waitTimeout, "commons has the spans and memberships of scheduling", func() bool {
		return w.digest("scheduling", "span", "employee_id, lane, position, day_count") == w.digest("commons", "schedule_span", "person_id, lane, position, day_count") &&
			w.digest("scheduling", "membership", "employee_id, employment_term_id") == w.digest("commons", "membership", "person_id, employment_term_id")
	})
}

// connect connects to a service's database as a superuser, without row-level security.
func (w *fixture) connect(service string) *pgx.Conn {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.Postgres.AdminURL(service))
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = conn.Close(context.Background()) }) // The server may have gone.
	return conn
}

// digest returns a checksum of a service's spans or memberships.
func (w *fixture) digest(service, table, columns string) (digest int64) {
	w.t.Helper()
	conn := w.connect(service)
	defer conn.Close(w.t.Context())
	require.NoError(w.t, conn.QueryRow(w.t.Context(), `SELECT coalesce(sum(hashtext(concat_ws(' ', from_date, to_date, `+columns+`))), 0) FROM `+table).Scan(&digest))
	return digest
}

// backup copies a service's database in its present state.
func (w *fixture) backup(service string) { w.copyDatabase(service, service+"_backup") }

// restore returns a service's database to the state of its backup.
func (w *fixture) restore(service string) { w.copyDatabase(service+"_backup", service) }

// copyDatabase replaces one database by a copy of another, while no service uses either.
func (w *fixture) copyDatabase(from, to string) {
	w.t.Helper()
	for _, name := range []string{"scheduling", "propagator"} {
		w.Services[name].Stop(w.t)
	}
	admin := w.connect("timekeeping")
	defer admin.Close(w.t.Context())
	for _, sql := range []string{
		`DROP DATABASE IF EXISTS ` + pgx.Identifier{to}.Sanitize() + ` WITH (FORCE)`,
		`CREATE DATABASE ` + pgx.Identifier{to}.Sanitize() + ` TEMPLATE ` + pgx.Identifier{from}.Sanitize() + ` OWNER rotaloom`,
	} {
		_, err := admin.Exec(w.t.Context(), sql)
		require.NoError(w.t, err, sql)
	}
	w.Start("scheduling")
	w.Start("propagator")
}
