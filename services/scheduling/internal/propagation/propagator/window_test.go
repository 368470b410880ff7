package propagator

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// startIn starts a propagation of another tenant.
func (w *fixture) startIn(tenantID int64, req propagation.Request) (id int64) {
	w.t.Helper()
	require.NoError(w.t, pg.InTx(tenant.With(w.t.Context(), tenantID), w.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		id, err = propagation.Start(ctx, tx, req)
		return err
	}))
	return id
}

// listBatches returns the batches that are asked for, in order.
func (w *fixture) listBatches() []batchKey {
	w.t.Helper()
	rows, err := w.pool.Query(w.ctx, `
		SELECT propagation_id, batch FROM propagation_batch WHERE state = 'REQUESTED' ORDER BY propagation_id, batch`)
	require.NoError(w.t, err)
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[batchKey])
	require.NoError(w.t, err)
	return keys
}

// Not more than a window of batches is asked for at once; the end of one lets
// the next in, and a small change comes between the batches of a large one.
func TestBatchesTakeTurns(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	large := w.start(propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: ids(0, 10*1024-1)})
	p := w.propagator(Config{Window: 2})
	w.plan(p)
	assert.Equal(t, []batchKey{{large, 0}, {large, 1}}, w.listBatches())
	assert.Equal(t, 2, w.count("SELECT count(*) FROM outbox WHERE event LIKE '%PropagationBatchRequested'"))

	require.NoError(t, p.process(w.ctx, batchKey{large, 1}))
	assert.Equal(t, []batchKey{{large, 0}, {large, 2}}, w.listBatches())

	small := w.start(propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{50_000}})
	second := w.start(propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: ids(60_000, 63_000)})
	w.plan(p)
	assert.Len(t, w.listBatches(), 2, "the window is full")
	require.NoError(t, p.process(w.ctx, batchKey{large, 0}))
	require.NoError(t, p.process(w.ctx, batchKey{large, 2}))
	assert.Equal(t, []batchKey{{large, 3}, {small, 0}}, w.listBatches())
	assert.Equal(t, 1, w.count("SELECT count(*) FROM outbox WHERE event LIKE '%PropagationSmallBatchRequested'"), "on a queue of its own")
	require.NoError(t, p.process(w.ctx, batchKey{small, 0}))
	require.NoError(t, p.process(w.ctx, batchKey{large, 3}))
	assert.Equal(t, []batchKey{{large, 4}, {second, 0}}, w.listBatches(), "and so does the next large one")
	for len(w.listBatches()) > 0 {
		require.NoError(t, p.process(w.ctx, w.listBatches()[0]))
		assert.LessOrEqual(t, len(w.listBatches()), 2)
	}
	for _, id := range []int64{large, small, second} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			assert.Equal(t, propagation.StateFinished, w.state(id))
			assert.Equal(t, w.get(id).GetEmployeesTotal(), w.get(id).GetEmployeesDone())
		})
	}
}

// A planner that waits, or is busy with the changes of one tenant, does not keep others from the
// changes of other tenants. It plans the changes that were accepted in the meantime.
func TestTenantsArePlannedBesideEachOther(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	first := w.start(propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{1}})
	busy, err := w.pool.Begin(w.ctx)
	require.NoError(t, err)
	_, err = busy.Exec(w.ctx, "SELECT FROM propagation WHERE id = $1 FOR UPDATE", first)
	require.NoError(t, err)
	p := w.propagator(Config{})
	done := make(chan error, 1)
	go func() {
		_, err := p.plan(w.ctx)
		done <- err
	}()
	w.await("the planner waits", func() bool {
		return w.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
	})
	later := w.start(propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{2}})
	w.plan(p) // returns at once, though the tenant is being planned for
	assert.Equal(t, propagation.StateAccepted, w.state(later))

	other := w.startIn(2, propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{3}})
	_, err = p.plan(tenant.With(t.Context(), 2))
	require.NoError(t, err)
	var state string
	require.NoError(t, w.pool.QueryRow(tenant.With(t.Context(), 2), "SELECT state FROM propagation WHERE id = $1", other).Scan(&state))
	assert.Equal(t, propagation.StateRunning, state)

	require.NoError(t, busy.Rollback(w.ctx))
	require.NoError(t, <-done)
	assert.Equal(t, propagation.StateRunning, w.state(first))
	assert.Equal(t, propagation.StateRunning, w.state(later))
}

