package schedule_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
)

const (
	benchEmployees = 500
	benchFirst     = "2025-06-01"
	benchLast      = "2025-06-30"
)

// benchFixture has employees who work every day of a fortnight, in three
// segments.
func benchFixture(b *testing.B) *fixture {
	f := newFixture(b)
	p := cycle(14)
	for day := range int32(14) {
		p.Items = append(p.Items, shift(day+1, "08:00", "16:30",
			segment("08:00", "12:00", regular()), segment("12:00", "12:30", pause()), segment("12:30", "16:30", regular())))
	}
	id := f.pattern(p)
	f.Exec(f.t, `INSERT INTO employee SELECT 1, i, 'P' || i, 'Person ' || i, 'Europe/Zurich', 1 FROM generate_series(1, 20 * $1) AS i`, benchEmployees)
	f.Exec(f.t, `INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count, assignment_id, inherited, propagation_id)
		SELECT 1, i, 0, '2020-01-01', '3000-01-01', $1, i % 14, 14, 33, true, 7 FROM generate_series(1, 20 * $2::int) AS i`, id, benchEmployees)
	f.Exec(f.t, "ANALYZE")
	return f
}

func benchIDs() []int64 {
	ids := make([]int64, benchEmployees)
	for i := range ids {
		ids[i] = int64(20*i + 1)
	}
	return ids
}

// BenchmarkRead reads 500 employees x 30 days = 15,000 shifts, from the
// database to the bytes of the response. The baseline is what one would write
// with a row for every shift: read the rows and write them as JSON, with fewer
// fields and without segments.
func BenchmarkRead(b *testing.B) {
	f := benchFixture(b)
	req := window(benchFirst, benchLast, onlyShifts(), benchIDs()...)
	b.Run("spans", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			response, err := f.handler.MultiReadSchedule(f.Ctx, req)
			require.NoError(b, err)
			b.SetBytes(int64(len(response.ProtoReflect().GetUnknown())))
		}
		perShift(b)
	})
	b.Run("messages", func(b *testing.B) { // what building the response from messages would cost on top
		response, err := f.handler.MultiReadSchedule(f.Ctx, req)
		require.NoError(b, err)
		message := decode(b, response)
		require.Len(b, message.GetShifts().GetShifts(), benchEmployees*30)
		b.ResetTimer()
		for range b.N {
			_, err := proto.Marshal(message)
			require.NoError(b, err)
		}
		perShift(b)
	})
	f.Exec(f.t, `CREATE TABLE shift_row (tenant_id bigint, employee_id bigint, day date, id bigint, starts timestamp, ends timestamp,
		label text, version bigint, PRIMARY KEY (tenant_id, employee_id, day))`)
	f.Exec(f.t, `INSERT INTO shift_row SELECT 1, i, d, i * 1000 + d::date - '2025-01-01', d + interval '8 hours', d + interval '16.5 hours', 'Early', 7
		FROM generate_series(1, 20 * $1::int) AS i, generate_series('2025-04-01'::timestamp, '2025-08-31', '1 day') AS d`, benchEmployees)
	f.Exec(f.t, "VACUUM ANALYZE shift_row")
	b.Run("rows", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			require.NotEmpty(b, rowsAsJSON(b, f))
		}
		perShift(b)
	})
}

func perShift(b *testing.B) {
	b.ReportMetric(float64(b.N)*benchEmployees*30/b.Elapsed().Seconds()/1e6, "Mshifts/s")
}

func rowsAsJSON(b *testing.B, f *fixture) []byte {
	rows, err := f.Pool.Query(f.Ctx, `SELECT id, employee_id, starts, ends, label, version FROM shift_row
		WHERE tenant_id = 1 AND employee_id = ANY($1) AND day >= $2 AND day <= $3 ORDER BY employee_id, day`, benchIDs(), benchFirst, benchLast)
	require.NoError(b, err)
	out := []byte{'['}
	var id, employee, version int64
	var starts, ends time.Time
	var label string
	_, err = pgx.ForEachRow(rows, []any{&id, &employee, &starts, &ends, &label, &version}, func() error {
		out = strconv.AppendInt(append(out, `{"id":`...), id, 10)
		out = strconv.AppendInt(append(out, `,"employee":{"id":`...), employee, 10)
		out = starts.AppendFormat(append(out, `},"startDateTime":"`...), "2006-01-02T15:04:05")
		out = ends.AppendFormat(append(out, `","endDateTime":"`...), "2006-01-02T15:04:05")
		out = strconv.AppendQuote(append(out, `","label":`...), label)
		out = strconv.AppendInt(append(out, `,"version":`...), version, 10)
		out = append(out, "},"...)
		return nil
	})
	require.NoError(b, err)
	return append(out, ']')
}
