package pg_test

import (
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func TestConcurrentMigratorsTakeTurns(t *testing.T) {
	t.Parallel()
	cfg := pgtest.Config(t)
	// Long enough that they would meet, and not to be run twice.
	fsys := files(map[string]string{
		"00001_slow.sql": "CREATE TABLE slow (at timestamptz); SELECT pg_sleep(0.1); INSERT INTO slow VALUES (now());",
	})
	// This waits for every other session of the database that is in the middle of
	// a statement, so it never ends if migrators wait inside the database.
	fsys["00002_index.sql"] = &fstest.MapFile{Data: []byte(
		"-- +goose NO TRANSACTION\n-- +goose Up\nCREATE INDEX CONCURRENTLY slow_at ON slow (at);")}
	set := pg.Migrations{Table: "slow_version", FS: fsys}

	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { errs[i] = pg.Migrate(t.Context(), cfg, pgtest.Log(t), set, counters()) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	pool, err := pg.Open(t.Context(), cfg, pgtest.Log(t))
	require.NoError(t, err)
	defer pool.Close()
	var n int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM slow").Scan(&n))
	assert.Equal(t, 1, n)
	require.NoError(t, pg.CheckSchema(t.Context(), pool, set, counters()))
}

func TestCheckSchemaWantsAtLeastWhatIsNeeded(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, notes())
	older := pg.Migrations{Table: "notes_version", FS: files(map[string]string{"00001_note.sql": "SELECT 1;"})}
	newer := pg.Migrations{Table: "notes_version", FS: files(map[string]string{"00007_more.sql": "SELECT 1;"})}

	require.NoError(t, pg.CheckSchema(t.Context(), pool, notes()))
	require.NoError(t, pg.CheckSchema(t.Context(), pool, older), "a program of the release before keeps running")

	var behind *pg.SchemaBehind
	require.ErrorAs(t, pg.CheckSchema(t.Context(), pool, newer), &behind)
	assert.Equal(t, pg.SchemaBehind{Table: "notes_version", Have: 2, Needed: 7}, *behind)
	require.ErrorAs(t, pg.CheckSchema(t.Context(), pool, notes(), counters()), &behind)
	assert.Equal(t, pg.SchemaBehind{Table: "counter_version", Have: 0, Needed: 1}, *behind, "a set that was never applied")

	err := pg.CheckSchema(t.Context(), pool, pg.Migrations{Table: "empty_version", FS: files(nil)})
	assert.ErrorContains(t, err, "there are no migrations")
}

func TestFailedMigrationLeavesNothingHalfDone(t *testing.T) {
	t.Parallel()
	cfg := pgtest.Config(t)
	broken := pg.Migrations{Table: "version", FS: files(map[string]string{
		"00001_good.sql":   "CREATE TABLE good ();",
		"00002_broken.sql": "CREATE TABLE half (); SELECT 1/0;",
	})}
	mended := pg.Migrations{Table: "version", FS: files(map[string]string{
		"00001_good.sql":   "CREATE TABLE good ();",
		"00002_broken.sql": "CREATE TABLE half ();",
	})}

	require.Error(t, pg.Migrate(t.Context(), cfg, pgtest.Log(t), broken))
	require.NoError(t, pg.Migrate(t.Context(), cfg, pgtest.Log(t), mended))
}

// A schema change gives up soon instead of stopping the statements that queue behind its lock. Once
// it has the lock, it may work for as long as it needs.
func TestMigrationsWaitForNoLockForLong(t *testing.T) {
	t.Parallel()
	cfg := pgtest.Config(t)
	set := pg.Migrations{Table: "waits_version", FS: files(map[string]string{
		"00001_waits.sql": `CREATE TABLE waits AS SELECT current_setting('lock_timeout') AS lock,
			current_setting('statement_timeout') AS statement;`,
	})}
	require.NoError(t, pg.Migrate(t.Context(), cfg, pgtest.Log(t), set))
	pool, err := pg.Open(t.Context(), cfg, pgtest.Log(t))
	require.NoError(t, err)
	defer pool.Close()
	var lock, statement string
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT lock, statement FROM waits").Scan(&lock, &statement))
	assert.Equal(t, "10s", lock)
	assert.Equal(t, "0", statement)
}

func TestMigrationsIsolateTenants(t *testing.T) {
	t.Parallel()
	for comparison, seen := range map[string]int{
		"subselect": 0, "inline": 0, "text": 0, "text_subselect": 0, "all": 2,
	} {
		t.Run(comparison, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.New(t, pg.Migrations{Table: "isolated_version", FS: files(map[string]string{
				"00001_isolated.sql": "CREATE TABLE isolated (tenant_id bigint); INSERT INTO isolated VALUES (1), (2);" +
					" SELECT isolate_tenants('isolated', '" + comparison + "');",
			})})
			var n int
			require.NoError(t, pool.QueryRow(tenant.With(t.Context(), 1), "SELECT count(*) FROM isolated").Scan(&n))
			assert.Equal(t, 1, n)
			require.NoError(t, pool.QueryRow(tenant.All(t.Context()), "SELECT count(*) FROM isolated").Scan(&n))
			assert.Equal(t, seen, n, "a session of all tenants")
		})
	}
}

func TestMigrationsReplaceTheOlderIsolateTenants(t *testing.T) {
	t.Parallel()
	cfg := pgtest.Config(t)
	older := pg.Migrations{Table: "older_version", FS: files(map[string]string{
		"00001_older.sql": "DROP FUNCTION isolate_tenants; CREATE FUNCTION isolate_tenants(isolated regclass) RETURNS void LANGUAGE sql AS 'SELECT';",
	})}
	newer := pg.Migrations{Table: "newer_version", FS: files(map[string]string{
		"00001_newer.sql": "CREATE TABLE isolated (tenant_id bigint); SELECT isolate_tenants('isolated');",
	})}
	require.NoError(t, pg.Migrate(t.Context(), cfg, pgtest.Log(t), older))
	require.NoError(t, pg.Migrate(t.Context(), cfg, pgtest.Log(t), older, newer))
	pool, err := pg.Open(t.Context(), cfg, pgtest.Log(t))
	require.NoError(t, err)
	defer pool.Close()
	var forced bool
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT relforcerowsecurity FROM pg_class WHERE oid = 'isolated'::regclass").Scan(&forced))
	assert.True(t, forced)
}
