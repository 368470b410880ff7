package hiddenentry_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const march10 = "2025-03-10"

// An older assignment that is extended takes other layers than before, and hides no shifts of other
// assignments.
func TestExtendingAnOlderAssignment(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.assign(warehouse, "2025-01-01", "2025-02-28", false, "EARLY")
	w.assign(warehouse, "2025-03-01", "", false, "LATE")
	w.delete(anna, march10, "LATE")
	edited := w.edit(anna, "2025-03-11", "LATE")
	assert.Empty(t, w.day(anna, march10))

	w.endOn(a, "2025-12-31")
	assert.Equal(t, []string{"EARLY", "LATE"}, w.day(colleague, march10))
	assert.Equal(t, []string{"EARLY"}, w.day(anna, march10))
	assert.Equal(t, []string{"EARLY", "LATE*"}, w.day(anna, "2025-03-11"))
	assert.Equal(t, []string{"EARLY", "LATE"}, w.day(anna, "2025-03-12"))
	w.endOn(a, "2025-02-28")
	assert.Empty(t, w.day(anna, march10))
	assert.Equal(t, []string{"LATE*"}, w.day(anna, "2025-03-11"))
	assert.Equal(t, edited, w.find(anna, "2025-03-11", "LATE"))
}

func TestAnOverrideComesAndGoes(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.assign(warehouse, "2025-01-01", "", false, "EARLY")
	night := w.assign(warehouse, "2025-01-01", "", false, "NIGHT")
	w.delete(anna, march10, "NIGHT")
	id := w.find(anna, march10, "EARLY")

	override := w.assign(warehouse, "2025-03-01", "2025-03-31", true, "LATE")
	other := w.assign(warehouse, "2025-03-05", "2025-03-20", false, "EARLY", "NIGHT")
	assert.Equal(t, []string{"EARLY", "LATE", "NIGHT"}, w.day(anna, march10), "nobody touched these")
	w.delete(anna, march10, "LATE")
	w.remove(override)
	assert.Equal(t, []string{"EARLY", "EARLY", "NIGHT"}, w.day(anna, march10))
	assert.Equal(t, []string{"EARLY", "EARLY", "NIGHT", "NIGHT"}, w.day(colleague, march10))
	w.remove(other)
	assert.Equal(t, []string{"EARLY"}, w.day(anna, march10))
	assert.Equal(t, id, w.find(anna, march10, "EARLY"))
	w.remove(night)
	assert.Equal(t, []string{"EARLY"}, w.day(anna, march10))
	w.assign(warehouse, "2025-01-01", "", false, "NIGHT")
	assert.Equal(t, []string{"EARLY", "NIGHT"}, w.day(anna, march10), "an assignment that is made anew is another one")
}

func TestAnotherOrderOfADay(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.assign(warehouse, "2025-01-01", "", false, "EARLY", "LATE", "NIGHT")
	w.delete(anna, march10, "EARLY")
	w.edit(anna, march10, "NIGHT")
	for i, order := range [][]string{{"LATE", "NIGHT", "EARLY"}, {"NIGHT", "EARLY", "LATE"}, {"EARLY", "LATE", "NIGHT"}} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			w.recreate(a, order...)
			assert.Equal(t, []string{"EARLY", "LATE", "NIGHT"}, w.day(colleague, march10))
			assert.Equal(t, []string{"LATE", "NIGHT*"}, w.day(anna, march10), "%v", order)
		})
	}
	w.recreate(a, "TRAINING", "LATE", "EARLY")
	assert.Equal(t, []string{"LATE", "NIGHT*", "TRAINING"}, w.day(anna, march10))
}

func TestADeletedShiftHidesNoPayCodeEdit(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.assign(warehouse, "2025-01-01", "", false, "EARLY")
	w.delete(anna, march10, "EARLY")
	w.recreate(a, "TRAINING")
	assert.Equal(t, []string{"TRAINING"}, w.day(colleague, march10))
	assert.Equal(t, []string{"TRAINING"}, w.day(anna, march10))
	w.recreate(a, "TRAINING", "EARLY")
	assert.Equal(t, []string{"TRAINING"}, w.day(anna, march10))
}

