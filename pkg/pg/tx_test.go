package pg_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func counters() pg.Migrations {
	return pg.Migrations{Table: "counter_version", FS: files(map[string]string{
		"00001_counter.sql": `CREATE TABLE counter (id int PRIMARY KEY, n int NOT NULL);
			INSERT INTO counter VALUES (1, 0), (2, 0);`,
	})}
}

func TestInTxRunsAgainAfterASerializationFailure(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, counters())
	ctx := t.Context()

	// Both read before either writes, so the database must refuse one of them.
	var bothRead sync.WaitGroup
	bothRead.Add(2)
	var runs atomic.Int32
	increment := func() error {
		first := true
		return pg.InTxWith(ctx, pool, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(ctx context.Context, tx pgx.Tx) error {
			runs.Add(1)
			var n int
			if err := tx.QueryRow(ctx, "SELECT n FROM counter WHERE id = 1").Scan(&n); err != nil {
				return err
			}
			if first {
				first = false
				bothRead.Done()
				bothRead.Wait()
			}
			_, err := tx.Exec(ctx, "UPDATE counter SET n = $1 WHERE id = 1", n+1)
			return err
		})
	}
	var other error
	var done sync.WaitGroup
	done.Go(func() { other = increment() })
	require.NoError(t, increment())
	done.Wait()
	require.NoError(t, other)

	var n int
	require.NoError(t, pool.QueryRow(ctx, "SELECT n FROM counter WHERE id = 1").Scan(&n))
	assert.Equal(t, 2, n)
	assert.Greater(t, runs.Load(), int32(2))
}

func TestInTxRunsAgainAfterADeadlock(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, counters())
	ctx := t.Context()

	var bothLocked sync.WaitGroup
	bothLocked.Add(2)
	crosswise := func(a, b int) error {
		first := true
		return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
			const add = "UPDATE counter SET n = n + 1 WHERE id = $1"
			if _, err := tx.Exec(ctx, add, a); err != nil {
				return err
			}
			if first {
				first = false
				bothLocked.Done()
				bothLocked.Wait()
			}
			_, err := tx.Exec(ctx, add, b)
			return err
		})
	}
	var other error
	var done sync.WaitGroup
	done.Go(func() { other = crosswise(2, 1) })
	require.NoError(t, crosswise(1, 2))
	done.Wait()
	require.NoError(t, other)

	var sum int
	require.NoError(t, pool.QueryRow(ctx, "SELECT sum(n) FROM counter").Scan(&sum))
	assert.Equal(t, 4, sum)
}

func TestInTxGivesUpAfterABoundedNumberOfConflicts(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	runs := 0

	err := pg.InTx(t.Context(), pool, func(context.Context, pgx.Tx) error {
		runs++
		return &pgconn.PgError{Code: "40001"}
	})
	assert.ErrorContains(t, err, "conflicted 5 times")
	assert.Equal(t, 5, runs)
}

func TestInTxRollsBackAndReturnsOtherErrorsUntouched(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, counters())
	mine := errors.New("mine")
	runs := 0

	err := pg.InTx(t.Context(), pool, func(ctx context.Context, tx pgx.Tx) error {
		runs++
		_, err := tx.Exec(ctx, "UPDATE counter SET n = 99")
		require.NoError(t, err)
		return mine
	})
	require.Equal(t, mine, err)
	assert.Equal(t, 1, runs)
	var n int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT max(n) FROM counter").Scan(&n))
	assert.Zero(t, n)
}
