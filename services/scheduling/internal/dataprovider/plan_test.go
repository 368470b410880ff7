package dataprovider

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// allVisible has some employees at each location.
type allVisible struct{ employees []int64 }

func (e allVisible) ListLocationEmployees(_ context.Context, req *datav1.ListLocationEmployeesRequest, _ ...grpc.CallOption) (*datav1.ListLocationEmployeesResponse, error) {
	out := &datav1.ListLocationEmployeesResponse{Total: int64(len(e.employees) * len(req.GetLocationIds()))}
	for range req.GetLocationIds() {
		out.Locations = append(out.Locations, &datav1.LocationEmployees{EmployeeIds: e.employees})
	}
	return out, nil
}

// TestNoElementReadsAWholeTable reads all elements of the most employees of a
// request and asks for the plans of what that ran.
func TestNoElementReadsAWholeTable(t *testing.T) {
	t.Parallel()
	pool := schedtest.NewPool(t)
	ctx := tenant.With(t.Context(), 1)
	// Those who are asked for have no rotation, so that none must be there.
	for i, sql := range []string{
		`INSERT INTO employee SELECT 1, g, 'n' || g, 'x', 'UTC', 1 FROM generate_series(1, 100000) g`,
		`INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count, assignment_id, inherited, propagation_id)
			SELECT 1, g, 0, '2020-01-01', '3000-01-01', 1, 0, 7, 1, true, 1 FROM generate_series(2, 100000, 2) g`,
		`INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, body)
			SELECT 1, g, g, 'SHIFT', '2020-01-01', '2020-01-01', '' FROM generate_series(1, 100000) g`,
		`INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) SELECT 1, g, '2020-01-01', '2020-02-01' FROM generate_series(1, 100000) g`,
		`INSERT INTO leave_edit SELECT 1, g, g, '2020-01-01', '2020-01-01', 1, '' FROM generate_series(1, 100000) g`,
		`INSERT INTO employment_term (tenant_id, name, allows_inheritance, body) SELECT 1, 't' || g, true, '' FROM generate_series(1, 50000) g`,
		`INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date)
			SELECT 1, id, id, '2020-01-01', '3000-01-01' FROM employment_term`,
		`ANALYZE employee, span, schedule_item, day_lock, leave_edit, employment_term, membership`,
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := pool.Exec(ctx, sql)
			require.NoError(t, err, sql)
		})
	}
	recorded, statements := pgtest.Recorded(t, pool)
	ids := make([]int64, 500)
	for i := range ids {
		ids[i] = int64(100*i + 1)
	}
	server := NewServer(recorded, reading.NewReader(recorded, nil), allVisible{ids})
	described, err := server.DescribeDataElements(ctx, nil)
	require.NoError(t, err)
	require.Len(t, described.GetProviders(), 3)
	for _, p := range described.GetProviders() {
		req := &datav1.ReadDataElementsRequest{Provider: p.GetName(), RowKind: p.GetRowKind(), RowIds: ids, Bounds: []int32{20500, 20530}}
		if p.GetRowKind() == datav1.RowKind_ROW_KIND_LOCATION {
			req.RowIds = []int64{7}
		}
		for _, e := range p.GetElements() {
			if len(e.GetProperties()) == 0 {
				req.Elements = append(req.Elements, &datav1.DataSelection{Key: e.GetKey()})
			}
		}
		_, err := server.ReadDataElements(ctx, req)
		require.NoError(t, err)
	}
	tables := []string{"employee", "span", "schedule_item", "day_lock", "leave_edit", "employment_term", "membership"}
	plans := statements.AssertNoScan(t, ctx, pool, tables...)
	for _, table := range tables {
		t.Run(table, func(t *testing.T) {
			assert.Contains(t, strings.Join(slices.Collect(maps.Values(plans)), "\n"), " on "+table, "it is read")
		})
	}
}

// byDay has one employee on each day, with the number of the day as its id.
type byDay struct{}

func (byDay) ListLocationEmployees(_ context.Context, req *datav1.ListLocationEmployeesRequest, _ ...grpc.CallOption) (*datav1.ListLocationEmployeesResponse, error) {
	day, err := civil.ParseDate(req.GetDay())
	return &datav1.ListLocationEmployeesResponse{Total: 1, Locations: []*datav1.LocationEmployees{{EmployeeIds: []int64{int64(day)}}}}, err
}

// Each period has the employees of its last day.
func TestLocationsHaveTheEmployeesOfEachPeriod(t *testing.T) {
	t.Parallel()
	listed, err := listMembers(t.Context(), byDay{}, []int64{1}, []civil.Range{{From: 20500, To: 20501}, {From: 20501, To: 20508}})
	require.NoError(t, err)
	var members []int64
	for _, m := range listed {
		members = append(members, m.GetLocations()[0].GetEmployeeIds()...)
	}
	assert.Equal(t, []int64{20500, 20507}, members)
}

// TestTheEmployeesOfLocationsCount holds the limit of SCH to be the same for
// locations: their employees, times the days.
func TestTheEmployeesOfLocationsCount(t *testing.T) {
	t.Parallel()
	server := NewServer(nil, nil, allVisible{make([]int64, 560)})
	_, err := server.ReadDataElements(tenant.With(t.Context(), 1), &datav1.ReadDataElementsRequest{
		Provider: "SCH", RowKind: datav1.RowKind_ROW_KIND_LOCATION, RowIds: []int64{1, 2}, Bounds: []int32{20500, 20551},
		Elements: []*datav1.DataSelection{{Key: "SCH_SHIFT_COUNT"}},
	})
	assert.True(t, fault.HasCode(err, dataelement.CodeLimit), err)
	assert.ErrorContains(t, err, "employees * days: 57120, allowed: 56000")
}