func TestMovesBetweenTerms(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.assign(warehouse, "2025-01-01", "", false, "EARLY")
	w.assign(office, "2025-01-01", "", false, "EARLY", "LATE")
	w.delete(anna, march10, "EARLY")
	w.edit(anna, "2025-03-11", "EARLY")
	w.member(anna, "55 2025-01-01 2025-03-01", "56 2025-03-01 3000-01-01")
	w.member(colleague, "55 2025-01-01 2025-03-01", "56 2025-03-01 3000-01-01")
	assert.Equal(t, []string{"EARLY", "LATE"}, w.day(colleague, march10))
	assert.Equal(t, []string{"EARLY", "LATE"}, w.day(anna, march10), "the deletion was of the old term's shift")
	w.delete(anna, march10, "LATE")
	w.member(anna, "55 2025-01-01 3000-01-01")
	assert.Empty(t, w.day(anna, march10), "back again, it is still deleted")
	assert.Equal(t, []string{"EARLY*"}, w.day(anna, "2025-03-11"))
	w.member(anna, "56 2025-01-01 3000-01-01")
	assert.Equal(t, []string{"EARLY"}, w.day(anna, march10))
}

// An employee's own pattern lies above the pattern of the term.
func TestOwnPattern(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.assign(warehouse, "2025-01-01", "", false, "EARLY")
	w.delete(anna, march10, "EARLY")
	w.Exec(w.t, `INSERT INTO pattern_assignment (tenant_id, id, version, employee_id, from_date, to_date, pattern_id, day_count, anchor,
		start_date_offset, override, lane, seq, propagation_id, lineage_id, entries_per_day)
		SELECT 1, 9999, 1, 1, '2025-03-01', '2025-04-01', pattern_id, 1, '2025-03-01', 0, true, 0, 9999, 0, 9999, 1 FROM pattern_assignment`)
	w.member(anna, "55 2025-01-01 3000-01-01")
	assert.Equal(t, []string{"EARLY"}, w.day(anna, march10), "of the same pattern, and yet another shift")
	w.delete(anna, "2025-03-12", "EARLY")
	w.Exec(w.t, `UPDATE pattern_assignment SET believed_until = now() WHERE id = 9999`)
	w.member(anna, "55 2025-01-01 3000-01-01")
	assert.Empty(t, w.day(anna, march10))
	assert.Equal(t, []string{"EARLY"}, w.day(anna, "2025-03-12"))
}

// Splits, another pattern from a day on, and other dates keep the lineage.
func TestTheLineageSurvives(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.assign(warehouse, "2025-01-01", "", false, "EARLY", "LATE")
	w.delete(anna, march10, "EARLY")
	w.delete(anna, "2025-06-10", "LATE")
	early := w.find(anna, "2025-06-10", "EARLY")
	w.takeAway(a, "2025-04-01", "2025-04-30")
	assert.Equal(t, []string{"LATE"}, w.day(anna, march10))
	assert.Equal(t, []string{"EARLY"}, w.day(anna, "2025-06-10"))
	assert.Equal(t, early, w.find(anna, "2025-06-10", "EARLY"), "what nobody touched keeps its id")
	b := w.changeAsOf(a, "2025-03-05", "LATE", "EARLY", "NIGHT")
	assert.NotEqual(t, a, b)
	assert.Equal(t, []string{"LATE", "NIGHT"}, w.day(anna, march10))
	w.takeAway(b, "2025-03-09", "2025-03-11")
	assert.Empty(t, w.day(colleague, march10))
	assert.Empty(t, w.day(anna, march10))
	w.recreate(b, "EARLY", "NIGHT")
	w.endOn(b, "2025-03-31")
	assert.Equal(t, []string{"EARLY", "NIGHT"}, w.day(colleague, march10))
	assert.Equal(t, []string{"NIGHT"}, w.day(anna, march10))
}

