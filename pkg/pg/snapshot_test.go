package pg_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

// into returns what takes the one value of a statement's one row.
func into[T any](value *T) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*value, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
		return err
	}
}

func discardRows(rows pgx.Rows) error {
	rows.Close()
	return rows.Err()
}

// gate is an advisory lock that stops a statement in the middle of a read. Those who
// read pass it together: of a pair, neither waits for the other.
const (
	gate      = "SELECT pg_advisory_xact_lock_shared(7)"
	closeGate = "SELECT pg_advisory_xact_lock(7)"
)

// behindGate calls read while the gate is closed, changes the counter once the
// read stands there, and opens the gate.
func behindGate(t *testing.T, pool *pg.Pool, read func() error) {
	t.Helper()
	ctx := t.Context()
	closed, err := pool.Begin(ctx)
	require.NoError(t, err)
	_, err = closed.Exec(ctx, closeGate)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- read() }()
	require.Eventually(t, func() bool {
		var waiting bool
		err := closed.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waiting)
		return assert.NoError(t, err) && waiting
	}, 10*time.Second, time.Millisecond)
	_, err = pool.Exec(ctx, "UPDATE counter SET n = n + 1")
	require.NoError(t, err)
	require.NoError(t, closed.Commit(ctx))
	require.NoError(t, <-done)
}

func TestSnapshotSeesOneMoment(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, counters())
	var before, after int
	behindGate(t, pool, func() error {
		var s pg.Snapshot
		s.Queue(into(&before), "SELECT n FROM counter WHERE id = 1")
		s.Queue(discardRows, gate)
		s.Queue(into(&after), "SELECT n FROM counter WHERE id = $1", 1)
		return s.Read(t.Context(), pool)
	})
	assert.Equal(t, before, after)
}

func TestInSnapshotSeesOneMoment(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, counters())
	var before, after int
	behindGate(t, pool, func() error {
		return pg.InSnapshot(t.Context(), pool, func(ctx context.Context, tx pgx.Tx) error {
			if err := tx.QueryRow(ctx, "SELECT n FROM counter WHERE id = 1").Scan(&before); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, gate); err != nil {
				return err
			}
			return tx.QueryRow(ctx, "SELECT n FROM counter WHERE id = 1").Scan(&after)
		})
	})
	assert.Equal(t, before, after)
}

func TestPairSeesOneMoment(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, counters())
	var before, after, beside int
	behindGate(t, pool, func() error {
		var first, second pg.Snapshot
		first.Queue(into(&before), "SELECT n FROM counter WHERE id = 1")
		second.Queue(discardRows, gate)
		second.Queue(into(&after), "SELECT n FROM counter WHERE id = 1")
		first.Queue(discardRows, gate)
		first.Queue(into(&beside), "SELECT n FROM counter WHERE id = 1")
		return pg.ReadPair(t.Context(), pool, &first, &second)
	})
	assert.Equal(t, before, after)
	assert.Equal(t, before, beside)
	assertReturned(t, pool)
}

// assertReturned waits until no connection is in use: the pool takes them back in the
// background.
func assertReturned(t *testing.T, pool *pg.Pool) {
	t.Helper()
	assert.Eventually(t, func() bool { return pool.Stat().AcquiredConns() == 0 }, 10*time.Second, time.Millisecond)
}

// With a pool of one connection, a pair does not wait for a second one.
func TestPairWorksWithOneConnection(t *testing.T) {
	t.Parallel()
	pool := oneConn(t)
	fill(t, pool)
	ctx := tenant.With(t.Context(), 2)
	var one, two int
	var first, second pg.Snapshot
	first.Queue(into(&one), "SELECT count(*)::int FROM note")
	second.Queue(into(&two), "SELECT count(*)::int FROM note")
	require.NoError(t, pg.ReadPair(ctx, pool, &first, &second))
	assert.Equal(t, []int{2, 2}, []int{one, two})
}

func TestPairThatFails(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, counters())
	for name, sqls := range map[string][2]string{"the first": {"SELECT 1/0", "SELECT 1"}, "the second": {"SELECT 1", "SELECT 1/0"}} {
		t.Run(name, func(t *testing.T) {
			var first, second pg.Snapshot
			first.Queue(discardRows, sqls[0])
			second.Queue(discardRows, sqls[1])
			require.ErrorContains(t, pg.ReadPair(t.Context(), pool, &first, &second), "division by zero")
			assertReturned(t, pool)
		})
	}
}

func TestSnapshotWritesNothing(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, counters())
	var s pg.Snapshot
	s.Queue(discardRows, "SELECT 1")
	s.Queue(discardRows, "UPDATE counter SET n = 9 RETURNING n")
	assert.ErrorContains(t, s.Read(t.Context(), pool), "read-only transaction")
}

// A failed read gives its connection back in order: the next one uses the same.
func TestSnapshotThatFailsKeepsItsConnection(t *testing.T) {
	t.Parallel()
	pool := oneConn(t)
	fill(t, pool)
	ctx := tenant.With(t.Context(), 2)
	backend := func() (pid int) {
		require.NoError(t, pool.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid))
		return pid
	}
	before := backend()
	for _, sql := range []string{"SELECT 1/0", "SELECT nonsense"} {
		t.Run(sql, func(t *testing.T) {
			var n int
			var s pg.Snapshot
			s.Queue(into(&n), "SELECT count(*)::int FROM note")
			s.Queue(discardRows, sql)
			s.Queue(into(&n), "SELECT count(*)::int FROM note")
			require.Error(t, s.Read(ctx, pool))
			assert.Equal(t, before, backend())
		})
	}
	var first, second int
	var s pg.Snapshot
	s.Queue(into(&first), "SELECT count(*)::int FROM note")
	s.Queue(into(&second), "SELECT count(*)::int FROM note")
	require.NoError(t, s.Read(ctx, pool))
	assert.Equal(t, []int{2, 2}, []int{first, second})
}

func TestEmptySnapshotSendsNoRequests(t *testing.T) {
	t.Parallel()
	assert.NoError(t, (&pg.Snapshot{}).Read(t.Context(), (*pg.Pool)(nil)))
}
