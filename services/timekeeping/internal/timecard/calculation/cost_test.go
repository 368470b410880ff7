package calculation_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// A week reads the punches around it, no matter how many years came before.
func TestAWeekReadsThePunchesAroundIt(t *testing.T) {
	t.Parallel()
	ctx, pool := tenant.With(t.Context(), 1), pooltest.New(t)
	timecards := timecardtest.New(pool, timecardtest.Known{}, timecardtest.Noon(t, "2026-04-01")).Reader
	require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO punch (tenant_id, employee_id, at, time_zone, direction, is_transfer, job, work_rule, no_deduction, body)
			SELECT 1, p, d + t, 'UTC', 0, false, '', '', false, ''
			FROM (VALUES (7, timestamptz '2016-01-01 00:00+00'), (8, timestamptz '2026-01-01 00:00+00')) AS e (p, first),
				generate_series(first, timestamptz '2026-03-31 00:00+00', '1 day') AS d, (VALUES (interval '8 hours'), (interval '17 hours')) AS v (t)`)
		return err
	}))
	_, err := pool.Exec(ctx, "ANALYZE punch")
	require.NoError(t, err)
	week := civil.Range{From: civil.Of(2026, 3, 16), To: civil.Of(2026, 3, 23)}
	var read []int64
	for _, id := range []int64{7, 8} {
		require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
			before := punchRowsRead(ctx, t, tx)
			found, err := timecards.ReadIn(ctx, tx, []int64{id}, calculation.Window{Days: week, Bodies: true}, nil)
			require.NoError(t, err)
			assert.Len(t, found[0].NonEmptyDays(), 7)
			read = append(read, punchRowsRead(ctx, t, tx)-before)
			return nil
		}))
	}
	assert.Equal(t, read[1], read[0], "rows that were read for an employee with ten years of punches, and for one with three months")
	assert.Less(t, read[0], int64(250), "rows that were read for one week and the days around it")
}

// punchRowsRead counts the punches that a session has read from the table and its indexes.
func punchRowsRead(ctx context.Context, t *testing.T, tx pgx.Tx) (rows int64) {
	t.Helper()
	require.NoError(t, tx.QueryRow(ctx, `SELECT pg_stat_get_xact_tuples_returned('punch'::regclass) + sum(pg_stat_get_xact_tuples_returned(indexrelid))
		FROM pg_index WHERE indrelid = 'punch'::regclass`).Scan(&rows))
	return rows
}
