package propagator

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
	"github.com/rotaloom/rotaloom/services/scheduling/migrations"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	testTenant = tenant.Default
	// waitTimeout is how long a test waits for what should take milliseconds.
	waitTimeout = 20 * time.Second
)

// fixture is the database of scheduling with what tests put into it.
type fixture struct {
	t    testing.TB
	ctx  context.Context
	cfg  pg.Config
	pool *pg.Pool
	// backoff is how long messages wait that were not handled.
	backoff time.Duration
	// patience replaces waitTimeout for what takes seconds, unless it is 0.
	patience time.Duration
}

func newFixture(t testing.TB) *fixture {
	sets, err := serve.Migrations("scheduling_version", migrations.FS)
	require.NoError(t, err)
	w := &fixture{t: t, ctx: tenant.With(t.Context(), testTenant), backoff: time.Millisecond}
	w.cfg = pgtest.Config(t, sets...)
	w.pool = w.openPool()
	w.exec(`INSERT INTO schedule_pattern (tenant_id, id, digest, day_count, body)
		SELECT 1, n, int4send(n), n, '' FROM generate_series(1, 20) AS n`)
	return w
}

// openPool returns another pool, such as another process has.
func (w *fixture) openPool() *pg.Pool {
	w.t.Helper()
	pool, err := pg.Open(w.ctx, w.cfg, pgtest.Log(w.t))
	require.NoError(w.t, err)
	w.t.Cleanup(pool.Close)
	return pool
}

func (w *fixture) exec(sql string, args ...any) {
	w.t.Helper()
	_, err := w.pool.Exec(w.ctx, sql, args...)
	require.NoError(w.t, err)
}

func (w *fixture) count(sql string, args ...any) int {
	w.t.Helper()
	var n int
	require.NoError(w.t, w.pool.QueryRow(w.ctx, sql, args...).Scan(&n))
	return n
}

// term makes a term that passes patterns on.
func (w *fixture) term(id int64) {
	w.t.Helper()
	w.exec(schedtest.InsertTerm, id, fmt.Sprint("Term ", id), true)
}

// members puts employees on a term.
func (w *fixture) members(term int64, from, to string, employees ...int64) {
	w.t.Helper()
	w.exec(`INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date)
		SELECT 1, unnest($1::bigint[]), $2, $3, $4`, employees, term, from, to)
}

// assignment is what [fixture.assign] stores. Zero values mean: on a term, with pattern 7 and as
// many days, until forever, in lane 0, above the existing assignments.
type assignment struct {
	id, term, employee int64
	from, to           string
	pattern            int
	override           bool
	lane               int
}

func (w *fixture) assign(a assignment) { assign(w.t, w.ctx, w.pool, a) }

func assign(t testing.TB, ctx context.Context, db pg.Querier, a assignment) {
	t.Helper()
	if a.pattern == 0 {
		a.pattern = 7
	}
	if a.to == "" {
		a.to = "3000-01-01"
	}
	_, err := db.Exec(ctx, `
INSERT INTO pattern_assignment (tenant_id, id, version, employment_term_id, employee_id, from_date, to_date, pattern_id,
    day_count, anchor, start_date_offset, override, lane, seq, propagation_id)
VALUES (1, $1, 1, nullif($2::bigint, 0), nullif($3::bigint, 0), $4::text::date, $5::text::date, $6::int, $6::int, $4::text::date, 0, $7, $8,
    nextval('pattern_assignment_seq'), 0)`, a.id, a.term, a.employee, a.from, a.to, a.pattern, a.override, a.lane)
	require.NoError(t, err)
}

func (w *fixture) lock(employee int64, from, to string) {
	w.t.Helper()
	w.exec(`INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, $1, $2, $3)`, employee, from, to)
}

// start starts a propagation.
func (w *fixture) start(req propagation.Request) int64 {
	w.t.Helper()
	var id int64
	require.NoError(w.t, pg.InTx(w.ctx, w.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		id, err = propagation.Start(ctx, tx, req)
		return err
	}))
	return id
}

