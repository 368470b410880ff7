package civil_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestDatesInPostgreSQL(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	for _, text := range []string{"0001-01-01", "1752-09-14", "1900-01-01", "1969-12-31", "1970-01-01", "2000-02-29", "2026-11-22", "3000-01-01"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			given := day(t, text)
			var shown string
			var back civil.Date
			var number int32
			var several []civil.Date
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT $1::date::text, $1::date, $1::date - '1970-01-01'::date, array[$1::date, $2::date]`,
				given, given+1).Scan(&shown, &back, &number, &several))
			assert.Equal(t, text, shown)
			assert.Equal(t, given, back)
			assert.EqualValues(t, given, number)
			assert.Equal(t, []civil.Date{given, given + 1}, several)
		})
	}
}

// A Date is a number as well, for statements that count days.
func TestDatesAsNumbersInPostgreSQL(t *testing.T) {
	t.Parallel()
	given := civil.Of(2026, 11, 22)
	var back civil.Date
	var sum civil.Date
	require.NoError(t, pgtest.New(t).QueryRow(t.Context(), `SELECT ('1970-01-01'::date + $1::int) - '1970-01-01'::date,
		(SELECT max(n) FROM unnest($2::int[]) AS n)`, given, []civil.Date{given - 1, given}).Scan(&back, &sum))
	assert.Equal(t, given, back)
	assert.Equal(t, given, sum)
}

func TestNullsAndInfinitiesOfPostgreSQL(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	var first, last, day civil.Date
	var none *civil.Date
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT '-infinity'::date, 'infinity'::date, $1::date`, none).Scan(&first, &last, &none))
	assert.Equal(t, civil.Beginning, first)
	assert.Equal(t, civil.Forever, last)
	assert.Nil(t, none)
	assert.ErrorContains(t, pool.QueryRow(t.Context(), `SELECT NULL::date`).Scan(&day), "NULL")

	given := civil.Of(2026, 11, 22)
	var isNull bool
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT $1::date IS NULL, $2::date`, none, &given).Scan(&isNull, &none))
	assert.True(t, isNull)
	assert.Equal(t, given, *none)
	rows, err := pool.Query(t.Context(), `SELECT unnest($1::date[])`, []*civil.Date{nil, &given})
	require.NoError(t, err)
	several, err := pgx.CollectRows(rows, pgx.RowTo[*civil.Date])
	require.NoError(t, err)
	assert.Equal(t, []*civil.Date{nil, &given}, several)
}
