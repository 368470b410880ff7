package propagator

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// expecting starts a change of a term that has so many members, who may be on their
// way.
func (w *fixture) expecting(term, members int64) int64 {
	w.t.Helper()
	var id int64
	require.NoError(w.t, pg.InTx(w.ctx, w.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if id, err = propagation.Start(ctx, tx, propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{term}}); err != nil {
			return err
		}
		return propagation.Expect(ctx, tx, id, []propagation.Members{{TermID: term, Count: members}})
	}))
	return id
}

func (w *fixture) total(id int64) int {
	return w.count("SELECT employees_total FROM propagation WHERE id = $1", id)
}

func TestThePlanWaitsForMembersOnTheirWay(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.term(6)
	w.members(5, "2026-01-01", "3000-01-01", 1)
	w.members(6, "2026-01-01", "3000-01-01", 2)
	p := w.propagator(Config{})
	p.memberWait = time.Hour

	waits := w.expecting(5, 2)
	other := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{6}})
	same := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.plan(p)
	assert.Equal(t, propagation.StateAccepted, w.state(waits))
	assert.Equal(t, propagation.StateRunning, w.state(other), "others need not wait")
	assert.Equal(t, propagation.StateRunning, w.state(same), "nor those for whom nobody is missing")
	assert.Equal(t, 1, w.total(same))

	w.members(5, "2026-01-01", "3000-01-01", 3)
	w.plan(p)
	assert.Equal(t, propagation.StateRunning, w.state(waits))
	assert.Equal(t, 2, w.total(waits))
	assert.Zero(t, w.count("SELECT count(*) FROM membership_shortage"))
	assert.Zero(t, w.count("SELECT count(*) FROM replica_gap"))
}

func TestMembersWhoDoNotComeAreWaitedForOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", 1)
	p := w.propagator(Config{})
	p.memberWait = 0
	first := w.expecting(5, 3)
	w.plan(p)
	assert.Equal(t, propagation.StateRunning, w.state(first))
	assert.Equal(t, 1, w.total(first))
	assert.Equal(t, 1, w.count("SELECT count(*) FROM replica_gap WHERE topic = 'memberships' AND key = 0"), "memberships are compared with timekeeping")

	p.memberWait = time.Hour
	second := w.expecting(5, 3)
	third := w.expecting(5, 4)
	w.plan(p)
	assert.Equal(t, propagation.StateRunning, w.state(second), "they were waited for before")
	assert.Equal(t, propagation.StateAccepted, w.state(third), "this one has another member")

	w.members(5, "2026-01-01", "3000-01-01", 2, 3, 4)
	w.plan(p)
	assert.Equal(t, 4, w.total(third))
	assert.Zero(t, w.count("SELECT count(*) FROM membership_shortage"))
}

// No member, no other change and no sweep has the plan made: its time comes.
func TestTheRunningPropagatorEndsTheWait(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.memberWait = 300 * time.Millisecond
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", 1)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	proc := w.run(natstest.New(t), Config{SweepEvery: time.Hour})
	id := w.expecting(5, 2)
	proc.relay.Wake()
	w.await("the change is applied to those who are there", func() bool { return w.state(id) == propagation.StateFinished })
	assert.Equal(t, 1, w.count("SELECT count(*) FROM span"))
	assert.Equal(t, 1, w.count("SELECT members FROM membership_shortage WHERE employment_term_id = 5"))
}
