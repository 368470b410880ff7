package advisory_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

const (
	one   advisory.Lock = "test one"
	other advisory.Lock = "test other"
)

// Whether a lock is held is asked with Try, so that nothing waits.
func TestLocksOfTransactions(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	holder, err := pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, one.Wait(tenant.With(t.Context(), 5), holder))

	for name, c := range map[string]struct {
		lock   advisory.Lock
		tenant int64
		want   bool
	}{
		"the same":                               {one, 5, false},
		"another tenant":                         {one, 6, true},
		"a tenant with the same 32 bits at last": {one, 5 + 1<<32, true},
		"another lock":                           {other, 5, true},
	} {
		t.Run(name, func(t *testing.T) {
			tx, err := pool.Begin(t.Context())
			require.NoError(t, err)
			got, err := c.lock.Try(tenant.With(t.Context(), c.tenant), tx)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			require.NoError(t, tx.Rollback(t.Context()))
		})
	}
	require.NoError(t, holder.Rollback(t.Context()))
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	got, err := one.Try(tenant.With(t.Context(), 5), tx)
	require.NoError(t, err)
	assert.True(t, got, "it ends with its transaction")
	require.NoError(t, tx.Rollback(t.Context()))
}

// countLocks counts the locks that tx holds.
func countLocks(t *testing.T, tx pgx.Tx) (n int) {
	t.Helper()
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks
		WHERE locktype = 'advisory' AND pid = pg_backend_pid()`).Scan(&n))
	return n
}

func TestLocksOfMembers(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, one.WaitEach(tenant.With(t.Context(), 5), tx, []int64{1, 2, 1, 1 << 40, -1}))
	assert.Equal(t, 4, countLocks(t, tx))
	require.NoError(t, one.WaitEach(tenant.With(t.Context(), 5), tx, []int64{2, 1}))
	assert.Equal(t, 4, countLocks(t, tx), "they are held already")
	require.NoError(t, one.WaitEach(tenant.With(t.Context(), 5+1<<32), tx, []int64{1, 2}))
	assert.Equal(t, 6, countLocks(t, tx), "locks of another tenant")
	require.NoError(t, other.WaitText(t.Context(), tx, "a"))
	require.NoError(t, other.WaitText(t.Context(), tx, "a"))
	require.NoError(t, one.WaitText(t.Context(), tx, "a"))
	assert.Equal(t, 8, countLocks(t, tx))

	batch := &pgx.Batch{}
	one.QueueEach(batch, 5, []int64{1, 3})
	other.Queue(batch, 5)
	require.NoError(t, tx.SendBatch(t.Context(), batch).Close())
	assert.Equal(t, 10, countLocks(t, tx))
	require.NoError(t, tx.Rollback(t.Context()))
}

func TestLocksOfSessions(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	take := func(l advisory.Lock, member string) bool {
		conn, err := pool.Session(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		got, err := l.TrySession(t.Context(), conn, member)
		require.NoError(t, err)
		return got
	}
	assert.True(t, take(one, ""))
	assert.False(t, take(one, ""), "another session has it")
	assert.True(t, take(one, "a"))
	assert.True(t, take(other, ""))
}
