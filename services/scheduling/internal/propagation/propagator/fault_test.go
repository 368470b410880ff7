package propagator

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
)

// The hints of many changes arrive in any order, repeatedly, and at several workers at a time. The
// spans must match the tables in the end.
func TestHintsInAnyOrderEndInTheSame(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	random := rand.New(rand.NewPCG(1, 2))
	staff := ids(1015, 1034) // in two buckets
	for term := range int64(3) {
		w.term(term + 1)
	}
	for _, employee := range staff {
		w.members(1+random.Int64N(3), "2026-01-01", "2026-09-01", employee)
		w.members(1+random.Int64N(3), "2026-09-01", "3000-01-01", employee)
	}
	p := w.propagator(Config{})
	dates := []string{"2026-01-05", "2026-03-01", "2026-06-15", "2026-10-01", "2027-01-01", "2028-01-01"}
	var open []int64
	for round := range int64(40) {
		term, employee := 1+random.Int64N(3), staff[random.IntN(len(staff))]
		first := random.IntN(3)
		from, to := dates[first], dates[first+1+random.IntN(3)]
		req := propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{term}}
		switch random.IntN(7) {
		case 0, 1, 2:
			w.assign(assignment{id: 100 + round, term: term, from: from, to: to, pattern: 1 + random.IntN(20), override: random.IntN(3) > 0})
		case 3:
			w.assign(assignment{id: 100 + round, employee: employee, from: from, to: to, override: random.IntN(2) > 0, lane: 8})
			req = propagation.Request{Cause: propagation.CausePattern, EmployeeIDs: []int64{employee}}
		case 4:
			w.exec("UPDATE pattern_assignment SET believed_until = now() WHERE id = $1 AND employment_term_id IS NOT NULL", 100+random.Int64N(round+1))
			req.TermIDs = ids(1, 3)
		case 5:
			w.exec("UPDATE employment_term SET allows_inheritance = NOT allows_inheritance WHERE id = $1", term)
			req.Cause = propagation.CauseInheritance
		case 6:
			w.exec("UPDATE membership SET employment_term_id = $1 WHERE employee_id = $2 AND from_date = '2026-09-01'", term, employee)
			w.lock(employee, from, to)
			req = propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{employee}}
		}
		open = append(open, w.start(req))
		if random.IntN(3) == 0 {
			w.hint(p, random, open)
		}
	}
	w.hint(p, random, open)
	w.hint(p, random, open)
	for _, id := range open {
		assert.Equal(t, propagation.StateFinished, w.state(id))
		assert.Equal(t, w.get(id).GetEmployeesTotal(), w.get(id).GetEmployeesDone(), "each batch counts once")
	}
	require.Positive(t, w.count("SELECT count(*) FROM span"))
	require.Positive(t, w.count("SELECT count(*) FROM span_past"))
	w.requireVerified()
}

// hint gives the planner and the workers hints about propagations: in random
// order, several times, at once.
func (w *fixture) hint(p *Propagator, random *rand.Rand, propagations []int64) {
	w.t.Helper()
	var hints []int64
	for range 2 {
		hints = append(hints, propagations...)
	}
	random.Shuffle(len(hints), func(i, j int) { hints[i], hints[j] = hints[j], hints[i] })
	todo := make(chan int64)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for id := range todo {
				assert.NoError(w.t, p.process(w.ctx, batchKey{id, 1})) // perhaps before it is planned
				_, err := p.plan(w.ctx)
				assert.NoError(w.t, err)
				assert.NoError(w.t, p.process(w.ctx, batchKey{id, 0}))
				assert.NoError(w.t, p.process(w.ctx, batchKey{id, 1}))
			}
		})
	}
	for _, id := range hints {
		todo <- id
	}
	close(todo)
	workers.Wait()
}

// Two replicas share the batches of changes that follow one another at once;
// the later change wins everywhere.
func TestLaterChangeWinsUnderConcurrentWorkers(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	server := natstest.New(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 6000)...)
	w.run(server, Config{Concurrency: 2})
	w.run(server, Config{Concurrency: 2})
	var last int64
	for change := range int64(6) {
		w.assign(assignment{id: 50 + change, term: 5, from: "2026-01-05", pattern: int(7 + change), override: true})
		last = w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	}
	w.await("all finished", func() bool { return w.count("SELECT count(*) FROM propagation WHERE state <> 'FINISHED'") == 0 })
	assert.Equal(t, int64(6000), w.get(last).GetEmployeesDone())
	assert.Equal(t, 6000, w.count("SELECT count(*) FROM span WHERE pattern_id = 12"))
	w.requireVerified()
}

