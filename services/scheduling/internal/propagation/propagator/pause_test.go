package propagator

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
)

func (w *fixture) handler() *propagation.Handler {
	return propagation.NewHandler(w.pool, seesEverybody, propagation.Undos{}, pgtest.Log(w.t))
}

func (w *fixture) pause(id int64, reason string) *schedulingv1.Propagation {
	w.t.Helper()
	ctx := authn.With(w.ctx, &authn.Principal{Tenant: testTenant, Subject: "planner"}, "")
	p, err := w.handler().PausePropagation(ctx, &schedulingv1.PausePropagationRequest{Id: id, Reason: reason})
	require.NoError(w.t, err)
	return p
}

func (w *fixture) resume(id int64) *schedulingv1.Propagation {
	w.t.Helper()
	p, err := w.handler().ResumePropagation(w.ctx, &schedulingv1.ResumePropagationRequest{Id: id})
	require.NoError(w.t, err)
	return p
}

// threeBatches starts a change of three batches and plans it. Two of them are requested.
func (w *fixture) threeBatches() (*Propagator, int64) {
	w.t.Helper()
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1024, 4*1024-1)...)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	p := w.propagator(Config{Window: 2, SweepAfter: time.Nanosecond})
	w.plan(p)
	return p, id
}

// Paused batches wait: for hints of the broker, the sweep and replays. They take no place in the
// window, and continue when they are resumed.
func TestPausedBatchesWait(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	p, id := w.threeBatches()
	require.NoError(t, p.process(w.ctx, batchKey{id, 0}))

	paused := w.pause(id, "wrong rotation")
	assert.Equal(t, "PAUSED", paused.GetState())
	assert.Equal(t, "planner", paused.GetPausedBy())
	assert.Equal(t, "wrong rotation", paused.GetPauseReason())
	assert.NotEmpty(t, paused.GetPausedAt())
	assert.Empty(t, w.listBatches())
	for batch := range int32(3) {
		require.NoError(t, p.process(w.ctx, batchKey{id, batch}))
	}
	reminded, err := p.Sweep(w.ctx)
	require.NoError(t, err)
	assert.Zero(t, reminded)
	assert.True(t, fault.HasCode(Replay(w.ctx, w.pool, id, clock.System{}.Now()), fault.CodeConflict))
	assert.EqualValues(t, 1024, w.get(id).GetEmployeesDone())

	other := w.start(propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: ids(50_000, 50_010)})
	w.plan(p)
	assert.Equal(t, []batchKey{{other, 0}}, w.listBatches(), "the window is free for others")

	resumed := w.resume(id)
	assert.Equal(t, "RUNNING", resumed.GetState())
	assert.Empty(t, resumed.GetPausedAt())
	assert.Empty(t, resumed.GetPausedBy())
	w.plan(p) // The hint of the resumption.
	assert.Len(t, w.listBatches(), 2)
	require.NoError(t, p.process(w.ctx, batchKey{other, 0}))
	for batch := range int32(3) {
		require.NoError(t, p.process(w.ctx, batchKey{id, batch}))
	}
	assert.Equal(t, propagation.StateFinished, w.state(id))
	assert.EqualValues(t, 3*1024, w.get(id).GetEmployeesDone())
	w.requireVerified()
}

// A change that waits for the planner is paused as well.
func TestAWaitingPropagationIsPaused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", 1)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.pause(id, "")
	w.plan(w.propagator(Config{}))
	assert.Equal(t, propagation.StatePaused, w.state(id))
	assert.Equal(t, propagation.StateAccepted, w.resume(id).GetState())
	w.apply(id)
	assert.Equal(t, propagation.StateFinished, w.state(id))
	w.requireVerified()
}

// Employees of a paused propagation who get another change get both, and count as done. When all of
// them have it, the paused propagation is finished.
func TestAnotherChangeAppliesAPausedOne(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	p, id := w.threeBatches()
	w.pause(id, "")
	require.NoError(t, pg.InTx(w.ctx, w.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := employeelock.Lock(ctx, tx, []int64{1031}); err != nil {
			return err
		}
		return reconcile.Apply(ctx, tx, []int64{1031})
	}))
	assert.Len(t, w.spans(1031), 1, "the paused change is part of the newest state")
	assert.Empty(t, w.spans(1032))

	w.assign(assignment{id: 51, term: 5, from: "2026-06-01", override: true})
	later := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}, EmployeeIDs: []int64{1024}})
	w.plan(p)
	for batch := range int32(3) {
		require.NoError(t, p.process(w.ctx, batchKey{later, batch}))
	}
	assert.Equal(t, propagation.StateFinished, w.state(later))
	assert.Equal(t, propagation.StateFinished, w.state(id))
	assert.Empty(t, w.get(id).GetPausedAt(), "it is not paused any more")
	w.requireVerified()
}

// Failed batches are resumed too, and an attempt that fails during the pause does
// not end the pause.
func TestFailuresOfAPausedPropagation(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	p, id := w.threeBatches()
	require.NoError(t, p.giveUp(w.ctx, batchKey{id, 0}, assert.AnError))
	assert.Equal(t, propagation.StateFailed, w.state(id))
	w.pause(id, "")
	require.NoError(t, p.giveUp(w.ctx, batchKey{id, 1}, assert.AnError))
	assert.Equal(t, propagation.StatePaused, w.state(id))
	assert.Equal(t, "RUNNING", w.resume(id).GetState())
	assert.Zero(t, w.count("SELECT count(*) FROM propagation_batch WHERE state <> 'WAITING'"))
	for batch := range int32(3) {
		require.NoError(t, p.process(w.ctx, batchKey{id, batch}))
	}
	assert.Equal(t, propagation.StateFinished, w.state(id))
}

// Running processes stop and continue.
func TestPauseOfRunningWorkers(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 20_000)...)
	w.run(natstest.New(t), Config{SweepAfter: 50 * time.Millisecond, SweepEvery: 10 * time.Millisecond})
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.pause(id, "")
	var done int
	w.await("the workers complete what they began", func() bool {
		before := done
		done = w.count("SELECT employees_done FROM propagation WHERE id = $1", id)
		return before == done && w.count("SELECT count(*) FROM propagation_batch WHERE state <> 'PAUSED'") == 0
	})
	assert.Equal(t, propagation.StatePaused, w.state(id))
	w.resume(id)
	w.awaitState(id, propagation.StateFinished)
	assert.EqualValues(t, 20_000, w.get(id).GetEmployeesDone())
	w.requireVerified()
}

// Propagations that can be neither paused nor resumed say so.
func TestRefusedPauses(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, id := w.threeBatches()
	pause := func(id int64) error {
		_, err := w.handler().PausePropagation(w.ctx, &schedulingv1.PausePropagationRequest{Id: id})
		return err
	}
	resume := func(id int64) error {
		_, err := w.handler().ResumePropagation(w.ctx, &schedulingv1.ResumePropagationRequest{Id: id})
		return err
	}
	faulttest.Require(t, pause(999), fault.CodeNotFound, 404)
	faulttest.Require(t, resume(999), fault.CodeNotFound, 404)
	faulttest.Require(t, resume(id), propagation.CodePause, 409)
	require.NoError(t, pause(id))
	faulttest.Require(t, pause(id), propagation.CodePause, 409)
	w.exec("UPDATE propagation SET state = 'FINISHED'")
	faulttest.Require(t, pause(id), propagation.CodePause, 409)
	faulttest.Require(t, resume(id), propagation.CodePause, 409)
}
