package retention

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/scheduling/migrations"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	testTenant = tenant.Default
	finished   = "FINISHED"
	failed     = "FAILED"
)

// fixture is the database of scheduling with what tests put into it.
type fixture struct {
	t    *testing.T
	ctx  context.Context
	pool *pg.Pool
}

func newFixture(t *testing.T) *fixture {
	sets, err := serve.Migrations("scheduling_version", migrations.FS)
	require.NoError(t, err)
	w := &fixture{t: t, ctx: tenant.With(t.Context(), testTenant)}
	cfg := pgtest.Config(t, sets...)
	w.pool, err = pg.Open(w.ctx, cfg, pgtest.Log(t))
	require.NoError(t, err)
	t.Cleanup(w.pool.Close)
	return w
}

func (w *fixture) count(sql string) int {
	w.t.Helper()
	var n int
	require.NoError(w.t, w.pool.QueryRow(w.ctx, sql).Scan(&n))
	return n
}

// apply applies a retention of a time at an instant.
func (w *fixture) apply(keep time.Duration, now time.Time) {
	w.t.Helper()
	require.NoError(w.t, New(w.pool, pgtest.Log(w.t), clock.NewFake(now), keep).Apply(w.t.Context()))
}

// months returns the months of a past table's partitions.
func (w *fixture) months(past string) []string {
	w.t.Helper()
	rows, err := w.pool.Query(w.ctx, `SELECT replace(inhrelid::regclass::text, $1 || '_', '') FROM pg_inherits
		WHERE inhparent = $1::text::regclass ORDER BY 1`, past)
	require.NoError(w.t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(w.t, err)
	require.Equal(w.t, "other", list[len(list)-1])
	return list[:len(list)-1]
}

// become holds statements that move a row of the tenant $1 to the past table at the time $2.
var become = map[string]string{
	"span_past_block": `INSERT INTO span_past_block VALUES ($1, 1, 1, $2, '{1}', '{0}', '{2000-01-01}', '{2000-02-01}', '{1}', '{0}', '{7}', '{1}',
		'{true}', '{1}', '{2000-01-01T00:00:00Z}', '{1}')`,
	"schedule_item_past": `INSERT INTO schedule_item_past (tenant_id, believed_until, id, employee_id, kind, from_day, to_day, hides_employee_id, deleted,
		version, body, updated_at, believed_from, withdrawn) VALUES ($1, $2, 1, 1, 'SHIFT', '2000-01-01', '2000-01-01', 1, false, 1, '', $2, '-infinity', false)`,
	"day_lock_past": `INSERT INTO day_lock_past (tenant_id, believed_until, id, employee_id, from_date, to_date, created_at, believed_from)
		VALUES ($1, $2, 1, 1, '2000-01-01', '2000-02-01', $2, '-infinity')`,
	"membership_past": `INSERT INTO membership_past (tenant_id, believed_until, employee_id, employment_term_id, from_date, to_date, believed_from)
		VALUES ($1, $2, 1, 1, '2000-01-01', '2000-02-01', '-infinity')`,
	"leave_edit_past": `INSERT INTO leave_edit_past (tenant_id, believed_until, id, employee_id, from_day, to_day, version, body, believed_from)
		VALUES ($1, $2, 1, 1, '2000-01-01', '2000-02-01', 1, '', '-infinity')`,
	"locked_leave_past": `INSERT INTO locked_leave_past (tenant_id, believed_until, employee_id, lock_from, lock_to, id, from_day, to_day, version, body, believed_from)
		VALUES ($1, $2, 1, '2000-01-01', '2000-02-01', 1, '2000-01-01', '2000-02-01', 1, '', '-infinity')`,
}

// addOld stores a propagation, and rows of every past of two tenants, that ended at a
// time.
func (w *fixture) addOld(at time.Time, state string) {
	w.t.Helper()
	for _, id := range []int64{testTenant, 2} {
		ctx := tenant.With(w.t.Context(), id)
		for past, insert := range become {
			_, err := w.pool.Exec(ctx, insert, id, at)
			require.NoError(w.t, err, past)
		}
		_, err := w.pool.Exec(ctx, `INSERT INTO propagation (tenant_id, cause, state, finished_at, applied_by) VALUES ($1, 'PATTERN', $3, $2, 0)`, id, at, state)
		require.NoError(w.t, err)
	}
}

// countRows returns how many rows of each past a tenant has.
func (w *fixture) countRows(tenantID int64) map[string]int {
	w.t.Helper()
	counts := map[string]int{}
	for _, past := range historyTables {
		var n int
		require.NoError(w.t, w.pool.QueryRow(tenant.With(w.t.Context(), tenantID), "SELECT count(*) FROM "+past).Scan(&n))
		counts[past] = n
	}
	return counts
}

// ofEach is the same number of rows in every past.
func ofEach(count int) map[string]int {
	counts := map[string]int{}
	for _, past := range historyTables {
		counts[past] = count
	}
	return counts
}

func TestMonthsThatEndedBefore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		partition, before string
		want              bool
	}{
		"it has just ended":      {"day_lock_past_202002", "2020-03-01T00:00:00Z", true},
		"it has not ended":       {"day_lock_past_202002", "2020-02-29T23:59:59Z", false},
		"it ended a year before": {"day_lock_past_201912", "2020-12-31T00:00:00Z", true},
		"the last of a year":     {"day_lock_past_201912", "2019-12-31T23:59:59Z", false},
		"the rest":               {"day_lock_past_other", "2020-03-01T00:00:00Z", false},
		"a month of another":     {"leave_edit_past_202002", "2021-03-01T00:00:00Z", false},
		"no month":               {"day_lock_past_202013", "2021-03-01T00:00:00Z", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, err := time.Parse(time.RFC3339, test.before)
			require.NoError(t, err)
			assert.Equal(t, test.want, endedBefore("day_lock_past", test.partition, before))
		})
	}
}

