package pg_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgbouncer"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

// pooledConfig returns a configuration that connects through a real PgBouncer in transaction mode,
// where transactions share sessions.
func pooledConfig(t *testing.T, sets ...pg.Migrations) pg.Config {
	t.Helper()
	direct := pgtest.Config(t, sets...)
	cfg := pgbouncer.Start(t, direct.URL).Config(direct)
	cfg.MaxConns = 16
	return cfg
}

func openPooled(t *testing.T, cfg pg.Config) *pg.Pool {
	t.Helper()
	pool, err := pg.Open(t.Context(), cfg, pgtest.Log(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// waysToCount returns every way to read the notes that a context may see.
func waysToCount(pool *pg.Pool) map[string]func(context.Context) (int, error) {
	const count = "SELECT count(*) FROM note WHERE $1"
	inTx := func(ctx context.Context, opts pgx.TxOptions) (n int, err error) {
		err = pg.InTxWith(ctx, pool, opts, func(ctx context.Context, tx pgx.Tx) error {
			return tx.QueryRow(ctx, count, true).Scan(&n)
		})
		return n, err
	}
	return map[string]func(context.Context) (int, error){
		"row": func(ctx context.Context) (n int, err error) {
			return n, pool.QueryRow(ctx, count, true).Scan(&n)
		},
		"rows": func(ctx context.Context) (int, error) {
			rows, err := pool.Query(ctx, count, true)
			if err != nil {
				return 0, err
			}
			return pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
		},
		"exec": func(ctx context.Context) (int, error) {
			done, err := pool.Exec(ctx, "SELECT FROM note WHERE $1", true)
			return int(done.RowsAffected()), err
		},
		"batch": func(ctx context.Context) (n int, err error) {
			batch := &pgx.Batch{}
			batch.Queue("SELECT 1")
			batch.Queue(count, true).QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
			return n, pool.SendBatch(ctx, batch).Close()
		},
		"snapshot": func(ctx context.Context) (n int, err error) {
			var s pg.Snapshot
			s.Queue(discardRows, "SELECT 1")
			s.Queue(into(&n), count, true)
			return n, s.Read(ctx, pool)
		},
		"pair": func(ctx context.Context) (n int, err error) {
			var first, second pg.Snapshot
			first.Queue(discardRows, "SELECT 1")
			second.Queue(into(&n), count, true)
			return n, pg.ReadPair(ctx, pool, &first, &second)
		},
		"transaction":          func(ctx context.Context) (int, error) { return inTx(ctx, pgx.TxOptions{}) },
		"serializable":         func(ctx context.Context) (int, error) { return inTx(ctx, pgx.TxOptions{IsoLevel: pgx.Serializable}) },
		"snapshot transaction": func(ctx context.Context) (int, error) { return inTx(ctx, pg.SnapshotOptions) },
		"transaction with a hook": func(ctx context.Context) (int, error) {
			return inTx(pg.WithTxHook(ctx, &along{}), pgx.TxOptions{})
		},
		"session": func(ctx context.Context) (n int, err error) {
			conn, err := pool.Session(ctx)
			if err != nil {
				return 0, err
			}
			defer func() { _ = conn.Close(ctx) }()
			return n, conn.QueryRow(ctx, count, true).Scan(&n)
		},
	}
}

// along goes along with the first transaction that is committed.
type along struct{ committed bool }

func (a *along) Statement() (string, []any) {
	if a.committed {
		return "", nil
	}
	return "SELECT $1::int", []any{1}
}

func (a *along) Check() error { return nil }

func (a *along) Committed() { a.committed = true }

// Everybody reads in every way at once, over fewer sessions than connections.
func TestTenantsDoNotMixBehindAPooler(t *testing.T) {
	t.Parallel()
	pool := openPooled(t, pooledConfig(t, notes()))
	fill(t, pool)
	for way, count := range waysToCount(pool) {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			var workers sync.WaitGroup
			for worker := range 4 {
				workers.Go(func() {
					for i := range 25 {
						ctx, id := t.Context(), int64((worker+i)%4)
						if id != 0 { // 0 stands for a context without a tenant.
							ctx = tenant.With(ctx, id)
						}
						n, err := count(ctx)
						if !assert.NoError(t, err) || !assert.Equal(t, int(id%3), n) {
							return
						}
					}
				})
			}
			workers.Wait()
		})
	}
}

func TestWritesBehindAPooler(t *testing.T) {
	t.Parallel()
	pool := openPooled(t, pooledConfig(t, notes()))
	fill(t, pool)
	mine := tenant.With(t.Context(), 1)
	count := func() int {
		n, err := visible(mine, pool)
		require.NoError(t, err)
		return n
	}

	_, err := pool.Exec(mine, "INSERT INTO note VALUES (2, 3, 'smuggled')")
	require.ErrorContains(t, err, "row-level security")
	done, err := pool.Exec(mine, "DELETE FROM note")
	require.NoError(t, err)
	assert.EqualValues(t, 1, done.RowsAffected(), "only its own")

	_, err = pool.Exec(mine, "INSERT INTO note VALUES (1, 5, 'mine')")
	require.NoError(t, err)
	n, err := pool.CopyFrom(mine, pgx.Identifier{"mark"}, []string{"tenant_id", "note_id", "id"},
		pgx.CopyFromRows([][]any{{int64(1), int64(5), int64(1)}, {int64(1), int64(5), int64(2)}}))
	require.NoError(t, err)
	assert.EqualValues(t, 2, n)

	batch := &pgx.Batch{}
	batch.Queue("INSERT INTO note VALUES (1, 7, 'c')")
	batch.Queue("INSERT INTO note VALUES (1, 7, 'again')")
	require.True(t, pgerr.IsUnique(pool.SendBatch(mine, batch).Close(), "note_pk"))
	assert.Equal(t, 1, count(), "all or none")

	rows, err := pool.Query(mine, "INSERT INTO note VALUES (1, 8, '') RETURNING id")
	if err == nil {
		_, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	}
	require.True(t, pgerr.IsCheck(err, "note_not_empty"), "%v", err)
	require.ErrorIs(t, pool.QueryRow(mine, "SELECT 1 FROM note WHERE id = 99").Scan(new(int)), pgx.ErrNoRows)
	require.EqualValues(t, 0, pool.Stat().AcquiredConns(), "all were given back")
}

// With a pooler, the settings of a session are set in each transaction.
func TestSettingsGoWithEachTransactionBehindAPooler(t *testing.T) {
	t.Parallel()
	cfg := pooledConfig(t, notes())
	cfg.StatementTimeout = 200 * time.Millisecond
	pool := openPooled(t, cfg)
	ctx := t.Context()

	_, err := pool.Exec(ctx, "SELECT pg_sleep(20)")
	assert.True(t, pgerr.TimedOut(err), "%v", err)
	err = pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT pg_sleep(20)")
		return err
	})
	assert.True(t, pgerr.TimedOut(err), "%v", err)
	var zone string
	require.NoError(t, pool.QueryRow(ctx, "SHOW timezone").Scan(&zone))
	assert.Equal(t, "UTC", zone)
}