// An id names the same entry or nothing.
func TestAnIDNamesNothingElse(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.assign(warehouse, "2025-01-01", "", false, "EARLY")
	early := w.find(anna, march10, "EARLY")
	w.recreate(a, "LATE")
	_, err := w.shifts.DeleteShift(w.Ctx, &schedulingv1.DeleteShiftRequest{Id: early})
	requireStatus(t, err, http.StatusNotFound)
	_, err = w.shifts.GetShift(w.Ctx, &schedulingv1.GetShiftRequest{Id: early})
	requireStatus(t, err, http.StatusBadRequest)
	assert.Equal(t, []string{"LATE"}, w.day(anna, march10))
	w.recreate(a, "EARLY")
	assert.Equal(t, []string{"EARLY"}, w.day(anna, march10))
}

func requireStatus(t *testing.T, err error, status int) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, status, fault.FromError(err).Status, err)
}

// A shift that was moved to another employee leaves its old place, also when its pattern moves.
func TestAShiftMovedToAnother(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.assign(warehouse, "2025-01-01", "2025-02-28", false, "NIGHT")
	a := w.assign(warehouse, "2025-03-01", "", false, "EARLY", "LATE")
	id := w.find(anna, march10, "EARLY")
	got, err := w.shifts.GetShift(w.Ctx, &schedulingv1.GetShiftRequest{Id: id})
	require.NoError(t, err)
	got.Employee.Id, got.Employee.Qualifier, got.Segments = new(int64(colleague)), nil, nil
	_, err = w.shifts.UpdateShift(w.Ctx, &schedulingv1.UpdateShiftRequest{Id: id, Shift: got})
	require.NoError(t, err)
	w.recreate(a, "LATE", "EARLY")
	assert.Equal(t, []string{"LATE"}, w.day(anna, march10))
	assert.Equal(t, []string{"EARLY", "EARLY*", "LATE"}, w.day(colleague, march10))
	_, err = w.shifts.DeleteShift(w.Ctx, &schedulingv1.DeleteShiftRequest{Id: id})
	require.NoError(t, err)
	w.recreate(a, "EARLY")
	assert.Empty(t, w.day(anna, march10))
	assert.Equal(t, []string{"EARLY"}, w.day(colleague, march10))
}

// An employee who leaves the company keeps no entries of the term's schedule. Shifts that were
// entered by hand do not belong to the term.
func TestAnEditedShiftGoesWithTheEmployment(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.assign(warehouse, "2025-01-01", "", false, "EARLY")
	id := w.edit(anna, march10, "EARLY")
	w.edit(anna, "2025-02-10", "EARLY")
	w.edit(anna, "2025-03-20", "EARLY")
	_, err := w.shifts.CreateShift(w.Ctx, &schedulingv1.Shift{
		Employee: &commonv1.Ref{Id: new(int64(anna))}, StartDateTime: "2025-03-10T22:00:00", EndDateTime: "2025-03-10T23:00:00",
	})
	require.NoError(t, err)
	w.remove(w.assign(office, "2025-01-01", "", false, "LATE"))
	w.Exec(w.t, `INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, 1, '2025-03-20', '2025-03-21')`)

	w.member(anna, "55 2025-01-01 2025-03-01")
	assert.Equal(t, []string{"NIGHT*"}, w.day(anna, march10))
	assert.Equal(t, []string{"EARLY*"}, w.day(anna, "2025-02-10"))
	assert.Equal(t, []string{"EARLY*"}, w.day(anna, "2025-03-20"), "the day is locked")
	_, err = w.shifts.GetShift(w.Ctx, &schedulingv1.GetShiftRequest{Id: id})
	requireStatus(t, err, http.StatusBadRequest)
	_, err = w.shifts.DeleteShift(w.Ctx, &schedulingv1.DeleteShiftRequest{Id: id})
	requireStatus(t, err, http.StatusNotFound)

	w.member(anna, "55 2025-01-01 2025-03-01", "56 2025-03-01 3000-01-01")
	assert.Equal(t, []string{"EARLY*", "NIGHT*"}, w.day(anna, march10), "on another term it is there, as any shift that somebody entered")
	w.member(anna, "55 2025-01-01 3000-01-01")
	assert.Equal(t, []string{"EARLY*", "NIGHT*"}, w.day(anna, march10))
	w.remove(a)
	assert.Equal(t, []string{"EARLY*", "NIGHT*"}, w.day(anna, march10), "the pattern is gone, the person is not")
}
