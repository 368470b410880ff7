package dataprovider

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
)

// nothingKnown are other services without any data.
type nothingKnown struct{}

func (nothingKnown) Read(context.Context, []int64, civil.Range, bool) (map[int64]employeeday.Days, error) {
	return nil, nil
}

func (nothingKnown) ReadEdited(context.Context, int64, civil.Range) (employeeday.Days, error) {
	return employeeday.Days{}, nil
}

func (nothingKnown) ReadSymbolicPeriod(context.Context, *commonsv1.ReadSymbolicPeriodRequest, ...grpc.CallOption) (*commonsv1.SymbolicPeriodSpan, error) {
	return &commonsv1.SymbolicPeriodSpan{StartDate: "2026-02-02", EndDate: "2026-02-15"}, nil
}

// TestNoElementReadsAWholeTable reads all elements of the most employees of a
// request and asks for the plans of what that ran.
func TestNoElementReadsAWholeTable(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	for i, sql := range []string{
		`INSERT INTO leave_case (tenant_id, id, employee_id, case_code, status_id, from_date, to_date, body)
			SELECT 1, g, g, 'c' || g, 1, '2020-01-01', '3000-01-01', '' FROM generate_series(1, 50000) g`,
		`INSERT INTO leave_edit (tenant_id, id, leave_case_id, employee_id, from_day, to_day, version, body)
			SELECT 1, g, g, g, '2026-02-20', '2026-02-20', 1, '' FROM generate_series(1, 50000) g`,
		`INSERT INTO punch (tenant_id, employee_id, at, time_zone, direction, is_transfer, job, work_rule, no_deduction, body)
			SELECT 1, g, '2026-02-20T08:00:00Z', 'UTC', 0, false, '', '', false, '' FROM generate_series(1, 50000) g`,
		`INSERT INTO timecard_edit (tenant_id, employee_id, apply_date, body) SELECT 1, g, '2026-02-20', '' FROM generate_series(1, 50000) g`,
		`INSERT INTO timecard_signoff (tenant_id, employee_id, through, open_from, signed_by) SELECT 1, g, '2026-01-20', '2026-01-21', '' FROM generate_series(1, 50000) g`,
		`INSERT INTO signed_day (tenant_id, employee_id, day, worked, week, body) SELECT 1, g, '2026-01-20', 0, 0, '' FROM generate_series(1, 50000) g`,
		`INSERT INTO historical_correction (tenant_id, employee_id, historical_date, apply_date, pay_code_id, pay_code, job, seconds, days, money)
			SELECT 1, g, '2026-01-20', '2026-01-21', 0, '', '', 0, 0, 0 FROM generate_series(1, 50000) g`,
		`ANALYZE leave_case, leave_edit, punch, timecard_edit, timecard_signoff, signed_day, historical_correction`,
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := pool.Exec(ctx, sql)
			require.NoError(t, err, sql)
		})
	}
	recorded, statements := pgtest.Recorded(t, pool)
	names := &scheduledNames{column: &datav1.DataColumn{Present: []byte{1}, Texts: []string{"Sick"}}}
	server := NewServer(recorded, calculation.NewReader(recorded, nothingKnown{}, time.Now), nothingKnown{}, names)
	ids := make([]int64, 500)
	for i := range ids {
		ids[i] = int64(100*i + 1)
	}
	described, err := server.DescribeDataElements(ctx, nil)
	require.NoError(t, err)
	for _, p := range described.GetProviders() {
		req := &datav1.ReadDataElementsRequest{Provider: p.GetName(), RowKind: p.GetRowKind(), RowIds: ids, Bounds: []int32{20500, 20530}}
		for _, e := range p.GetElements() {
			req.Elements = append(req.Elements, &datav1.DataSelection{Key: e.GetKey()})
		}
		_, err := server.ReadDataElements(ctx, req)
		require.NoError(t, err, p.GetName())
	}
	plans := statements.AssertNoScan(t, ctx, pool, "leave_case", "leave_edit", "punch", "timecard_edit", "timecard_signoff", "signed_day", "historical_correction")
	assert.Len(t, plans, 8)
}
