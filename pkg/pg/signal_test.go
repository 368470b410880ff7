package pg_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

const changed pg.Signal = "changed"

var errMine = errors.New("mine")

// inSavepoint runs fn in a savepoint.
func inSavepoint(ctx context.Context, tx pgx.Tx, fn func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, tx, fn)
}

func raiseIn(tx pgx.Tx) error { return pg.RaiseOnCommit(tx, changed) }

func raiseAndFail(tx pgx.Tx) error { return errors.Join(pg.RaiseOnCommit(tx, changed), errMine) }

func TestSignalsAreAnnouncedOnceAfterTheCommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work func(ctx context.Context, tx pgx.Tx) error
		want int
	}{
		"committed":      {func(_ context.Context, tx pgx.Tx) error { return raiseIn(tx) }, 1},
		"raised twice":   {func(_ context.Context, tx pgx.Tx) error { return errors.Join(raiseIn(tx), raiseIn(tx)) }, 1},
		"nothing raised": {func(context.Context, pgx.Tx) error { return nil }, 0},
		"another signal": {func(_ context.Context, tx pgx.Tx) error { return pg.RaiseOnCommit(tx, "other") }, 0},
		"rolled back":    {func(_ context.Context, tx pgx.Tx) error { return raiseAndFail(tx) }, 0},
		"savepoint":      {func(ctx context.Context, tx pgx.Tx) error { return inSavepoint(ctx, tx, raiseIn) }, 1},
		"nested savepoint": {func(ctx context.Context, tx pgx.Tx) error {
			return inSavepoint(ctx, tx, func(tx pgx.Tx) error { return inSavepoint(ctx, tx, raiseIn) })
		}, 1},
		"savepoint rolled back": {func(ctx context.Context, tx pgx.Tx) error {
			assert.ErrorIs(t, inSavepoint(ctx, tx, raiseAndFail), errMine)
			return nil
		}, 0},
		"savepoint rolled back after another": {func(ctx context.Context, tx pgx.Tx) error {
			assert.NoError(t, inSavepoint(ctx, tx, raiseIn))
			assert.ErrorIs(t, inSavepoint(ctx, tx, raiseAndFail), errMine)
			return nil
		}, 1},
		"savepoint in a transaction that is rolled back": {func(ctx context.Context, tx pgx.Tx) error {
			return errors.Join(inSavepoint(ctx, tx, raiseIn), errMine)
		}, 0},
	} {
		for kind, with := range map[string]func(context.Context) context.Context{
			"":             func(ctx context.Context) context.Context { return ctx },
			" with a hook": func(ctx context.Context) context.Context { return pg.WithTxHook(ctx, &selectHook{}) },
		} {
			t.Run(name+kind, func(t *testing.T) {
				t.Parallel()
				pool, calls := pgtest.New(t, counters()), 0
				pool.Listen(changed, func() { calls++ })
				err := pg.InTx(with(t.Context()), pool, func(ctx context.Context, tx pgx.Tx) error {
					err := c.work(ctx, tx)
					assert.Zero(t, calls, "before the commit")
					return err
				})
				if !errors.Is(err, errMine) {
					require.NoError(t, err)
				}
				assert.Equal(t, c.want, calls)
			})
		}
	}
}

// selectHook is a hook whose statement changes nothing.
type selectHook struct{ committed bool }

func (h *selectHook) Statement() (string, []any) {
	if h.committed {
		return "", nil
	}
	return "SELECT 1", nil
}
func (h *selectHook) Check() error { return nil }
func (h *selectHook) Committed()   { h.committed = true }

func TestARepeatedTransactionAnnouncesWhatItsLastAttemptRaised(t *testing.T) {
	t.Parallel()
	pool, calls, attempts := pgtest.New(t), 0, 0
	pool.Listen(changed, func() { calls++ })
	require.NoError(t, pg.InTx(t.Context(), pool, func(_ context.Context, tx pgx.Tx) error {
		attempts++
		if attempts > 1 {
			return nil
		}
		return errors.Join(&pgconn.PgError{Code: "40001"}, raiseIn(tx))
	}))
	assert.Equal(t, 2, attempts)
	assert.Zero(t, calls)
}

// The commit of a transaction with a failed statement rolls it back.
func TestACommitThatRollsBackAnnouncesNothing(t *testing.T) {
	t.Parallel()
	pool, calls := pgtest.New(t), 0
	pool.Listen(changed, func() { calls++ })
	err := pg.InTx(t.Context(), pool, func(ctx context.Context, tx pgx.Tx) error {
		require.NoError(t, raiseIn(tx))
		_, err := tx.Exec(ctx, "SELECT 1/0")
		assert.Error(t, err)
		return nil
	})
	assert.ErrorIs(t, err, pgx.ErrTxCommitRollback)
	assert.Zero(t, calls)
}

func TestEveryListenerOfThePoolIsCalled(t *testing.T) {
	t.Parallel()
	pool, other := pgtest.New(t), pgtest.New(t)
	var calls []string
	pool.Listen(changed, func() { calls = append(calls, "a") })
	pool.Listen(changed, func() { calls = append(calls, "b") })
	other.Listen(changed, func() { calls = append(calls, "other") })
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, raiseIn(tx))
	require.NoError(t, tx.Commit(t.Context()))
	assert.Equal(t, []string{"a", "b"}, calls)
}

func TestTransactionsOfNoPoolRaiseNothing(t *testing.T) {
	t.Parallel()
	conn, err := pgtest.New(t).Session(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) })
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	assert.ErrorContains(t, raiseIn(tx), "not begun on a pool")
	require.NoError(t, tx.Rollback(t.Context()))
}