// Twenty waiting changes of the same employees are applied by writing each span once, and all of
// them show the full progress.
func TestOvertakenChangesAreDoneTogether(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.term(6)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 3000)...)
	w.members(6, "2026-01-01", "3000-01-01", ids(3001, 3100)...)
	w.assign(assignment{id: 1, term: 5, from: "2026-01-05"})
	w.apply(w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}}))
	w.lock(7, "2026-02-01", "2026-02-08")

	p := w.propagator(Config{})
	var open []int64
	for change := range int64(20) {
		w.assign(assignment{id: 50 + change, term: 5, from: "2026-01-05", pattern: int(1 + change), override: true})
		open = append(open, w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}}))
		if change == 10 {
			w.plan(p) // The others come when these are divided already.
		}
	}
	beside := w.start(propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{1, 3050}})
	w.plan(p)
	for len(w.listBatches()) > 0 {
		require.NoError(t, p.process(w.ctx, w.listBatches()[0]))
	}
	assert.Equal(t, 3000, w.count("SELECT count(*) FROM span_past"), "each span was replaced once")
	assert.Equal(t, 3002, w.count("SELECT count(*) FROM span"), "of the locked days, and around them")
	for _, id := range open {
		got := w.get(id)
		assert.Equal(t, propagation.StateFinished, got.GetState())
		assert.Equal(t, []int64{3000, 3000, 3002}, []int64{got.GetEmployeesTotal(), got.GetEmployeesDone(), got.GetSpansWritten()})
		require.Len(t, got.GetSkipped(), 1)
		assert.Equal(t, int64(1), got.GetSkipped()[0].GetEmployees())
		assert.NotEmpty(t, got.GetStartedAt())
		assert.NotEmpty(t, got.GetFinishedAt())
	}
	assert.Equal(t, int64(2), w.get(beside).GetEmployeesDone())
	assert.Equal(t, propagation.StateFinished, w.state(beside))
	assert.Equal(t, 0, w.count("SELECT count(*) FROM propagation_batch"))
	w.requireVerified()
}

// A statement that takes too long delays the employees concerned, and no others,
// for as long as it takes.
func TestSlowBatchesAreDividedAndTriedAgain(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.patience = 150 * time.Second // The sweep waits up to 64 s.
	server := natstest.New(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 1000)...)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	w.apply(w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}}))
	slow, err := w.pool.Begin(w.ctx)
	require.NoError(t, err)
	_, err = slow.Exec(w.ctx, "SELECT FROM span WHERE employee_id = 700 FOR UPDATE")
	require.NoError(t, err)

	w.assign(assignment{id: 51, term: 5, from: "2026-01-05", pattern: 9, override: true})
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.cfg.StatementTimeout = 200 * time.Millisecond
	w.backoff = 250 * time.Millisecond // Those who wait for the same lock come in between.
	w.run(server, Config{MaxDeliver: 7, SweepEvery: 50 * time.Millisecond, SweepAfter: time.Second})
	w.await("it shows", func() bool { return w.get(id).GetError() == textSlow })
	w.await("only a small part is missing", func() bool { return w.get(id).GetEmployeesDone() >= 1000-2*smallestPart })
	w.awaitState(id, propagation.StateFailed)
	assert.Equal(t, textFailed, w.get(id).GetError())
	require.NoError(t, slow.Rollback(w.ctx))
	w.awaitState(id, propagation.StateFinished)
	assert.Equal(t, int64(1000), w.get(id).GetEmployeesDone())
	assert.Empty(t, w.get(id).GetError())
	w.requireVerified()
}

