package schedule_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// changesOfAYear lets the rotations of 1,000 of the 10,000 employees change on each day of the last year, and 100
// entries. The spans of each change differ in nothing but the time.
func changesOfAYear(b *testing.B, f *fixture) {
	b.Helper()
	now := time.Now().UTC()
	for month := range 14 { // The retention makes one for each month.
		first := time.Date(now.Year(), now.Month()-12+time.Month(month), 1, 0, 0, 0, 0, time.UTC)
		for _, past := range []string{"span_past_block", "schedule_item_past", "day_lock_past", "leave_edit_past", "locked_leave_past", "membership_past"} {
			f.Exec(b, "SELECT make_past_month($1, $2, $3)", past, first.Year(), int(first.Month()))
		}
	}
	f.Exec(b, `INSERT INTO span_past_block
		SELECT 1, min(i), max(i), now() - interval '366 days' + d * interval '1 day', array_agg(i::bigint), array_agg(s.lane), array_agg(s.from_date),
		    array_agg(s.to_date), array_agg(s.pattern_id), array_agg(s.position), array_agg(s.day_count), array_agg(s.assignment_id),
		    array_agg(s.inherited), array_agg(s.propagation_id), array_agg(now() - interval '376 days' + d * interval '1 day'), array_agg(s.series),
		    min(now() - interval '376 days' + d * interval '1 day')
		FROM generate_series(1, 365) AS d CROSS JOIN LATERAL generate_series(d % 10 * 1000 + 1, d % 10 * 1000 + 1000) AS i
		JOIN span s ON s.tenant_id = 1 AND s.employee_id = i GROUP BY d`)
	f.Exec(b, `UPDATE span SET believed_from = now() - interval '366 days' + (365 - (375 - (employee_id - 1) / 1000) % 10) * interval '1 day'
		WHERE tenant_id = 1`)
	f.Exec(b, `INSERT INTO schedule_item_past (tenant_id, id, employee_id, kind, from_day, to_day, deleted, withdrawn, covers, version, body, updated_at, believed_from, believed_until)
		SELECT 1, d * 100 + n, (d * 100 + n) % 10000 + 1, 'SHIFT', '2025-06-10', '2025-06-10', false, false, false, 1, '', now(), now() - interval '367 days' + d * interval '1 day',
		    now() - interval '366 days' + d * interval '1 day'
		FROM generate_series(1, 365) AS d, generate_series(1, 100) AS n WHERE d < 180 OR d > 190`)
	f.Exec(b, "ANALYZE")
}

// BenchmarkAsOf compares a read as of half a year ago with a read of the present, of 500 employees and 30 days.
func BenchmarkAsOf(b *testing.B) {
	f := benchFixture(b)
	changesOfAYear(b, f)
	now := window(benchFirst, benchLast, onlyShifts(), benchIDs()...)
	then := window(benchFirst, benchLast, onlyShifts(), benchIDs()...)
	then.MultiReadOptions = &schedulingv1.MultiReadOptions{AsOfDateTime: time.Now().AddDate(0, 0, -180).UTC().Format("2006-01-02T15:04:05")}
	read := func(req *schedulingv1.MultiReadScheduleRequest) (time.Duration, []byte) {
		began := time.Now()
		response, err := f.handler.MultiReadSchedule(f.Ctx, req)
		require.NoError(b, err)
		return time.Since(began), response.ProtoReflect().GetUnknown()
	}
	var present, past time.Duration
	for b.Loop() {
		first, shown := read(now)
		second, shownThen := read(then)
		require.Equal(b, len(shown), len(shownThen))
		present, past = present+first, past+second
	}
	b.ReportMetric(float64(past.Microseconds())/1000/float64(b.N), "as-of-ms")
	b.ReportMetric(float64(present.Microseconds())/1000/float64(b.N), "present-ms")
}
