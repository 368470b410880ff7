package pg_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

// visible counts the notes that the context may see; on purpose without the
// WHERE that every real query has.
func visible(ctx context.Context, db pg.Querier) (n int, err error) {
	err = db.QueryRow(ctx, "SELECT count(*) FROM note").Scan(&n)
	return n, err
}

// fill gives tenant 1 one note and tenant 2 two notes.
func fill(t *testing.T, pool *pg.Pool) {
	t.Helper()
	for _, row := range [][2]int64{{1, 1}, {2, 1}, {2, 2}} {
		_, err := pool.Exec(tenant.With(t.Context(), row[0]), "INSERT INTO note VALUES ($1, $2, 'x')", row[0], row[1])
		require.NoError(t, err)
	}
}

// oneConn is a pool whose connection every query shares, so that what one
// leaves behind the next would meet.
func oneConn(t *testing.T) *pg.Pool {
	t.Helper()
	cfg := pgtest.Config(t, notes())
	cfg.MaxConns = 1
	pool, err := pg.Open(t.Context(), cfg, pgtest.Log(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func TestConnectionFollowsTheTenantOfTheContext(t *testing.T) {
	t.Parallel()
	pool := oneConn(t)
	fill(t, pool)
	ctx := t.Context()

	for i, step := range []struct {
		ctx  context.Context
		want int
	}{
		{tenant.With(ctx, 1), 1},
		{tenant.With(ctx, 2), 2},
		{tenant.With(ctx, 2), 2},
		{ctx, 0},
		{tenant.With(ctx, 1), 1},
		{tenant.With(ctx, 3), 0},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			n, err := visible(step.ctx, pool)
			require.NoError(t, err)
			assert.Equal(t, step.want, n)
		})
	}
}

func TestRowLevelSecurityGuardsWrites(t *testing.T) {
	t.Parallel()
	pool := oneConn(t)
	fill(t, pool)
	mine := tenant.With(t.Context(), 1)

	_, err := pool.Exec(mine, "INSERT INTO note VALUES (2, 3, 'smuggled')")
	assert.ErrorContains(t, err, "row-level security")
	tag, err := pool.Exec(mine, "DELETE FROM note")
	require.NoError(t, err)
	assert.EqualValues(t, 1, tag.RowsAffected(), "only its own")
}

func TestWorkForAllTenantsDoesNotTouchDomainTables(t *testing.T) {
	t.Parallel()
	pool := oneConn(t)
	fill(t, pool)

	_, err := visible(tenant.All(t.Context()), pool)
	assert.Error(t, err, "the policy of a domain's table has no word for all tenants")
	n, err := visible(tenant.With(t.Context(), 2), pool)
	require.NoError(t, err, "the connection is good for the next one")
	assert.Equal(t, 2, n)
}

func TestTenantSurvivesRollbackAndFailure(t *testing.T) {
	t.Parallel()
	pool := oneConn(t)
	fill(t, pool)
	ctx := tenant.With(t.Context(), 2)

	err := pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT 1/0")
		return err
	})
	require.Error(t, err)
	n, err := visible(ctx, pool)
	require.NoError(t, err)
	assert.Equal(t, 2, n)
}

func TestConcurrentTenantsDoNotMix(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, notes())
	fill(t, pool)

	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 50 {
				id := int64((worker+i)%3 + 1)
				n, err := visible(tenant.With(t.Context(), id), pool)
				if !assert.NoError(t, err) || !assert.Equal(t, int(id%3), n) {
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestPreparedStatementsDoNotRememberATenant(t *testing.T) {
	t.Parallel()
	pool := oneConn(t)
	fill(t, pool)

	// Beyond five runs PostgreSQL may keep one plan for all parameters.
	for i := range 20 {
		id := int64(i%2 + 1)
		n, err := visible(tenant.With(t.Context(), id), pool)
		require.NoError(t, err)
		require.EqualValues(t, id, n)
	}
}
