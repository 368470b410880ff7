package operation

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// importSize is the number of persons in one import.
	importSize = 1_000
	// largeSize is the number of persons that make a tenant large. The database reads up to about
	// 7,000 persons as a whole, because that costs less than 100 searches in an index.
	largeSize = 12_000
	// sameReads bounds the difference between the rows that two imports read; workers read some rows
	// from time to time.
	sameReads = 5_000
)

// An import costs the same in a larger tenant, also before the database has statistics: no ANALYZE
// runs while twelve thousand persons are imported. A statement that reads the whole tenant
// for each batch would make the costs quadratic.
func TestAnImportCostsTheSameInALargerTenant(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	api := scenario.API{Target: server.Target(t)}
	databases := superuserConnections(t, server.StateDir)
	execute(t, databases["postgres"], "ALTER SYSTEM SET autovacuum = off")
	execute(t, databases["postgres"], "SELECT pg_reload_conf()")

	importAndPlan(t, api, importSize)
	// The database caches its plan for checking a foreign key. It is the wrong plan, made for a small
	// table, until ANALYZE runs. Autovacuum does so within ten seconds.
	execute(t, databases["rotaloom_commons"], "ANALYZE person")
	before := rowsRead(t, databases)
	importAndPlan(t, api, importSize)
	small := rowsRead(t, databases)
	importAndPlan(t, api, largeSize-2*importSize)
	between := rowsRead(t, databases)
	importAndPlan(t, api, importSize)
	large := rowsRead(t, databases)
	for table, reads := range large {
		first, second := small[table]-before[table], reads-between[table]
		assert.LessOrEqual(t, second, 2*first+sameReads, "rows of %s that an import of %d persons reads: %d after %d persons, %d after %d",
			table, importSize, first, importSize, second, largeSize)
	}
}

// importAndPlan imports persons who are on a term, plans their shifts, and reads the shifts.
func importAndPlan(t *testing.T, api scenario.API, size int) {
	t.Helper()
	crew, err := scenario.NewCrew(t.Context(), api, size, "2026-01-01")
	require.NoError(t, err)
	assigned, err := crew.Assign(t.Context(), api, early, day, "", 0)
	require.NoError(t, err)
	_, err = scenario.Finish(t.Context(), api, assigned.Propagation)
	require.NoError(t, err)
	awaitShifts := func(persons []int64) {
		launch.Await(t, time.Minute, "everybody works", func() bool {
			shifts, err := scenario.ReadShifts(t.Context(), api, persons, day, day)
			require.NoError(t, err)
			return len(shifts) == len(persons)
		})
	}
	// Wait for one person of each batch first. A slow machine asks more often, and its reads must
	// not look like reads of the import.
	for batch := range slices.Chunk(crew.Persons, scenario.BatchSize) {
		awaitShifts(batch[:1])
	}
	awaitShifts(crew.Persons)
}

// superuserConnections connects to all databases of a private server.
func superuserConnections(t *testing.T, stateDir string) map[string]*pgx.Conn {
	t.Helper()
	databaseURL := launch.PrivatePostgres(stateDir)
	connect := func(database string) *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), databaseURL(database))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
		return conn
	}
	all := map[string]*pgx.Conn{"postgres": connect("postgres")}
	rows, err := all["postgres"].Query(t.Context(), "SELECT datname FROM pg_database WHERE datname LIKE 'rotaloom%'")
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		all[name] = connect(name)
	}
	return all
}

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

// statisticsDelay bounds how long a session may keep its statistics to itself.
const statisticsDelay = 11 * time.Second

// rowsRead returns the number of rows of each table that were read so far, as soon as all sessions
// have reported their statistics and the copies of other services are written.
func rowsRead(t *testing.T, databases map[string]*pgx.Conn) map[string]int64 {
	t.Helper()
	var read map[string]int64
	since := time.Now()
	launch.Await(t, 2*time.Minute, "the numbers of rows read stay as they are", func() bool {
		now := map[string]int64{}
		for name, conn := range databases {
			rows, err := conn.Query(t.Context(), "SELECT relname, seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables")
			require.NoError(t, err)
			var table string
			var count int64
			_, err = pgx.ForEachRow(rows, []any{&table, &count}, func() error {
				now[name+"."+table] = count
				return nil
			})
			require.NoError(t, err)
		}
		for table, count := range now {
			if count > read[table]+sameReads/10 {
				read, since = now, time.Now()
				break
			}
		}
		return time.Since(since) > statisticsDelay
	})
	return read
}
