package job

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

func TestAResponseHoldsFiveThousandJobs(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	for i, sql := range []string{
		`INSERT INTO job (tenant_id, id, persistent_id) SELECT 1, n, n FROM generate_series(1000001, 1004998) AS n`,
		`INSERT INTO job_version (tenant_id, job_id, from_date, to_date, name, external_id)
			SELECT 1, n, '2026-01-01', '3000-01-01', n, 'X' || n FROM generate_series(1000001, 1004998) AS n`,
		`ANALYZE`,
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := pool.Exec(ctx, sql)
			require.NoError(t, err)
		})
	}
	h := New(pool, clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), nil)
	_, err := h.CreateJob(ctx, &commonsv1.Job{Name: proto.String("Cook"), EffectiveDate: "2025-06-01"})
	require.NoError(t, err)

	for name, where := range map[string]*commonsv1.JobWhere{
		"for a date": {ForDate: &commonsv1.JobsForDate{Date: "2026-03-01"}},
		"in a span":  {AllJobsBySpan: &commonsv1.AllJobsBySpan{StartDate: "2026-03-01", EndDate: "2026-03-31"}},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := h.MultiReadJobs(ctx, &commonsv1.MultiReadJobsRequest{Where: where})
			require.NoError(t, err, name)
			assert.Len(t, list.GetJobs(), 4999, name)
		})
	}
	read := func(start string) (int, error) {
		list, err := h.MultiReadJobs(ctx, &commonsv1.MultiReadJobsRequest{Where: &commonsv1.JobWhere{
			AllJobsBySpan: &commonsv1.AllJobsBySpan{StartDate: start, EndDate: "2026-12-31"},
		}})
		return len(list.GetJobs()), err
	}
	baker, err := h.CreateJob(ctx, &commonsv1.Job{Name: proto.String("Baker")})
	require.NoError(t, err)
	n, err := read("2026-01-01")
	require.NoError(t, err)
	assert.Equal(t, 5000, n, "as many as a response may hold")
	_, err = h.UpdateJob(ctx, &commonsv1.UpdateJobRequest{JobId: baker.GetId(), Job: &commonsv1.Job{Code: proto.String("B"), EffectiveDate: "2026-07-01"}})
	require.NoError(t, err)
	_, err = read("2026-01-01")
	require.True(t, fault.HasCode(err, "WCO-103295") && fault.HasStatus(err, 413), "every revision counts: %v", err)
	assert.EqualValues(t, 5001, fault.FromError(err).Details.GetLimits()[0].GetActual())
	assert.EqualValues(t, 5000, fault.FromError(err).Details.GetLimits()[0].GetMaximum())
	n, err = read("2026-07-01")
	require.NoError(t, err)
	assert.Equal(t, 5000, n, "what ended before the span does not count")

	for sql, arg := range map[string]any{
		`SELECT job_id FROM job_version WHERE tenant_id = 1 AND name = ANY($1) AND from_date <= '2026-03-01' AND to_date > '2026-03-01'`: []string{"Cook"},
		`SELECT job_id FROM job_version WHERE tenant_id = 1 AND external_id = ANY($1) AND external_id IS NOT NULL`:                       []string{"X1000001"},
		`SELECT job_id FROM job_version WHERE tenant_id = 1 AND job_id = ANY($1) AND from_date <= '2026-03-01'`:                          []int64{1000001},
		`SELECT id FROM job WHERE tenant_id = 1 AND persistent_id = ANY($1)`:                                                             []string{"1000001"},
	} {
		t.Run(sql, func(t *testing.T) {
			rows, err := pool.Query(ctx, `EXPLAIN `+sql, arg)
			require.NoError(t, err)
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err)
			for _, line := range plan {
				assert.NotContains(t, line, "Seq Scan", sql)
			}
		})
	}
}

func TestResolveJobCodes(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	h := New(pooltest.New(t), clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), nil)
	create := func(name, code string) {
		_, err := h.CreateJob(ctx, &commonsv1.Job{Name: proto.String(name), Code: proto.String(code), EffectiveDate: "2026-01-01"})
		require.NoError(t, err)
	}
	create("Cook", "C")
	create("Second cook", "C")
	create("Waiter", "")
	resolve := func(ctx context.Context, day *int32) []string {
		got, err := h.ResolveJobCodes(ctx, &commonsv1.ResolveJobCodesRequest{Codes: []string{"C", "X", ""}, Day: day})
		require.NoError(t, err)
		return got.GetCodes()
	}
	before := int32(civil.FromTime(time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC)))
	assert.Equal(t, []string{"C"}, resolve(ctx, nil))
	assert.Empty(t, resolve(ctx, &before))
	assert.Empty(t, resolve(tenant.With(t.Context(), 2), nil))
	_, err := h.ResolveJobCodes(ctx, &commonsv1.ResolveJobCodesRequest{Codes: make([]string, 101)})
	require.True(t, fault.HasStatus(err, 413), "%v", err)
}
