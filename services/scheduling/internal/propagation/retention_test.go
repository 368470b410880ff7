package propagation

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
)

// months returns the partitions of the past of spans.
func (w *world) months() []string {
	w.t.Helper()
	rows, err := w.pool.Query(w.ctx, `SELECT inhrelid::regclass::text FROM pg_inherits
		WHERE inhparent = 'span_past_block'::regclass AND inhrelid <> 'span_past_block_other'::regclass ORDER BY 1`)
	require.NoError(w.t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(w.t, err)
	return list
}

// old stores a propagation, and spans of two tenants, that ended at a time.
func (w *world) old(at time.Time, state string) {
	w.t.Helper()
	for _, id := range []int64{testTenant, 2} {
		ctx := tenant.With(w.t.Context(), id)
		_, err := w.pool.Exec(ctx, `
			INSERT INTO span_past_block VALUES ($1, 1, 1, $2, '{1}', '{0}', '{2020-01-01}', '{2020-02-01}', '{1}', '{0}', '{7}', '{1}', '{true}',
				'{1}', '{2020-01-01T00:00:00Z}', '{1}')`, id, at)
		require.NoError(w.t, err)
		_, err = w.pool.Exec(ctx, `INSERT INTO propagation (tenant_id, cause, state, finished_at, applied_by) VALUES ($1, 'PATTERN', $3, $2, 0)`, id, at, state)
		require.NoError(w.t, err)
	}
}

func TestTheRunningPropagatorForgetsWhatIsOld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now().UTC()
	month := func(at time.Time) string { return "span_past_block_" + at.Format("200601") }
	next := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, []string{month(now)}, w.months())
	for _, month := range []int{2, 12} {
		w.exec("SELECT make_span_past_month(2019, $1)", month)
	}
	w.old(time.Date(2019, 2, 11, 0, 0, 0, 0, time.UTC), StateFinished)
	w.old(time.Date(2018, 2, 11, 0, 0, 0, 0, time.UTC), StateFinished) // no month was made
	w.old(time.Date(2018, 2, 11, 0, 0, 0, 0, time.UTC), StateFailed)   // it is not done yet
	w.old(now.Add(-47*time.Hour), StateFinished)
	w.old(now.Add(-49*time.Hour), StateFinished)
	keep := Config{KeepHistory: 48 * time.Hour}

	w.run(natstest.New(t), keep)
	w.await("only what is young is there", func() bool {
		return w.count("SELECT count(*) FROM span_past") == 1 && w.count("SELECT count(*) FROM propagation WHERE state = 'FINISHED'") == 1
	})
	assert.Equal(t, []string{month(now), month(next)}, w.months())
	assert.Equal(t, 1, w.count("SELECT count(*) FROM propagation WHERE state = 'FAILED'"))
	var others int
	require.NoError(t, w.pool.QueryRow(tenant.With(t.Context(), 2), "SELECT count(*) FROM span_past").Scan(&others))
	assert.Equal(t, 1, others)
}

// A month that has begun without a partition stays in the default one.
func TestAMonthWithoutAPartition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.propagator(Config{})
	later := time.Date(2040, 12, 31, 23, 0, 0, 0, time.UTC)
	w.old(later, StateFinished)
	require.NoError(t, p.Tidy(t.Context(), later))
	assert.Equal(t, []string{"span_past_block_204101"}, w.months())
	require.NoError(t, p.Tidy(t.Context(), later.AddDate(3, 1, 0)))
	assert.Zero(t, w.count("SELECT count(*) FROM span_past"))
}

func TestHistoryIsKeptForEver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.old(time.Date(2018, 2, 11, 0, 0, 0, 0, time.UTC), StateFinished)
	require.NoError(t, w.propagator(Config{KeepHistory: KeepForEver}).Tidy(t.Context(), time.Now()))
	assert.Equal(t, 1, w.count("SELECT count(*) FROM span_past"))
	assert.Equal(t, 1, w.count("SELECT count(*) FROM propagation"))
}