// The batches of a worker whose process died are taken over within seconds.
func TestBatchesOfADeadProcessAreTakenOver(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	server := natstest.New(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 3000)...)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.plan(w.propagator(Config{}))

	// A process that takes batches and never acknowledges them.
	proc := w.run(server, Config{SweepEvery: time.Hour})
	w.awaitState(id, propagation.StateFinished)
	proc.stop()
	js, err := jetstream.New(server.Conn())
	require.NoError(t, err)
	dead, err := js.Consumer(t.Context(), "SCHEDULING_WORK", "propagator-propagation_batch-requested")
	require.NoError(t, err)
	w.assign(assignment{id: 51, term: 5, from: "2026-01-05", pattern: 9, override: true})
	id = w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.plan(w.propagator(Config{}))
	relayed := w.relayOnce(server)
	taken, err := dead.Fetch(3, jetstream.FetchMaxWait(5*time.Second))
	require.NoError(t, err)
	batches := 0
	for range taken.Messages() {
		batches++
	}
	require.NoError(t, taken.Error())
	require.Equal(t, 3, batches)
	relayed()

	died := time.Now()
	w.run(server, Config{SweepEvery: time.Hour})
	w.awaitState(id, propagation.StateFinished)
	assert.Less(t, time.Since(died), 6*time.Second)
	w.requireVerified()
}

// The plans of everything that a change runs go by indexes, however many spans
// and open batches the tenant has.
func TestNoStatementReadsAWholeTable(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 200)...)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	for _, sql := range []string{
		`INSERT INTO employment_term (tenant_id, id, name, allows_inheritance, body) OVERRIDING SYSTEM VALUE SELECT 1, g, 'T' || g, true, '' FROM generate_series(6, 55) g`,
		`INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date)
			SELECT 1, g, 6 + g % 50, '2026-01-01', '3000-01-01' FROM generate_series(1000, 100000) g`,
		`INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count, assignment_id, inherited, propagation_id)
			SELECT 1, g, 0, '2020-01-01', '3000-01-01', 1, 0, 7, 50, true, 1 FROM generate_series(1000, 100000) g`,
		`INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, hides_day, body)
			SELECT 1, g, g, 'SHIFT', '2020-01-01', '2020-01-01', '2020-01-01', '' FROM generate_series(1000, 100000) g`,
		`INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) SELECT 1, g, '2020-01-01', '2020-02-01' FROM generate_series(1000, 100000) g`,
		`INSERT INTO propagation (tenant_id, cause, state, finished_at) SELECT 1, 'PATTERN', 'FINISHED', now() FROM generate_series(1, 50000) g`,
		`WITH p AS (INSERT INTO propagation (tenant_id, cause, state, started_at, applied_by, batches_total)
				VALUES (1, 'PATTERN', 'RUNNING', now(), 0, 20000) RETURNING id)
			INSERT INTO propagation_batch (tenant_id, propagation_id, batch, employee_ids, first_employee_id, buckets, turn)
			SELECT 1, id, g, ARRAY[1024 * g], 1024 * g, ARRAY[g], g FROM p, generate_series(1000, 21000) g`,
		`UPDATE propagation SET applied_by = id WHERE applied_by = 0`,
		`ANALYZE`,
	} {
		w.exec(sql)
	}
	p := w.propagator(Config{})
	recorded, statements := pgtest.Recorded(t, w.pool)
	p.pool = recorded
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.plan(p)
	require.NoError(t, p.process(w.ctx, batchKey{id, 0}))
	assert.Equal(t, propagation.StateFinished, w.state(id))
	_, err := propagation.Pending(w.ctx, recorded, ids(1, 500))
	require.NoError(t, err)
	plans := statements.AssertNoScan(t, w.ctx, w.pool, "span", "membership", "schedule_item", "day_lock", "propagation", "propagation_batch")
	assert.GreaterOrEqual(t, len(plans), 12)
}

// relayOnce runs a relay until the returned function is called.
func (w *fixture) relayOnce(server *natstest.Server) (stop func()) {
	w.t.Helper()
	relay, err := outbox.NewRelay(outbox.Options{
		Pool: w.pool, Bus: w.newBus(server), Log: pgtest.Log(w.t), Registry: newRegistry(), Poll: 5 * time.Millisecond,
	})
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- relay.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(w.t, <-done)
	}
}
