package person

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

// TestLargeReadingsScanNoTable asks for the plans of the largest readings of
// 30,000 persons: pages of 10,000, and 100 persons with their managers.
func TestLargeReadingsScanNoTable(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	body, err := proto.Marshal(valid())
	require.NoError(t, err)
	_, err = pool.Exec(ctx, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body, supervisor_person_number)
			SELECT 1, g, 'n' || g, 'x', 'UTC', $1, 'n' || g / 10 FROM generate_series(1, 30000) g`, body)
	require.NoError(t, err)
	for i, sql := range []string{
		`INSERT INTO employment_status SELECT 1, g, '2020-01-01', '3000-01-01', 'Active' FROM generate_series(1, 30000) g`,
		`INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name)
			SELECT 1, g, '2020-01-01', '3000-01-01', 'p' || g, '' FROM generate_series(1, 30000) g`,
		`INSERT INTO badge_assignment SELECT 1, g, 'b' || g, '2020-01-01', '3000-01-01' FROM generate_series(1, 30000) g`,
		`ANALYZE person, employment_status, primary_labor_account, badge_assignment`,
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := pool.Exec(ctx, sql)
			require.NoError(t, err, sql)
		})
	}
	recorded, statements := pgtest.Recorded(t, pool)
	now := clock.NewFake(time.Date(2026, time.March, 15, 12, 0, 0, 0, time.UTC))
	h, err := New(Config{DefaultTimeZone: "UTC", DefaultCurrency: "USD"}, Deps{
		Pool: recorded, Rows: rowvisibility.New(now), Log: pgtest.Log(t), Clock: now,
	})
	require.NoError(t, err)
	largeReadings(t, ctx, h)
	plans := statements.AssertNoScan(t, ctx, pool, "person", "employment_status", "primary_labor_account", "badge_assignment")
	assert.GreaterOrEqual(t, len(plans), 5)
}

func largeReadings(t *testing.T, ctx context.Context, h *Handler) {
	t.Helper()
	for _, where := range []*commonsv1.ApplyReadPersonsWhere{nil, {EmploymentStatus: "Active"}} {
		for index := range int64(2) {
			page, err := h.ApplyReadPersons(ctx, &commonsv1.ApplyReadPersonsRequest{Where: where, Index: proto.Int64(2 * index), Count: proto.Int64(10_000)})
			require.NoError(t, err)
			assert.Equal(t, "10000", page.GetTotalElements())
		}
	}
	numbers := make([]string, 100)
	for i := range numbers {
		numbers[i] = "n" + strings.Repeat("7", i%4+1)
	}
	where := func() *commonsv1.PersonWhere {
		return &commonsv1.PersonWhere{Employees: &commonsv1.PersonCriterion{Key: "personnumber", Values: numbers}}
	}
	_, err := h.MultiReadBasePersons(ctx, &commonsv1.MultiReadPersonsRequest{Where: where()})
	require.NoError(t, err)
	for _, kind := range []string{"", "employee", "accrual", "device", "scheduling", "timekeeping"} {
		w := where()
		w.ExtensionType = kind
		read, err := h.MultiReadPersonExtensions(ctx, &commonsv1.MultiReadPersonExtensionsRequest{Where: w})
		require.NoError(t, err, kind)
		assert.Len(t, read.GetExtensions(), 100, kind)
	}
}
