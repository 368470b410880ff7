package payrollstaging

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
)

// hours is a Source of eight hours on the 2nd of March, unless it fails.
type hours struct{ err error }

func (h *hours) Totals(_ context.Context, employees []int64, _ civil.Range) ([]Employee, error) {
	var out []Employee
	for _, id := range employees {
		out = append(out, Employee{ID: id, Totals: []Total{{Date: civil.Of(2026, time.March, 2), PayCode: "Regular", Kind: Worked, Seconds: 8 * 3600}}})
	}
	return out, h.err
}

func newFixture(t *testing.T) (*Worker, *hours, *pg.Pool) {
	t.Helper()
	pool, source := pooltest.New(t), &hours{}
	_, err := work.Exec(tenant.With(t.Context(), 1), pool, `INSERT INTO person (tenant_id, id, version, person_number, full_name, time_zone, hire_date)
		SELECT 1, n, 1, 'P' || n, 'Person ' || n, 'UTC', date '2020-01-01' FROM generate_series(7, 8) AS n`)
	require.NoError(t, err)
	persons := person.NewDirectory(pool, nil, rowvisibility.New(clock.System{}))
	return newWorker(t, Deps{Pool: pool, Persons: persons, Source: source}), source, pool
}

// A batch that fails repeatedly ends without its employees, and the details name them. The rest of
// the run is staged.
func TestABatchThatAlwaysFails(t *testing.T) {
	t.Parallel()
	w, source, pool := newFixture(t)
	ctx := tenant.With(t.Context(), 1)
	batches := begun(t, ctx, pool, &timekeepingv1.PayrollStagingRequest{}, 7, 8)
	failing := batches[0]
	source.err = errors.New("broken")
	for attempt := range maxFailures {
		err := w.handle(ctx, failing.id, failing.batch)
		assert.Equal(t, attempt < maxFailures-1, err != nil, "attempt %d: %v", attempt, err)
	}
	source.err = nil
	require.NoError(t, w.handle(ctx, failing.id, failing.batch), "an event that comes late")
	require.NoError(t, w.handle(ctx, failing.id, batches[1].batch))

	r, err := readRun(ctx, pool, failing.id)
	require.NoError(t, err)
	assert.Equal(t, "success", r.State)
	list, err := stagedEmployees(ctx, pool, failing.id)
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, stagedEmployee{ID: 7, Number: "P7", ErrorCode: CodeNotStaged, Message: "The time of these employees could not be read. Stage them again."}, list[0])
	assert.Equal(t, stagedEmployee{ID: 8, Number: "P8"}, list[1])
	assert.Equal(t, 1., testutil.ToFloat64(w.metrics.batches.WithLabelValues(resultFailed)))
	assert.Equal(t, maxFailures-1., testutil.ToFloat64(w.metrics.batches.WithLabelValues(resultAgain)))
}

// A service that is away for a while does not count as a failure.
func TestABatchWhoseSourceIsAway(t *testing.T) {
	t.Parallel()
	w, source, pool := newFixture(t)
	ctx := tenant.With(t.Context(), 1)
	b := begun(t, ctx, pool, &timekeepingv1.PayrollStagingRequest{}, 7)[0]
	source.err = fault.Unavailable("Away.", 0)
	for range 2 * maxFailures {
		require.Error(t, w.handle(ctx, b.id, b.batch))
	}
	source.err = nil
	require.NoError(t, w.handle(ctx, b.id, b.batch))
	list, err := stagedEmployees(ctx, pool, b.id)
	require.NoError(t, err)
	assert.Equal(t, []stagedEmployee{{ID: 7, Number: "P7"}}, list)
}

func TestSweep(t *testing.T) {
	t.Parallel()
	w, _, pool := newFixture(t)
	ctx := tenant.With(t.Context(), 1)
	still := begun(t, ctx, pool, &timekeepingv1.PayrollStagingRequest{}, 7, 8)[0]
	moves := begun(t, ctx, pool, &timekeepingv1.PayrollStagingRequest{}, 7)[0]
	ended := begun(t, ctx, pool, &timekeepingv1.PayrollStagingRequest{}, 7)[0]
	old := begun(t, ctx, pool, &timekeepingv1.PayrollStagingRequest{}, 7)[0]
	for _, b := range []*stagedBatch{ended, old} {
		require.NoError(t, w.handle(ctx, b.id, 0))
	}
	require.NoError(t, w.handle(ctx, still.id, 1))
	age := func(column string, b *stagedBatch, by string) {
		_, err := work.Exec(ctx, pool, `UPDATE payroll_staging SET `+column+` = clock_timestamp() - $2::interval WHERE tenant_id = 1 AND id = $1`, b.id, by)
		require.NoError(t, err)
	}
	age("moved_at", still, "31 seconds")
	age("finished_at", ended, "29 days 23 hours")
	age("finished_at", old, "30 days 1 hour")
	asked := func() (n int) {
		require.NoError(t, pool.QueryRow(tenant.All(t.Context()), `SELECT count(*) FROM outbox`).Scan(&n))
		return n
	}
	require.NoError(t, w.sweep(t.Context()))
	assert.Equal(t, 1, asked(), "the batch that is not staged, of the run that stands still")
	require.NoError(t, w.sweep(t.Context()))
	assert.Equal(t, 1, asked(), "it was just asked for")
	assert.Equal(t, 1., testutil.ToFloat64(w.metrics.runs.WithLabelValues("pending")), "the one that nobody began")
	assert.Equal(t, 1., testutil.ToFloat64(w.metrics.runs.WithLabelValues("in_progress")))
	for b, there := range map[*stagedBatch]bool{still: true, moves: true, ended: true, old: false} {
		r, err := readRun(ctx, pool, b.id)
		require.NoError(t, err)
		assert.Equal(t, there, r != nil)
	}
	list, err := stagedEmployees(ctx, pool, old.id)
	require.NoError(t, err)
	assert.NotEmpty(t, list, "what it staged stays in the ledger")
}
