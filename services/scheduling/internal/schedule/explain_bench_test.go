package schedule_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/explanation"
)

// BenchmarkExplain compares explanations of 994 employee days with a read of the same days.
func BenchmarkExplain(b *testing.B) {
	f := benchFixture(b)
	f.Exec(b, schedtest.InsertTerm, 5, "Nurses", true)
	f.Exec(b, "INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date) SELECT 1, id, 5, '2020-01-01', '3000-01-01' FROM employee")
	f.Exec(b, `INSERT INTO pattern_assignment (tenant_id, id, lineage_id, version, employment_term_id, from_date, to_date, pattern_id,
		day_count, anchor, start_date_offset, override, lane, seq, propagation_id)
		SELECT 1, 33, 33, 1, 5, '2020-01-01', '3000-01-01', pattern_id, 14, '2020-01-01', 0, false, 0, 1, 7 FROM span LIMIT 1`)
	f.Exec(b, `INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, deleted, hides_employee_id, hides_day, hidden_lane, hidden_ordinal, body)
		SELECT 1, 1000 + id, id, 'SHIFT', $1::date + 1, $1::date + 1, true, id, $1::date + 1, 0, 0, '' FROM employee WHERE id <= 2000 AND id % 20 = 1`, benchFirst)
	f.Exec(b, "INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) SELECT 1, id, $1::date + 2, $1::date + 3 FROM employee WHERE id <= 2000 AND id % 20 = 1", benchFirst)
	f.Exec(b, "ANALYZE")
	explanations := explanation.New(explanation.Deps{
		Pool: f.Pool, Reader: f.reader, Directory: projection.NewResolver(f.Pool, schedtest.NoPersons{}, nil), Instants: asof.New(f.reader, -1),
	})
	const last = "2025-06-07"
	ids := benchIDs()[:142]
	req := window(benchFirst, last, onlyShifts(), ids...)
	why := &schedulingv1.MultiReadScheduleExplanationsRequest{Where: &schedulingv1.ScheduleExplanationsWhere{
		Employees: &schedulingv1.ExplainedEmployees{EmployeeRefs: &commonv1.RefList{Ids: ids}, StartDate: benchFirst, EndDate: last},
	}}
	var reading, explaining time.Duration
	for b.Loop() {
		began := time.Now()
		_, err := f.handler.MultiReadSchedule(f.Ctx, req)
		require.NoError(b, err)
		reading += time.Since(began)
		began = time.Now()
		response, err := explanations.MultiReadScheduleExplanations(f.Ctx, why)
		require.NoError(b, err)
		explaining += time.Since(began)
		require.Len(b, response.GetExplanations(), 142*7)
	}
	b.ReportMetric(float64(explaining.Microseconds())/1000/float64(b.N), "explaining-ms")
	b.ReportMetric(float64(reading.Microseconds())/1000/float64(b.N), "reading-ms")
}