func TestOldPartitionsAreDropped(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	now := time.Now().UTC()
	next := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	for _, past := range historyTables {
		require.Equal(t, []string{now.Format("200601")}, w.months(past), past)
		for _, month := range []int{2, 12} {
			_, err := w.pool.Exec(w.ctx, "SELECT make_past_month($1, 2019, $2)", past, month)
			require.NoError(t, err)
		}
	}
	w.addOld(time.Date(2019, 2, 11, 0, 0, 0, 0, time.UTC), finished)
	w.addOld(time.Date(2018, 2, 11, 0, 0, 0, 0, time.UTC), finished) // no month was made
	w.addOld(time.Date(2018, 2, 11, 0, 0, 0, 0, time.UTC), failed)   // it is not done yet
	w.addOld(now.Add(-47*time.Hour), finished)
	w.addOld(now.Add(-49*time.Hour), finished)
	w.apply(48*time.Hour, now)

	assert.Equal(t, ofEach(1), w.countRows(testTenant), "only what is young is there")
	assert.Equal(t, 1, w.count("SELECT count(*) FROM propagation WHERE state = 'FINISHED'"))
	for _, past := range historyTables {
		assert.Equal(t, []string{now.Format("200601"), next.Format("200601")}, w.months(past), past)
	}
	assert.Equal(t, 1, w.count("SELECT count(*) FROM propagation WHERE state = 'FAILED'"))
	assert.Equal(t, ofEach(1), w.countRows(2))
}

// assignment stores a version of an assignment that was believed until a time, or is.
func (w *fixture) assignment(tenantID, id int64, version int, until string) {
	w.t.Helper()
	ctx := tenant.With(w.t.Context(), tenantID)
	_, err := w.pool.Exec(ctx, `INSERT INTO schedule_pattern (tenant_id, id, digest, day_count, body) OVERRIDING SYSTEM VALUE VALUES ($1, 1, '', 1, '') ON CONFLICT DO NOTHING`, tenantID)
	require.NoError(w.t, err)
	_, err = w.pool.Exec(ctx, `INSERT INTO pattern_assignment (tenant_id, id, version, employment_term_id, from_date, to_date, pattern_id, day_count,
		anchor, start_date_offset, override, lane, seq, propagation_id, believed_from, believed_until)
		VALUES ($1, $2, $3, 1, '2000-01-01', '2001-01-01', 1, 1, '2000-01-01', 0, false, 0, 1, 1, '2000-01-01', $4::text::timestamptz)`, tenantID, id, version, until)
	require.NoError(w.t, err)
}

