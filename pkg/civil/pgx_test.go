package civil_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// eachCodec runs a test with the codec of dates that pools have, and with pgx's own.
func eachCodec(t *testing.T, test func(t *testing.T, tx pgx.Tx)) {
	t.Helper()
	database := pgtest.Config(t).URL.Reveal()
	for _, codec := range []struct {
		name     string
		register func(*pgtype.Map)
	}{{"registered", civil.Register}, {"pgx's own", func(m *pgtype.Map) {
		date := &pgtype.Type{Name: "date", OID: pgtype.DateOID, Codec: pgtype.DateCodec{}}
		m.RegisterType(date)
		m.RegisterType(&pgtype.Type{Name: "_date", OID: pgtype.DateArrayOID, Codec: &pgtype.ArrayCodec{ElementType: date}})
	}}} {
		t.Run(codec.name, func(t *testing.T) {
			t.Parallel()
			conn, err := pgx.Connect(t.Context(), database)
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close(context.Background()) })
			codec.register(conn.TypeMap())
			tx, err := conn.Begin(t.Context())
			require.NoError(t, err)
			test(t, tx)
		})
	}
}

func TestDatesInPostgreSQL(t *testing.T) {
	t.Parallel()
	eachCodec(t, func(t *testing.T, tx pgx.Tx) {
		for _, text := range []string{"0001-01-01", "1752-09-14", "1900-01-01", "1969-12-31", "1970-01-01", "1999-12-31", "2000-01-01", "2000-02-29", "2026-11-22", "3000-01-01"} {
			t.Run(text, func(t *testing.T) {
				given := day(t, text)
				var shown string
				var back civil.Date
				var number int32
				var several []civil.Date
				require.NoError(t, tx.QueryRow(t.Context(), `SELECT $1::date::text, $1::date, $1::date - `+civil.EpochSQL+`, array[$1::date, $2::date]`,
					given, given+1).Scan(&shown, &back, &number, &several))
				assert.Equal(t, text, shown)
				assert.Equal(t, given, back)
				assert.EqualValues(t, given, number)
				assert.Equal(t, []civil.Date{given, given + 1}, several)
			})
		}
	})
}

func TestListsOfDatesInPostgreSQL(t *testing.T) {
	t.Parallel()
	eachCodec(t, func(t *testing.T, tx pgx.Tx) {
		given := []civil.Date{civil.Of(2026, 11, 22), civil.Of(1969, 12, 31)}
		var first, last civil.Date
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT min(d), max(d) FROM unnest($1::date[]) AS d`, given).Scan(&first, &last))
		assert.Equal(t, given[1], first)
		assert.Equal(t, given[0], last)
	})
}

func TestNullsAndInfinitiesOfPostgreSQL(t *testing.T) {
	t.Parallel()
	eachCodec(t, func(t *testing.T, tx pgx.Tx) {
		var first, last, day civil.Date
		var none *civil.Date
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT '-infinity'::date, 'infinity'::date, $1::date`, none).Scan(&first, &last, &none))
		assert.Equal(t, civil.Beginning, first)
		assert.Equal(t, civil.Forever, last)
		assert.Nil(t, none)
		assert.ErrorContains(t, tx.QueryRow(t.Context(), `SELECT NULL::date`).Scan(&day), "NULL")

		given := civil.Of(2026, 11, 22)
		var isNull bool
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT $1::date IS NULL, $2::date`, none, &given).Scan(&isNull, &none))
		assert.True(t, isNull)
		assert.Equal(t, given, *none)
		rows, err := tx.Query(t.Context(), `SELECT unnest($1::date[])`, []*civil.Date{nil, &given})
		require.NoError(t, err)
		several, err := pgx.CollectRows(rows, pgx.RowTo[*civil.Date])
		require.NoError(t, err)
		assert.Equal(t, []*civil.Date{nil, &given}, several)
	})
}
