package pg_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func TestQueriesAreCollected(t *testing.T) {
	t.Parallel()
	pool, ctx := pgtest.New(t), t.Context()
	const upTo, broken = "SELECT * FROM generate_series(1, $1::int)", "SELECT 1 / $1::int"
	forEach := func(sql string, n int, fail error) (found []int, err error) {
		var i int
		err = pg.ForEach(ctx, pool, []any{&i}, func() error {
			found = append(found, i)
			return fail
		}, sql, n)
		return found, err
	}
	for _, c := range []struct {
		name string
		rows int
		want []int
		one  error
	}{
		{"none", 0, []int{}, pgx.ErrNoRows}, {"one", 1, []int{1}, nil}, {"several", 3, []int{1, 2, 3}, pgx.ErrTooManyRows},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := pg.Collect(ctx, pool, pgx.RowTo[int], upTo, c.rows)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			each, err := forEach(upTo, c.rows, nil)
			require.NoError(t, err)
			assert.Len(t, each, c.rows)
			one, err := pg.CollectOne(ctx, pool, pgx.RowTo[int], upTo, c.rows)
			require.ErrorIs(t, err, c.one)
			if c.one == nil {
				assert.Equal(t, c.want[0], one)
			}
		})
	}
	t.Run("errors", func(t *testing.T) {
		t.Parallel()
		for _, sql := range []string{broken, "no statement at all $1"} {
			_, err := pg.Collect(ctx, pool, pgx.RowTo[int], sql, 0)
			assert.Error(t, err, sql)
			_, err = pg.CollectOne(ctx, pool, pgx.RowTo[int], sql, 0)
			assert.Error(t, err, sql)
			_, err = forEach(sql, 0, nil)
			assert.Error(t, err, sql)
		}
		mine := errors.New("mine")
		found, err := forEach(upTo, 3, mine)
		assert.ErrorIs(t, err, mine)
		assert.Len(t, found, 1)
	})
}
