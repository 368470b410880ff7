package signoff_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// takeRequests returns the requested comparisons, and removes them.
func takeRequests(ctx context.Context, t *testing.T, pool *pg.Pool) []*timekeepingv1.ScheduleComparisonRequested {
	t.Helper()
	const take pg.Unaudited = "a test"
	rows, err := take.Query(ctx, pool, `WITH taken AS (DELETE FROM outbox WHERE event LIKE '%ScheduleComparisonRequested' RETURNING id, payload) SELECT payload FROM taken ORDER BY id`)
	require.NoError(t, err)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*timekeepingv1.ScheduleComparisonRequested, error) {
		var body []byte
		if err := row.Scan(&body); err != nil {
			return nil, err
		}
		event := &timekeepingv1.ScheduleComparisonRequested{}
		return event, proto.Unmarshal(body, event)
	})
	require.NoError(t, err)
	return list
}

// A change of many employees and days is divided into small requests. They have only employees who
// are signed off, and only signed-off days.
func TestLongChangesAreDivided(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	known := timecardtest.Known{}
	timecards := timecardtest.New(pool, known, timecardtest.Noon(t, "2026-05-01"))
	ids := make([]int64, 60)
	for i := range ids {
		ids[i] = int64(i + 1)
		if i < 45 {
			replan(known, ids[i], nil, training(monday-200, 1))
			timecards.SignOff(ctx, t, ids[i], civil.Range{From: monday, To: monday + 7})
		}
	}
	takeRequests(ctx, t, pool)
	require.NoError(t, timecards.Signoffs.RequestComparisons(ctx, ids, civil.Range{From: monday - 150, To: civil.Forever}))
	var got []string
	for _, event := range takeRequests(ctx, t, pool) {
		got = append(got, fmt.Sprintf("%d employees from %d: %s to %s", len(event.GetEmployeeIds()), event.GetEmployeeIds()[0], event.GetFrom(), event.GetTo()))
	}
	assert.Equal(t, []string{
		"20 employees from 1: 2025-10-03 to 2026-01-10", "20 employees from 1: 2026-01-11 to 2026-03-08",
		"20 employees from 21: 2025-10-03 to 2026-01-10", "20 employees from 21: 2026-01-11 to 2026-03-08",
		"5 employees from 41: 2025-10-03 to 2026-01-10", "5 employees from 41: 2026-01-11 to 2026-03-08",
	}, got)

	require.NoError(t, timecards.Signoffs.RequestComparisons(ctx, ids, civil.Range{From: monday + 7, To: civil.Forever}))
	assert.Empty(t, takeRequests(ctx, t, pool), "open days are not compared")
}

// An edit years before the first entry of an employee is paid too: the first sign-off has closed its day.
func TestEditsBeforeTheFirstStoredDayArePaid(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	known := timecardtest.Known{}
	timecards := timecardtest.New(pool, known, timecardtest.Noon(t, "2026-05-01"))
	timecards.Punch(ctx, t, 7, "2026-03-02T08:00", "2026-03-02T16:00")
	timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
	takeRequests(ctx, t, pool)
	replan(known, 7, nil, training(monday-1500, 2), training(monday-900, 3))
	require.NoError(t, timecards.Signoffs.RequestComparisons(ctx, []int64{7}, civil.Range{From: civil.Beginning, To: civil.Forever}))
	assert.Len(t, handleRequests(ctx, t, pool, timecards), 2, "one of the days before the first stored day, and one of the others")
	want := map[string]int64{"Regular": 8 * 3600, "Training": 5 * 3600}
	assert.Equal(t, want, byCode(t, ctx, timecards, 7))
	require.NoError(t, timecards.Signoffs.RequestComparisons(ctx, []int64{7}, civil.Range{From: civil.Beginning, To: civil.Forever}))
	handleRequests(ctx, t, pool, timecards)
	assert.Equal(t, want, byCode(t, ctx, timecards, 7))

	replan(known, 7, nil)
	require.NoError(t, timecards.Signoffs.RequestComparisons(ctx, []int64{7}, civil.Range{From: civil.Beginning, To: civil.Forever}))
	handleRequests(ctx, t, pool, timecards)
	assert.Equal(t, map[string]int64{"Regular": 8 * 3600}, byCode(t, ctx, timecards, 7))
}
