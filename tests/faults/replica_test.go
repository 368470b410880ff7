package faults

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// Who was put on a term while nobody listened, and of whom neither the broker nor
// the outbox knows any more, works all the same: the copy is compared with its
// owner. So does who was put on it in the hour behind a backup, when the
// scheduling database is restored from that; and commons follows.
func TestWhatCopiesLackIsRepaired(t *testing.T) {
	w := newFixture(t, "ROTALOOM_REPLICA_COMPARE_EVERY=2s", "ROTALOOM_REPLICA_SETTLE=500ms")
	crew, assigned := w.working(100, first)
	lost, later := w.crew(20), w.crew(20)

	w.Services["scheduling"].Stop(t)
	w.put(crew.TermID, lost.Persons)
	timekeeping := w.connect("timekeeping")
	launch.Await(t, waitTimeout, "timekeeping has published", func() bool {
		var waiting int
		require.NoError(t, timekeeping.QueryRow(t.Context(), `SELECT count(*) FROM outbox WHERE sent_at IS NULL`).Scan(&waiting))
		return waiting == 0
	})
	_, err := timekeeping.Exec(t.Context(), `DELETE FROM outbox`)
	require.NoError(t, err)
	w.StopNATS()
	w.WipeNATS(t)
	w.StartNATS(t)
	w.Start("scheduling")
	w.awaitShifts(first, lost.Persons)
	w.verify()

	w.backup("scheduling")
	w.put(crew.TermID, later.Persons)
	w.finishAny(w.recreate(crew, assigned.ID, second).Propagation)
	w.awaitShifts(second, later.Persons)
	w.restore("scheduling")
	w.finishRestore()
	w.logIn()
	w.awaitShifts(first, append(sample(crew.Persons, 20), later.Persons...))
	w.verify()
	launch.Await(t, waitTimeout, "commons has the spans of scheduling", func() bool {
		return w.digest("scheduling", "span", "employee_id") == w.digest("commons", "schedule_span", "person_id")
	})
	// What comes behind it is later than all that commons has.
	w.finishAny(w.recreate(crew, assigned.ID, second).Propagation)
	launch.Await(t, waitTimeout, "commons has the spans of scheduling", func() bool {
		return w.digest("scheduling", "span", "employee_id") == w.digest("commons", "schedule_span", "person_id")
	})
}

// connect leads to a service's database, past all policies.
func (w *fixture) connect(service string) *pgx.Conn {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.Postgres.AdminURL(service))
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = conn.Close(context.Background()) }) // The server may have gone.
	return conn
}

// digest is what a service has of spans.
func (w *fixture) digest(service, table, employee string) (digest int64) {
	w.t.Helper()
	conn := w.connect(service)
	defer conn.Close(w.t.Context())
	require.NoError(w.t, conn.QueryRow(w.t.Context(), `SELECT coalesce(sum(hashtext(concat_ws(' ', `+employee+`, lane, from_date, to_date, position, day_count))), 0) FROM `+table).Scan(&digest))
	return digest
}

// backup keeps a service's database as it is now.
func (w *fixture) backup(service string) { w.copyDatabase(service, service+"_backup") }

// restore brings a service's database back to what was kept.
func (w *fixture) restore(service string) { w.copyDatabase(service+"_backup", service) }

// copyDatabase makes one database equal to another, while nobody works on either.
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
