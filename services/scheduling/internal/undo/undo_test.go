package undo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

const (
	warehouse = 55
	anna      = 1
)

// newWarehouse is a term with one employee and a pattern.
func newWarehouse(t *testing.T) (w *fixture, assignment int64) {
	w = newFixture(t)
	w.term(warehouse)
	w.employee(anna, warehouse)
	assignment, _ = w.assign(warehouse, "2025-03-01", "2025-03-31", false, "EARLY", "")
	w.settle()
	return w, assignment
}

// The schedule after an undo has the same shifts with the same ids, whatever the change did, and the
// redo brings the changed shifts back with their ids.
func TestUndoRestoresShiftsAndIDs(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *fixture, id int64) int64{
		"an added pattern": func(w *fixture, _ int64) int64 {
			_, propagation := w.assign(warehouse, "2025-03-10", "", false, "LATE")
			return propagation
		},
		"an override of all days": func(w *fixture, _ int64) int64 {
			_, propagation := w.assign(warehouse, "2025-01-01", "", true, "LATE", "", "NIGHT")
			return propagation
		},
		"another pattern":            func(w *fixture, id int64) int64 { return w.recreate(id, "NIGHT", "LATE") },
		"another pattern from a day": func(w *fixture, id int64) int64 { return w.replaceFrom(id, "2025-03-10", "LATE") },
		"removed days":               func(w *fixture, id int64) int64 { return w.takeAway(id, "2025-03-10", "2025-03-20") },
		"a removed pattern":          func(w *fixture, id int64) int64 { return w.remove(id) },
		"a term that passes nothing on": func(w *fixture, _ int64) int64 {
			return w.passOn(warehouse, false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, id := newWarehouse(t)
			deleted := w.read(anna, "2025-03-05", "2025-03-05")[0].GetId()
			_, err := w.shifts.DeleteShift(w.Ctx, &schedulingv1.DeleteShiftRequest{Id: deleted})
			require.NoError(t, err)
			before := w.readShown(anna, "2025-03-01", "2025-04-10")
			changed := change(w, id)
			w.settle()
			assert.Equal(t, "POSSIBLE", w.undoState(changed))
			during := w.readShown(anna, "2025-03-01", "2025-04-10")
			require.NotEqual(t, before, during)

			undone := w.undo(changed)
			w.settle()
			assert.Equal(t, before, w.readShown(anna, "2025-03-01", "2025-04-10"))
			assert.Equal(t, "DONE", w.undoState(changed))
			assert.Equal(t, "POSSIBLE", w.undoState(undone))

			w.undo(undone)
			w.settle()
			assert.Equal(t, during, w.readShown(anna, "2025-03-01", "2025-04-10"), "the redo")
			_, err = w.propagations.UndoPropagation(w.Ctx, &schedulingv1.UndoPropagationRequest{Id: changed})
			f := faulttest.Require(t, err, propagation.CodeNotUndoable, 409)
			assert.Contains(t, f.Message, "undone before")
		})
	}
}

// Later decisions refuse a strict undo, and stay when the rest is undone.
func TestLaterDecisionsStay(t *testing.T) {
	t.Parallel()
	w, id := newWarehouse(t)
	other, created := w.assign(warehouse, "2025-03-01", "2025-03-31", false, "LATE")
	w.settle()
	divided := w.replaceFrom(id, "2025-03-10", "NIGHT")
	w.settle()
	w.recreate(other, "MIDDAY")
	_, overriding := w.assign(warehouse, "2025-03-12", "2025-03-14", true, "EARLY")
	w.settle()
	assert.Equal(t, "BLOCKED", w.undoState(created))
	assert.Equal(t, "BLOCKED", w.undoState(divided))
	assert.Equal(t, "POSSIBLE", w.undoState(overriding))

	_, err := w.propagations.UndoPropagation(w.Ctx, &schedulingv1.UndoPropagationRequest{Id: created})
	f := faulttest.Require(t, err, propagation.CodeBuiltOn, 409)
	require.Len(t, f.Details.GetErrors(), 1)
	assert.Contains(t, f.Details.GetErrors()[0].GetMessage(), "was changed later")
	_, err = w.propagations.UndoPropagation(w.Ctx, &schedulingv1.UndoPropagationRequest{Id: created, Body: &schedulingv1.UndoPropagation{Mode: "REMAINING"}})
	assert.True(t, fault.HasCode(err, propagation.CodeBuiltOn), "nothing else is left: %v", err)

	_, err = w.propagations.UndoPropagation(w.Ctx, &schedulingv1.UndoPropagationRequest{Id: divided})
	f = faulttest.Require(t, err, propagation.CodeBuiltOn, 409)
	assert.Contains(t, f.Details.GetErrors()[0].GetMessage(), "was hidden later")
	response, err := w.propagations.UndoPropagation(w.Ctx, &schedulingv1.UndoPropagationRequest{Id: divided, Body: &schedulingv1.UndoPropagation{Mode: "remaining"}})
	require.NoError(t, err)
	require.Len(t, response.GetLaterDecisions(), 1)
	assert.Equal(t, "OVERRIDDEN", response.GetLaterDecisions()[0].GetReason())
	w.settle()
	assert.Len(t, w.read(anna, "2025-03-12", "2025-03-14"), 3, "the override stays")
	assert.Len(t, w.read(anna, "2025-03-16", "2025-03-17"), 3, "below it, the first pattern is back")

	w.undo(overriding)
	w.settle()
	assert.Equal(t, "BLOCKED", w.undoState(created), "the other pattern is still changed")
}