// A worker whose connection dies between reading and committing leaves nothing
// behind, and the batch is done by the next one.
func TestKilledWorkerLeavesNothingHalfDone(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	server := natstest.New(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 500)...)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.plan(w.propagator(Config{}))

	// The worker has written its spans when it comes to this row.
	blocker, err := w.pool.Begin(w.ctx)
	require.NoError(t, err)
	_, err = blocker.Exec(w.ctx, "SELECT FROM propagation WHERE id = $1 FOR UPDATE", id)
	require.NoError(t, err)
	w.run(server, Config{})
	const waiting = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%UPDATE propagation%'`
	for range 3 {
		w.await("the worker is about to commit", func() bool { return w.count("SELECT count(*) "+waiting) == 1 })
		w.exec("SELECT pg_terminate_backend(pid) " + waiting)
		w.await("it is gone", func() bool {
			return w.count("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND classid = 1") == 0
		})
		assert.Zero(t, w.count("SELECT count(*) FROM span"))
	}
	require.NoError(t, blocker.Rollback(w.ctx))
	w.awaitState(id, propagation.StateFinished)
	assert.Equal(t, int64(500), w.get(id).GetSpansWritten())
	w.requireVerified()
}

// The broker loses everything, and the outbox no longer has it: the sweep asks
// again.
func TestSweepAsksForWhatTheBrokerLost(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	server := natstest.New(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 3000)...)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	planned := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.plan(w.propagator(Config{}))
	accepted := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.exec("DELETE FROM outbox")
	server.Stop()
	server.Wipe()
	server.Start()

	proc := w.run(server, Config{SweepEvery: time.Hour, SweepAfter: time.Minute})
	reminded, err := proc.Sweep(t.Context())
	require.NoError(t, err)
	assert.Zero(t, reminded, "they have not stood still for long")
	w.exec("UPDATE propagation SET moved_at = now() - interval '61 seconds'")

	// While another process sweeps, this one does not.
	other, err := w.pool.Begin(w.ctx)
	require.NoError(t, err)
	require.NoError(t, lockSweep.Wait(tenant.All(w.ctx), other))
	reminded, err = proc.Sweep(t.Context())
	require.NoError(t, err)
	assert.Zero(t, reminded)
	require.NoError(t, other.Rollback(w.ctx))

	reminded, err = proc.Sweep(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 2, reminded)
	w.awaitState(planned, propagation.StateFinished)
	w.awaitState(accepted, propagation.StateFinished)
	w.requireVerified()
}

// A clock that was ahead leaves times that have not come yet. They do not keep a propagation
// from being asked for again.
func TestTheSweepIgnoresTimesOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.start(propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{1}})
	w.exec("UPDATE propagation SET moved_at = now() + interval '60 days', reminders = 6")
	p := w.propagator(Config{SweepAfter: time.Minute})
	for _, want := range []int{1, 0} {
		reminded, err := p.Sweep(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, reminded)
	}
}

func TestRemindersGetRarer(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.start(propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{1}})
	p := w.propagator(Config{SweepAfter: time.Minute})
	for wait, want := range []int{0: 1, 1: 0, 2: 1, 3: 0} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			w.exec("UPDATE propagation SET moved_at = now() - interval '90 seconds' * $1::int", 1+wait/2)
			reminded, err := p.Sweep(t.Context())
			require.NoError(t, err)
			assert.Equal(t, want, reminded, "sweep %d", wait)
		})
	}
	assert.Equal(t, 2, w.count("SELECT reminders FROM propagation"))
}