// assignments returns the versions of assignments that a tenant has.
func (w *fixture) assignments(tenantID int64) []string {
	w.t.Helper()
	rows, err := w.pool.Query(tenant.With(w.t.Context(), tenantID), "SELECT id || '.' || version FROM pattern_assignment ORDER BY id, version")
	require.NoError(w.t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(w.t, err)
	return list
}

func TestOldVersionsOfAssignmentsGo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	const old, young = "2026-11-18T11:59:59Z", "2026-11-18T12:00:00Z"
	for name, keep := range map[string]time.Duration{"kept for two days": 48 * time.Hour, "kept for ever": ForEver} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			want := []string{"1.1", "1.2", "1.3", "2.1", "2.2", "3.1"}
			for _, id := range []int64{testTenant, 2} {
				w.assignment(id, 1, 1, old)
				w.assignment(id, 1, 2, young)
				w.assignment(id, 1, 3, "infinity")
				w.assignment(id, 2, 1, old)
				w.assignment(id, 2, 2, old) // gone, but spans of locked days may name it
				w.assignment(id, 3, 1, "infinity")
			}
			require.Equal(t, want, w.assignments(2))
			w.apply(keep, now)
			if keep != ForEver {
				want = []string{"1.2", "1.3", "2.2", "3.1"}
			}
			assert.Equal(t, want, w.assignments(testTenant))
			assert.Equal(t, want, w.assignments(2))
		})
	}
}

// While another process applies the retention, a second one does nothing and does not wait.
func TestOneProcessAppliesTheRetention(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.assignment(testTenant, 1, 1, "2000-01-01T00:00:00Z")
	w.assignment(testTenant, 1, 2, "infinity")
	require.NoError(t, pg.InTx(tenant.All(w.ctx), w.pool, func(ctx context.Context, tx pgx.Tx) error {
		mine, err := lockRetention.Try(ctx, tx)
		require.True(t, mine)
		w.apply(48*time.Hour, time.Now())
		return err
	}))
	assert.Equal(t, []string{"1.1", "1.2"}, w.assignments(testTenant))
	w.apply(48*time.Hour, time.Now())
	assert.Equal(t, []string{"1.2"}, w.assignments(testTenant))
}

// A month that has begun without a partition stays in the default one.
func TestAMonthWithoutAPartition(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	const keep = 3 * 365 * 24 * time.Hour
	later := time.Date(2040, 12, 31, 23, 0, 0, 0, time.UTC)
	w.addOld(later, finished)
	w.apply(keep, later)
	for _, past := range historyTables {
		assert.Equal(t, []string{"204101"}, w.months(past), past)
	}
	assert.Equal(t, ofEach(1), w.countRows(2))
	w.apply(keep, later.AddDate(3, 1, 0))
	assert.Equal(t, ofEach(0), w.countRows(2))
}

func TestHistoryIsKeptForEver(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.addOld(time.Date(2018, 2, 11, 0, 0, 0, 0, time.UTC), finished)
	w.apply(ForEver, time.Now())
	assert.Equal(t, ofEach(1), w.countRows(testTenant))
	assert.Equal(t, 1, w.count("SELECT count(*) FROM propagation"))
}

func TestExpiredPreviewsAreDeleted(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, expires := range []time.Time{now.Add(-time.Second), now.Add(time.Second)} {
		_, err := pg.Unaudited("a test sets up its data").Exec(w.ctx, w.pool, `
INSERT INTO schedule_preview (tenant_id, created_by, request, digest, settled_at, employment_term_ids, inheriting_term_ids, from_date, to_date, effect, expires_at)
VALUES (1, '', '', '', now(), '{}', '{}', '2026-03-01', '2026-03-02', '', $1)`, expires)
		require.NoError(t, err)
	}
	w.apply(ForEver, now)
	assert.Equal(t, 1, w.count(`SELECT count(*) FROM schedule_preview`))
}
