package dataprovider

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

// TestNoElementReadsAWholeTable reads all elements of 20 rows and asks for the
// plans of what that ran.
func TestNoElementReadsAWholeTable(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	for i, sql := range []string{
		`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body) SELECT 1, g, 'n' || g, 'x', 'UTC', '' FROM generate_series(1, 20000) g`,
		`INSERT INTO employment_status SELECT 1, g, '2020-01-01', '3000-01-01', 'Active' FROM generate_series(1, 20000) g`,
		`INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name)
			SELECT 1, g, '2020-01-01', '3000-01-01', 'p' || g, '' FROM generate_series(1, 20000) g`,
		`INSERT INTO location (tenant_id, id, persistent_id) SELECT 1, g, g FROM generate_series(1, 20000) g`,
		`INSERT INTO location_type (tenant_id, id, name, persistent_id) VALUES (1, 1, 'Store', 'store')`,
		`INSERT INTO location_version (tenant_id, location_id, from_date, to_date, name, type_id)
			SELECT 1, g, '1900-01-01', '3000-01-01', 'p' || g, CASE WHEN g / 900 % 2 = 0 THEN 1 END FROM generate_series(1, 20000) g`,
		`INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, lineage, path)
			SELECT 1, g, '1900-01-01', '3000-01-01', 1, '.' || g || '.', 'p' || g FROM generate_series(1, 20000) g`,
		`ANALYZE person, employment_status, primary_labor_account, location, location_version, location_path`,
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := pool.Exec(ctx, sql)
			require.NoError(t, err, sql)
		})
	}
	recorded, statements := pgtest.Recorded(t, pool)
	server := NewServer(recorded, rowvisibility.New(clock.System{}))
	ids := make([]int64, 20)
	for i := range ids {
		ids[i] = int64(900*i + 1)
	}
	described, err := server.DescribeDataElements(ctx, nil)
	require.NoError(t, err)
	for _, p := range described.GetProviders() {
		req := &datav1.ReadDataElementsRequest{Provider: p.GetName(), RowIds: ids, Bounds: []int32{20500, 20530}}
		for _, e := range p.GetElements() {
			if len(e.GetProperties()) == 0 {
				req.Elements = append(req.Elements, &datav1.DataSelection{Key: e.GetKey()})
			}
		}
		_, err := server.ReadDataElements(ctx, req)
		require.NoError(t, err, p.GetName())
	}
	finder := NewFinder(recorded, rowvisibility.New(clock.System{}))
	rolled, err := finder.RollUpDataRows(ctx, &datav1.RollUpDataRowsRequest{LocationIds: ids, Types: []string{"Store"}, Day: "2026-03-02"})
	require.NoError(t, err)
	assert.Len(t, rolled.GetRows(), 10, "every other one is a store")
	listed, err := finder.ListLocationEmployees(ctx, &datav1.ListLocationEmployeesRequest{LocationIds: ids, Day: "2026-03-02", Most: 20})
	require.NoError(t, err)
	assert.EqualValues(t, 20, listed.GetTotal())
	assert.Equal(t, []int64{901}, listed.GetLocations()[1].GetEmployeeIds())
	over, err := finder.ListLocationEmployees(ctx, &datav1.ListLocationEmployeesRequest{LocationIds: ids, Day: "2026-03-02", Most: 19})
	require.NoError(t, err)
	assert.EqualValues(t, 20, over.GetTotal())
	assert.Empty(t, over.GetLocations())
	plans := statements.AssertNoScan(t, ctx, pool, "person", "employment_status", "primary_labor_account", "location", "location_version", "location_path")
	assert.GreaterOrEqual(t, len(plans), 5)
}
