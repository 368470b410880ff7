package employeelock_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestBuckets(t *testing.T) {
	t.Parallel()
	assert.Empty(t, employeelock.Buckets(nil))
	assert.Equal(t, []int32{0, 1, 4}, employeelock.Buckets([]int64{1024, 1, 1023, 4096, 1, 1025}))
	assert.Equal(t, employeelock.Bucket(0), employeelock.Bucket(employeelock.BucketSize-1))
	assert.NotEqual(t, employeelock.Bucket(0), employeelock.Bucket(employeelock.BucketSize))
}

// A transaction that has waited for the lock sees the holder's writes in the same round trip.
func TestWaitersSeeWhatTheHolderWrote(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	ctx := tenant.With(t.Context(), 1)
	_, err := pool.Exec(ctx, "CREATE TABLE note (n int)")
	require.NoError(t, err)

	holder, err := pool.Begin(ctx)
	require.NoError(t, err)
	require.NoError(t, employeelock.Lock(ctx, holder, []int64{5, 3000}))
	seen := make(chan int, 1)
	go func() {
		var n int
		assert.NoError(t, pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			batch := &pgx.Batch{}
			employeelock.Queue(batch, 1, []int64{9, 1 << 20})
			batch.Queue("SELECT count(*) FROM note").QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
			return tx.SendBatch(ctx, batch).Close()
		}))
		seen <- n
	}()
	require.Eventually(t, func() bool {
		var waiting bool
		err := pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waiting)
		return err == nil && waiting
	}, 10*time.Second, time.Millisecond)
	_, err = holder.Exec(ctx, "INSERT INTO note VALUES (1)")
	require.NoError(t, err)
	require.NoError(t, holder.Commit(ctx))
	assert.Equal(t, 1, <-seen)
}

func TestTenantsAndBucketsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	ctx := tenant.With(t.Context(), 1)
	holder, err := pool.Begin(ctx)
	require.NoError(t, err)
	require.NoError(t, employeelock.Lock(ctx, holder, []int64{5}))
	for id, employee := range map[int64]int64{1: 1024, 2: 5} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			ctx := tenant.With(ctx, id)
			require.NoError(t, pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
				return employeelock.Lock(ctx, tx, []int64{employee})
			}))
		})
	}
	require.NoError(t, holder.Rollback(ctx))
}

// Employees in any order never make transactions wait for each other in a
// circle.
func TestNoDeadlocks(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	ctx := tenant.With(t.Context(), 1)
	employees := make([]int64, 20)
	for i := range employees {
		employees[i] = int64(i) * employeelock.BucketSize
	}
	var all sync.WaitGroup
	for worker := range uint64(4) {
		all.Go(func() {
			random, mine := rand.New(rand.NewPCG(worker, 1)), append([]int64(nil), employees...)
			for range 50 {
				random.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
				assert.NoError(t, pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
					return employeelock.Lock(ctx, tx, mine[:10])
				}))
			}
		})
	}
	all.Wait()
}