// A client that uses the pooler without the pool never gets the tenant of another client.
func TestSessionsOfAPoolerKeepNoTenant(t *testing.T) {
	t.Parallel()
	cfg := pooledConfig(t, notes())
	pool := openPooled(t, cfg)
	fill(t, pool)
	for _, count := range waysToCount(pool) {
		_, err := count(tenant.With(t.Context(), 2))
		require.NoError(t, err)
	}
	bare, err := pgxpool.ParseConfig(cfg.URL.Reveal())
	require.NoError(t, err)
	bare.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	others, err := pgxpool.NewWithConfig(t.Context(), bare)
	require.NoError(t, err)
	defer others.Close()
	for range 50 {
		var set string
		require.NoError(t, others.QueryRow(t.Context(), "SELECT coalesce(current_setting('rotaloom.tenant_id', true), '')").Scan(&set))
		require.Empty(t, set)
	}
}

const sessionLock advisory.Lock = "test session"

func TestLocksOfSessionsGoPastAPooler(t *testing.T) {
	t.Parallel()
	cfg := pooledConfig(t, notes())
	pool := openPooled(t, cfg)
	conn, err := pool.Session(t.Context())
	require.NoError(t, err)
	got, err := sessionLock.TrySession(t.Context(), conn, "")
	require.NoError(t, err)
	require.True(t, got)
	other, err := pool.Session(t.Context())
	require.NoError(t, err)
	defer func() { _ = other.Close(t.Context()) }()
	for range 20 {
		got, err = sessionLock.TrySession(t.Context(), other, "")
		require.NoError(t, err)
		require.False(t, got, "another session has it")
	}
	require.NoError(t, conn.Close(t.Context()))
	require.Eventually(t, func() bool {
		got, err := sessionLock.TrySession(t.Context(), other, "")
		return assert.NoError(t, err) && got
	}, 10*time.Second, 10*time.Millisecond)
}

func TestMigrationsGoPastAPooler(t *testing.T) {
	t.Parallel()
	cfg := pooledConfig(t)
	var migrators sync.WaitGroup
	for range 4 {
		migrators.Go(func() { assert.NoError(t, pg.Migrate(t.Context(), cfg, pgtest.Log(t), notes(), counters())) })
	}
	migrators.Wait()
	require.NoError(t, pg.CheckSchema(t.Context(), openPooled(t, cfg), notes(), counters()))
}
