package pg_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

// plan is a row with values of the kinds that statements send.
type plan struct {
	ID   int64
	Name string
	End  *civil.Date
	Body []byte
}

func TestColumns(t *testing.T) {
	t.Parallel()
	end := civil.Date(20_000)
	rows := []plan{{1, "a", nil, []byte("x")}, {2, "b", &end, nil}}
	assert.Equal(t, []any{7, []int64{1, 2}, []string{"a", "b"}, []*civil.Date{nil, &end}, [][]byte{[]byte("x"), nil}}, pg.Columns(rows, 7))
	assert.Equal(t, []any{[]int64{}, []string{}, []*civil.Date{}, [][]byte{}}, pg.Columns([]plan(nil)))
}

// A statement reads columns back as the same rows.
func TestColumnsAreReadWithUnnest(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	end := civil.Date(20_000)
	rows := []plan{{1, "a", nil, []byte("x")}, {2, "b", &end, nil}}
	var found []plan
	var r plan
	err := pg.ForEach(t.Context(), pool, []any{&r.ID, &r.Name, &r.End, &r.Body}, func() error {
		found = append(found, r)
		return nil
	}, `SELECT q.* FROM unnest($2::bigint[], $3::text[], $4::date[], $5::bytea[]) AS q WHERE $1`, pg.Columns(rows, true)...)
	require.NoError(t, err)
	assert.Equal(t, rows, found)
}