func (w *fixture) state(id int64) string {
	var state string
	require.NoError(w.t, w.pool.QueryRow(w.ctx, "SELECT state FROM propagation WHERE tenant_id = 1 AND id = $1", id).Scan(&state))
	return state
}

func seesEverybody(context.Context) (rowvisibility.Set, error) {
	return rowvisibility.AllPersons(), nil
}

func (w *fixture) get(id int64) *schedulingv1.Propagation {
	w.t.Helper()
	response, err := w.handler().GetPropagation(w.ctx, &schedulingv1.GetPropagationRequest{Id: id})
	require.NoError(w.t, err)
	return response
}

func (w *fixture) await(what string, reached func() bool) {
	w.t.Helper()
	require.Eventually(w.t, reached, cmp.Or(w.patience, waitTimeout), 5*time.Millisecond, what)
}

func (w *fixture) awaitState(id int64, state string) {
	w.t.Helper()
	w.await(fmt.Sprintf("propagation %d is %s", id, state), func() bool { return w.state(id) == state })
}

// spans returns the stored spans of an employee in a short form.
func (w *fixture) spans(employee int64) []string {
	w.t.Helper()
	rows, err := w.pool.Query(w.ctx, `
		SELECT from_date || '..' || to_date || ' pattern ' || pattern_id || ' at ' || position FROM span
		WHERE tenant_id = 1 AND employee_id = $1 ORDER BY from_date, lane`, employee)
	require.NoError(w.t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(w.t, err)
	return list
}

// propagator returns one that is not running.
func (w *fixture) propagator(cfg Config) *Propagator {
	w.t.Helper()
	p, err := New(Options{
		Pool: w.pool, Clock: clock.System{}, Log: pgtest.Log(w.t), Registry: prometheus.NewRegistry(), Config: cfg,
	})
	require.NoError(w.t, err)
	return p
}

// apply plans and works on a propagation without a broker.
func (w *fixture) apply(id int64) {
	w.t.Helper()
	p := w.propagator(Config{})
	w.plan(p)
	for batch := range w.count("SELECT batches_total FROM propagation WHERE id = $1", id) {
		require.NoError(w.t, p.process(w.ctx, batchKey{id, int32(batch)}))
	}
}

// plan plans the accepted changes.
func (w *fixture) plan(p *Propagator) {
	w.t.Helper()
	failed, err := p.plan(w.ctx)
	require.NoError(w.t, err)
	require.Empty(w.t, failed)
}

// process is a running replica of the service: relay, planner, worker, sweep.
type process struct {
	*Propagator
	stop func()
}

func (w *fixture) run(server *natstest.Server, cfg Config) *process {
	w.t.Helper()
	pool, log, registry := w.openPool(), pgtest.Log(w.t), newRegistry()
	b := w.newBus(server)
	relay, err := outbox.NewRelay(outbox.Options{
		Pool: pool, Bus: b, Log: log, Registry: registry, Poll: 5 * time.Millisecond, IdlePoll: 20 * time.Millisecond,
	})
	require.NoError(w.t, err)
	p, err := New(Options{Pool: pool, Clock: clock.System{}, Bus: b, Log: log, Registry: registry, Config: cfg})
	require.NoError(w.t, err)
	p.backoff = []time.Duration{w.backoff}

	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 2)
	go func() { done <- p.Run(ctx) }()
	go func() { done <- relay.Run(ctx) }()
	running := true
	proc := &process{Propagator: p, stop: func() {
		if !running {
			return
		}
		running = false
		cancel()
		for range 2 {
			require.NoError(w.t, <-done)
		}
	}}
	w.t.Cleanup(proc.stop)
	return proc
}

func newRegistry() *prometheus.Registry { return prometheus.NewRegistry() }

func (w *fixture) newBus(server *natstest.Server) *bus.Bus {
	w.t.Helper()
	b, err := bus.New(bus.Options{
		Conn: server.Conn(), DeadLetters: outbox.NewDeadLetters(w.pool), Transient: pgerr.Unavailable, Log: pgtest.Log(w.t), Registry: newRegistry(),
	})
	require.NoError(w.t, err)
	return b
}

