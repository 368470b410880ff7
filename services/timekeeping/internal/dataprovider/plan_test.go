package dataprovider

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/migrations"
)

// TestNoElementReadsAWholeTable reads all elements of the most employees of a
// request and asks for the plans of what that ran. There are as many employment
// terms as employees: a few would be read sooner without an index.
func TestNoElementReadsAWholeTable(t *testing.T) {
	t.Parallel()
	sets, err := serve.Migrations("timekeeping_version", migrations.FS)
	require.NoError(t, err)
	pool := pgtest.New(t, sets...)
	ctx := tenant.With(t.Context(), 1)
	for _, sql := range []string{
		`INSERT INTO employment_term (tenant_id, name, allows_inheritance, body) SELECT 1, 't' || g, true, '' FROM generate_series(1, 50000) g`,
		`INSERT INTO membership_head SELECT 1, g FROM generate_series(1, 50000) g`,
		`INSERT INTO membership (tenant_id, person_id, employment_term_id, from_date, to_date)
			SELECT 1, id, id, '2020-01-01', '3000-01-01' FROM employment_term`,
		`INSERT INTO termination (tenant_id, person_id, days) SELECT 1, g, '{[2020-01-01,)}' FROM generate_series(1, 50000) g`,
		`INSERT INTO leave_case (tenant_id, id, employee_id, case_code, status_id, from_date, to_date, body)
			SELECT 1, g, g, 'c' || g, 1, '2020-01-01', '3000-01-01', '' FROM generate_series(1, 50000) g`,
		`INSERT INTO leave_edit (tenant_id, id, leave_case_id, employee_id, from_day, to_day, version, body)
			SELECT 1, g, g, g, '2026-02-20', '2026-02-20', 1, '' FROM generate_series(1, 50000) g`,
		`ANALYZE employment_term, membership, termination, leave_case, leave_edit`,
	} {
		_, err := pool.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
	recorded, statements := pgtest.Recorded(t, pool)
	server := NewServer(recorded)
	ids := make([]int64, 500)
	for i := range ids {
		ids[i] = int64(100*i + 1)
	}
	described, err := server.DescribeDataElements(ctx, nil)
	require.NoError(t, err)
	for _, p := range described.GetProviders() {
		req := &datav1.ReadDataElementsRequest{Provider: p.GetName(), RowIds: ids, Bounds: []int32{20500, 20530}}
		for _, e := range p.GetElements() {
			req.Elements = append(req.Elements, &datav1.DataSelection{Key: e.GetKey()})
		}
		_, err := server.ReadDataElements(ctx, req)
		require.NoError(t, err, p.GetName())
	}
	tables := []string{"employment_term", "membership", "termination", "leave_case", "leave_edit"}
	plans := statements.Plans(t, ctx, pool, tables...)
	assert.Len(t, plans, 4)
	scan := regexp.MustCompile(`Seq Scan on (` + strings.Join(tables, "|") + `)\b`)
	for sql, plan := range plans {
		assert.NotRegexp(t, scan, plan, sql)
	}
}