// Changes can be undone one after the other, the newest first.
func TestChangesAreUndoneInReverseOrder(t *testing.T) {
	t.Parallel()
	w, id := newWarehouse(t)
	var changes []int64
	var before [][]string
	for _, change := range []func() int64{
		func() int64 { return w.recreate(id, "LATE") },
		func() int64 { return w.replaceFrom(id, "2025-03-15", "NIGHT") },
		func() int64 { return w.takeAway(id, "2025-03-05", "2025-03-06") },
		func() int64 { return w.remove(id) },
	} {
		before = append(before, w.readShown(anna, "2025-03-01", "2025-04-10"))
		changes = append(changes, change())
		w.settle()
	}
	for i := len(changes) - 1; i >= 0; i-- {
		assert.Equal(t, "POSSIBLE", w.undoState(changes[i]))
		if i > 0 {
			assert.Equal(t, "BLOCKED", w.undoState(changes[i-1]))
		}
		w.undo(changes[i])
		w.settle()
		assert.Equal(t, before[i], w.readShown(anna, "2025-03-01", "2025-04-10"))
	}
}

// Days that were locked after the change keep it, and so do hand-made entries.
func TestLockedDaysAndHandEntriesStay(t *testing.T) {
	t.Parallel()
	w, id := newWarehouse(t)
	before := w.readShown(anna, "2025-03-12", "2025-03-31")
	changed := w.recreate(id, "LATE")
	w.settle()
	w.lock(anna, "2025-03-08", "2025-03-11")
	locked := w.readShown(anna, "2025-03-08", "2025-03-11")
	undone := w.undo(changed)
	w.settle()
	assert.Equal(t, locked, w.readShown(anna, "2025-03-08", "2025-03-11"))
	assert.Equal(t, before, w.readShown(anna, "2025-03-12", "2025-03-31"))
	response, err := w.propagations.GetPropagation(w.Ctx, &schedulingv1.GetPropagationRequest{Id: undone})
	require.NoError(t, err)
	require.Len(t, response.GetSkipped(), 1)
	assert.Equal(t, "LOCKED_DAYS", response.GetSkipped()[0].GetReason())
}

// Refused undos say why.
func TestWhatCannotBeUndone(t *testing.T) {
	t.Parallel()
	w, id := newWarehouse(t)
	w.member(anna, warehouse, "2025-03-05")
	membership := w.newest()
	w.settle()
	changed := w.recreate(id, "LATE")
	w.settle()
	ask := func(id int64, mode string) error {
		_, err := w.propagations.UndoPropagation(w.Ctx, &schedulingv1.UndoPropagationRequest{Id: id, Body: &schedulingv1.UndoPropagation{Mode: mode}})
		return err
	}
	assert.Equal(t, "NEVER", w.undoState(membership))
	assert.Contains(t, faulttest.Require(t, ask(membership, ""), propagation.CodeNotUndoable, 409).Message, "employment terms of the persons")
	faulttest.Require(t, ask(999, ""), fault.CodeNotFound, 404)
	faulttest.Require(t, ask(changed, "SOME"), fault.CodeBadRequest, 400)

	w.Exec(t, `UPDATE propagation SET accepted_at = now() - interval '30 days 1 second' WHERE id = $1`, changed)
	assert.Equal(t, "EXPIRED", w.undoState(changed))
	faulttest.Require(t, ask(changed, ""), propagation.CodeTooOld, 410)

	w.Exec(t, `UPDATE propagation SET accepted_at = now(), state = 'RUNNING' WHERE id = $1`, changed)
	assert.Equal(t, "BLOCKED", w.undoState(changed))
	assert.Contains(t, faulttest.Require(t, ask(changed, ""), propagation.CodeNotUndoable, 409).Message, "RUNNING")
	w.Exec(t, `UPDATE propagation SET state = 'FINISHED' WHERE id = $1`, changed)
}

// An employee's own pattern is undone by callers who see the employee, and not by the employee.
func TestRowRulesOfUndo(t *testing.T) {
	t.Parallel()
	w, _ := newWarehouse(t)
	before := w.readShown(anna, "2025-03-01", "2025-04-10")
	_, changed := w.assignOwn(anna, "2025-03-05", "", true, "NIGHT")
	w.settle()
	require.NotEqual(t, before, w.readShown(anna, "2025-03-01", "2025-04-10"))
	w.undo(changed)
	w.settle()
	assert.Equal(t, before, w.readShown(anna, "2025-03-01", "2025-04-10"))
}