// An employee who cannot be updated does not delay others. The propagation fails for that employee
// alone, and completes when the cause is removed and it is replayed.
func TestAnEmployeeWhoCannotBeUpdatedFailsAlone(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	server := natstest.New(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", 1, 2, 3, 5000)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	w.assign(assignment{id: 60, employee: 2, from: "2026-01-05", lane: 99}) // this lane does not exist
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	same := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.run(server, Config{MaxDeliver: 2})
	w.awaitState(id, propagation.StateFailed)
	w.awaitState(same, propagation.StateFailed)
	for _, employee := range []int64{1, 3, 5000} {
		t.Run(fmt.Sprint(employee), func(t *testing.T) {
			assert.Len(t, w.spans(employee), 1, employee)
		})
	}
	failed := w.get(id)
	assert.Equal(t, textFailed, failed.GetError(), "the cause stays inside")
	assert.Equal(t, int64(3), failed.GetEmployeesDone())
	assert.Zero(t, w.count("SELECT count(*) FROM dead_letter"), "the propagation itself shows what is left")
	pending, err := propagation.Pending(w.ctx, w.pool, []int64{1, 2, 3, 5000})
	require.NoError(t, err)
	assert.Equal(t, map[int64][]propagation.Open{2: {
		{ID: id, Cause: propagation.CausePattern, State: propagation.StateFailed},
		{ID: same, Cause: propagation.CausePattern, State: propagation.StateFailed},
	}}, pending)

	// Another change goes past it.
	other := w.start(propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{1, 3}})
	w.awaitState(other, propagation.StateFinished)

	assert.Error(t, Replay(tenant.With(t.Context(), 2), w.pool, id, time.Now()), "nobody else's")
	w.exec("UPDATE pattern_assignment SET lane = 8 WHERE id = 60")
	require.NoError(t, Replay(w.ctx, w.pool, same, time.Now()))
	for _, one := range []int64{id, same} {
		t.Run(fmt.Sprint(one), func(t *testing.T) {
			w.awaitState(one, propagation.StateFinished)
			assert.Empty(t, w.get(one).GetError())
			assert.Equal(t, int64(4), w.get(one).GetEmployeesDone())
		})
	}
	assert.Len(t, w.spans(2), 2)
	assert.True(t, fault.HasCode(Replay(w.ctx, w.pool, id, time.Now()), fault.CodeConflict), "it has not failed")
	w.requireVerified()
}

// A failed propagation is retried without an operator, and a later change that succeeds completes
// it.
func TestFailedPropagationsAreTriedAgain(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	server := natstest.New(t)
	w.assign(assignment{id: 60, employee: 7, from: "2026-01-05", lane: 99})
	w.assign(assignment{id: 61, employee: 9, from: "2026-01-05", lane: 99})
	swept := w.start(propagation.Request{Cause: propagation.CausePattern, EmployeeIDs: []int64{7}})
	overtaken := w.start(propagation.Request{Cause: propagation.CausePattern, EmployeeIDs: []int64{9}})
	proc := w.run(server, Config{SweepEvery: 20 * time.Millisecond, SweepAfter: 50 * time.Millisecond})
	w.awaitState(swept, propagation.StateFailed)
	w.awaitState(overtaken, propagation.StateFailed)
	w.exec("UPDATE pattern_assignment SET lane = 8 WHERE id = 60")
	w.awaitState(swept, propagation.StateFinished)
	assert.Equal(t, propagation.StateFailed, w.state(overtaken))
	proc.stop()

	w.exec("UPDATE pattern_assignment SET lane = 8 WHERE id = 61")
	w.apply(w.start(propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{9, 10}}))
	assert.Equal(t, propagation.StateFinished, w.state(overtaken))
	w.requireVerified()
}

// Verify reports the differences.
func TestVerifyFindsDifferences(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 2500)...)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	w.apply(w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}}))
	w.requireVerified()
	w.exec("DELETE FROM span WHERE employee_id = 2400")
	w.exec("UPDATE span SET position = 3 WHERE employee_id = 1200")
	w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	report, err := reconcile.Verify(tenant.With(t.Context(), testTenant), w.pool, nil)
	require.NoError(t, err)
	assert.Equal(t, reconcile.Report{
		Employees: 2500, Spans: 2499, Unfinished: 1, Different: 2, Differences: report.Differences,
	}, report)
	require.Len(t, report.Differences, 2)
	assert.Equal(t, int64(1200), report.Differences[0].EmployeeID)
	assert.Len(t, report.Differences[0].Surplus, 1)
	assert.Len(t, report.Differences[1].Missing, 1)
}

func TestTheRunningPropagatorPurgesOldData(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.exec(`INSERT INTO propagation (tenant_id, cause, state, finished_at, applied_by) VALUES (1, 'PATTERN', 'FINISHED', clock_timestamp() - interval '49 hours', 0)`)
	w.run(natstest.New(t), Config{KeepHistory: 48 * time.Hour})
	w.await("it is gone", func() bool { return w.count("SELECT count(*) FROM propagation") == 0 })
}
