package propagator

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
)

// finish applies a change of employees in its own transaction, as memberships are changed.
func (w *fixture) finish(employees ...int64) (id int64) {
	w.t.Helper()
	require.NoError(w.t, pg.InTx(w.ctx, w.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if err := employeelock.Lock(ctx, tx, employees); err != nil {
			return err
		}
		id, err = reconcile.Finish(ctx, tx, propagation.CauseMembership, employees)
		return err
	}))
	return id
}

// A change of few employees is applied when its transaction commits, without a propagator.
func TestSmallChangesAreAppliedAtOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", 1, 2)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	w.lock(2, "2026-02-01", "2026-02-03")
	p := w.get(w.finish(2, 1, 2))
	assert.Equal(t, "FINISHED", p.GetState())
	assert.EqualValues(t, 2, p.GetEmployeesTotal())
	assert.EqualValues(t, 2, p.GetEmployeesDone())
	assert.EqualValues(t, 1, p.GetSkipped()[0].GetEmployees(), "one of them has locked days")
	assert.Len(t, w.spans(1), 1)
	assert.Empty(t, w.listBatches(), "nothing is left for a propagator")
	w.requireVerified()
}

// A change of more employees than a request may name goes to the propagators.
func TestLargeChangesAreApplied(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 101)...)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	id := w.finish(ids(1, 101)...)
	assert.Equal(t, propagation.StateAccepted, w.state(id))
	w.apply(id)
	assert.Len(t, w.spans(101), 1)
	w.requireVerified()
}

// An employee whom the database refuses neither refuses the change nor holds the others up.
func TestChangesOfAFailingEmployeeGoToThePropagators(t *testing.T) {
	t.Parallel()
	for _, c := range poisons() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			w.term(5)
			w.members(5, "2026-01-01", "3000-01-01", 6, 7)
			w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
			w.finish(6, 7)
			before := w.spans(6)
			w.assign(assignment{id: 51, term: 5, from: "2026-01-05", pattern: 3, override: true})
			w.execAll(c.add)
			id := w.finish(6, 7)
			assert.Equal(t, propagation.StateAccepted, w.state(id))
			assert.Equal(t, before, w.spans(6), "the savepoint leaves nothing behind")
			w.execAll(c.cure)
			w.apply(id)
			assert.NotEqual(t, before, w.spans(6))
			w.requireVerified()
		})
	}
}