// requireVerified compares the spans with those that follow from the tables, which it reads by
// queries of its own.
func (w *fixture) requireVerified() {
	w.t.Helper()
	report, err := reconcile.Verify(w.ctx, w.pool, nil)
	require.NoError(w.t, err)
	require.Zero(w.t, report.Unfinished)
	require.Empty(w.t, report.Differences)
	seen := 0
	for _, employee := range w.employees() {
		in := w.input(employee)
		want, err := span.Resolve(in)
		require.NoError(w.t, err)
		require.Equal(w.t, append([]span.Span(nil), want...), in.Current, "employee %d", employee)
		seen += len(want)
	}
	require.Equal(w.t, seen, report.Spans)
}

func (w *fixture) employees() []int64 {
	rows, err := w.pool.Query(w.ctx, `
		SELECT employee_id FROM membership UNION SELECT employee_id FROM span
		UNION SELECT employee_id FROM pattern_assignment WHERE employee_id IS NOT NULL ORDER BY 1`)
	require.NoError(w.t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(w.t, err)
	return ids
}

func (w *fixture) input(employee int64) (in span.Input) {
	in.Memberships = collect(w, `
SELECT employment_term_id, from_date, to_date,
    (SELECT t.allows_inheritance FROM employment_term t WHERE t.id = m.employment_term_id)
FROM membership m WHERE employee_id = $1`, employee, func(row pgx.CollectableRow) (m span.Membership, err error) {
		var from, to time.Time
		var inherits *bool
		err = row.Scan(&m.TermID, &from, &to, &inherits)
		m.Days, m.Inherits = civil.Range{From: civil.FromTime(from), To: civil.FromTime(to)}, inherits != nil && *inherits
		return m, err
	})
	in.Assignments = collect(w, `
SELECT id, seq, coalesce(employment_term_id, 0), from_date, to_date, pattern_id, day_count, anchor, start_date_offset, override, lane
FROM pattern_assignment a WHERE believed_until = 'infinity' AND (employee_id = $1 OR employment_term_id IN (
    SELECT m.employment_term_id FROM membership m WHERE m.employee_id = $1))`, employee,
		func(row pgx.CollectableRow) (a span.Assignment, err error) {
			var from, to, anchor time.Time
			err = row.Scan(&a.ID, &a.Seq, &a.TermID, &from, &to, &a.PatternID, &a.DayCount, &anchor, &a.Offset, &a.Override, &a.Lane)
			a.From, a.To, a.Anchor = civil.FromTime(from), civil.FromTime(to), civil.FromTime(anchor)
			return a, err
		})
	in.Locks = collect(w, "SELECT from_date, to_date FROM day_lock WHERE employee_id = $1", employee,
		func(row pgx.CollectableRow) (civil.Range, error) {
			var from, to time.Time
			err := row.Scan(&from, &to)
			return civil.Range{From: civil.FromTime(from), To: civil.FromTime(to)}, err
		})
	in.Current = collect(w, `
SELECT from_date, to_date, position, day_count, pattern_id, assignment_id, lane, inherited
FROM span WHERE employee_id = $1 ORDER BY from_date, lane`, employee,
		func(row pgx.CollectableRow) (s span.Span, err error) {
			var from, to time.Time
			err = row.Scan(&from, &to, &s.Position, &s.DayCount, &s.PatternID, &s.AssignmentID, &s.Lane, &s.Inherited)
			s.From, s.To = civil.FromTime(from), civil.FromTime(to)
			return s, err
		})
	return in
}

func collect[T any](w *fixture, sql string, employee int64, scan pgx.RowToFunc[T]) []T {
	w.t.Helper()
	rows, err := w.pool.Query(w.ctx, sql, employee)
	require.NoError(w.t, err)
	list, err := pgx.AppendRows([]T(nil), rows, scan)
	require.NoError(w.t, err)
	return list
}

// ids returns the numbers from first to last.
func ids(first, last int64) []int64 {
	list := make([]int64, 0, last-first+1)
	for id := first; id <= last; id++ {
		list = append(list, id)
	}
	return list
}
