package scheduleitem_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
)

func (f *fixture) update(id int64, s *schedulingv1.Shift) (*schedulingv1.Shift, error) {
	return f.shifts.UpdateShift(f.Ctx, &schedulingv1.UpdateShiftRequest{Id: id, Shift: s})
}

func (f *fixture) remove(id int64) error {
	_, err := f.shifts.DeleteShift(f.Ctx, &schedulingv1.DeleteShiftRequest{Id: id})
	return err
}

func TestCutLooseAndDelete(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := entryID(t, 1, "2025-03-03", 0)
	was, err := f.shifts.GetShift(f.Ctx, &schedulingv1.GetShiftRequest{Id: id})
	require.NoError(t, err)
	assert.True(t, was.GetGenerated())
	assert.EqualValues(t, 7, was.GetVersion())
	require.Len(t, was.GetRelations(), 1)

	was.EndDateTime = "2025-03-03T17:00:00"
	was.Segments = nil
	detached, err := f.update(id, was)
	require.NoError(t, err)
	assert.Equal(t, id, detached.GetId())
	assert.False(t, detached.GetGenerated())
	assert.Empty(t, detached.GetRelations(), "it follows its pattern no more")
	assert.EqualValues(t, 8, detached.GetVersion())
	assert.Equal(t, []string{"P1 08:00 17:00", "P1 Training"}, f.day("2025-03-03"))
	assert.Equal(t, []string{"[1] 2025-03-03 2025-03-03"}, f.events())

	f.spans("06:00", "14:00", 8)
	assert.Equal(t, []string{"P1 08:00 17:00", "P1 Training"}, f.day("2025-03-03"), "the pattern changed, the entry did not")
	assert.Equal(t, []string{"P1 06:00 14:00", "P1 Training"}, f.day("2025-03-04"))

	// Another day, another employee.
	moved, err := f.update(id, newShift(2, "2025-03-05T09:00", "2025-03-05T10:00"))
	require.NoError(t, err)
	assert.EqualValues(t, 9, moved.GetVersion())
	assert.Equal(t, []string{"P1 Training"}, f.day("2025-03-03"), "the place that it left stays empty")
	assert.Equal(t, []string{"P1 06:00 14:00", "P2 09:00 10:00", "P1 Training"}, f.day("2025-03-05"))
	assert.Equal(t, []string{"[1 2] 2025-03-03 2025-03-05"}, f.events())

	require.NoError(t, f.remove(id))
	assert.Equal(t, []string{"P1 Training"}, f.day("2025-03-03"), "a tombstone stays")
	assert.Equal(t, []string{"P1 06:00 14:00", "P1 Training"}, f.day("2025-03-05"))
	f.spans("05:00", "13:00", 9)
	assert.Equal(t, []string{"P1 Training"}, f.day("2025-03-03"))

	requireRefused(t, f.remove(id), "WFS-109101", 404)
	_, err = f.update(id, newShift(2, "2025-03-05T09:00", "2025-03-05T10:00"))
	requireRefused(t, err, "WFS-109101", 404)
	_, err = f.shifts.GetShift(f.Ctx, &schedulingv1.GetShiftRequest{Id: id})
	requireRefused(t, err, "WFS-109101", 400)
}

func TestUpdateAndDeleteByHand(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made, err := f.shifts.CreateShift(f.Ctx, newShift(2, "2025-03-03T08:00", "2025-03-03T16:00"))
	require.NoError(t, err)
	shift := made.GetShifts()[0]

	shift.EndDateTime, shift.Segments = "2025-03-03T12:00:00", nil
	updated, err := f.update(shift.GetId(), shift)
	require.NoError(t, err)
	assert.EqualValues(t, 2, updated.GetVersion())
	_, err = f.update(shift.GetId(), shift)
	requireRefused(t, err, "WFP-90004", 409)
	shift.Version = nil
	_, err = f.update(shift.GetId(), shift)
	require.NoError(t, err, "who sends no version overwrites")
	_, err = f.update(shift.GetId()+1, shift)
	requireRefused(t, err, "WFS-111209", 400)
	_, err = f.update(999, newShift(2, "2025-03-03T08:00", "2025-03-03T16:00"))
	requireRefused(t, err, "WFS-109101", 404)

	require.NoError(t, f.remove(shift.GetId()))
	requireRefused(t, f.remove(shift.GetId()), "WFS-109101", 404)
	assert.Zero(t, f.Rows(t, "schedule_item")["schedule_item"], "nothing is left of what hid nothing")
	requireRefused(t, f.remove(entryID(t, 2, "2025-03-03", 0)), "WFS-109101", 404)
	requireRefused(t, f.remove(entryID(t, 1, "2025-03-03", 1)), "WFS-109101", 404)
}

func TestLockedDaysRefuseEveryChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made, err := f.shifts.CreateShift(f.Ctx, newShift(1, "2025-03-03T18:00", "2025-03-03T19:00"))
	require.NoError(t, err)
	hand := made.GetShifts()[0].GetId()
	onLocked, onFree := entryID(t, 1, "2025-03-03", 0), entryID(t, 1, "2025-03-04", 0)
	f.lock(1, "2025-03-03", "2025-03-04")
	before := f.day("2025-03-03")
	f.events()

	for _, id := range []int64{hand, onLocked} {
		_, err = f.update(id, newShift(1, "2025-03-05T18:00", "2025-03-05T19:00"))
		requireRefused(t, err, "WRL-30401", 400)
		requireRefused(t, f.remove(id), "WRL-30401", 400)
	}
	_, err = f.update(onFree, newShift(1, "2025-03-03T20:00", "2025-03-03T21:00"))
	requireRefused(t, err, "WRL-30401", 400)
	_, err = f.update(onFree, newShift(2, "2025-03-03T20:00", "2025-03-03T21:00"))
	require.NoError(t, err, "the lock is another employee's")
	_, err = f.shifts.CreateShift(f.Ctx, newShift(1, "2025-03-02T22:00", "2025-03-03T06:00"))
	require.NoError(t, err, "a shift belongs to the day it starts")
	_, err = f.edits.CreatePayCodeEdit(f.Ctx, newEdit(1, "2025-03-01", "2025-03-03"))
	requireRefused(t, err, "WRL-30401", 400)
	assert.Equal(t, append([]string{"P1 22:00 06:00"}, before[:2]...), f.day("2025-03-03")[:3])
}

func TestConcurrentUpdatesOfOneEntry(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := entryID(t, 1, "2025-03-03", 0)
	was, err := f.shifts.GetShift(f.Ctx, &schedulingv1.GetShiftRequest{Id: id})
	require.NoError(t, err)
	const writers = 6
	results := make([]error, writers)
	var group errgroup.Group
	for i := range writers {
		group.Go(func() error {
			_, results[i] = f.update(id, proto.CloneOf(was))
			return nil
		})
	}
	require.NoError(t, group.Wait())
	won := 0
	for _, err := range results {
		if err == nil {
			won++
			continue
		}
		requireRefused(t, err, "WFP-90004", 409)
	}
	assert.Equal(t, 1, won, "who read the same version loses to the first")
}

func TestDeleteByVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made, err := f.edits.CreatePayCodeEdit(f.Ctx, newEdit(1, "2025-03-20", "2025-03-20"))
	require.NoError(t, err)
	edit, generated := made.GetPayCodeEdits()[0].GetId(), entryID(t, 1, "2025-03-03", 0)
	remove := func(version int64) (err, editErr error) {
		_, err = f.shifts.DeleteShift(f.Ctx, &schedulingv1.DeleteShiftRequest{Id: generated, Version: &version})
		_, editErr = f.edits.DeletePayCodeEdit(f.Ctx, &schedulingv1.DeletePayCodeEditRequest{Id: edit, Version: new(version - 6)})
		return err, editErr
	}
	for _, wrong := range []int64{6, 8, 0, -1} {
		err, editErr := remove(wrong)
		requireRefused(t, err, "WFP-90004", 409)
		requireRefused(t, editErr, "WFP-90004", 409)
	}
	assert.Equal(t, []string{"P1 08:00 16:00", "P1 Training"}, f.day("2025-03-03"))
	err, editErr := remove(7)
	require.NoError(t, err)
	require.NoError(t, editErr)
	assert.Equal(t, []string{"P1 Training"}, f.day("2025-03-03"))
}

// A delete without a version removes the entry, also if it changes in the meantime.
func TestDeletingWhatMovesMeanwhile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Exec(f.t, "INSERT INTO employee VALUES (1, 5000, 'P5000', 'Far', 'UTC', 1)")
	made, err := f.shifts.CreateShift(f.Ctx, newShift(1, "2025-03-03T18:00", "2025-03-03T19:00"))
	require.NoError(t, err)
	other, err := f.shifts.CreateShift(f.Ctx, newShift(1, "2025-03-04T18:00", "2025-03-04T19:00"))
	require.NoError(t, err)
	ids := []int64{made.GetShifts()[0].GetId(), other.GetShifts()[0].GetId()}

	tx, err := f.Pool.Begin(f.Ctx)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(f.Ctx) }()
	require.NoError(t, employeelock.Lock(f.Ctx, tx, []int64{1}))
	removed := make(chan error, 1)
	go func() {
		_, err := f.shifts.MultiDeleteShifts(f.Ctx, &schedulingv1.MultiDeleteShiftsRequest{Where: &schedulingv1.DeleteShiftsWhere{ShiftIds: ids}})
		removed <- err
	}()
	require.Eventually(t, func() bool {
		var waiting int
		err := f.Pool.QueryRow(f.Ctx, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&waiting)
		return err == nil && waiting == 1
	}, 20*time.Second, time.Millisecond, "the deletion waits for the employee")
	_, err = tx.Exec(f.Ctx, "UPDATE schedule_item SET employee_id = 5000, version = 2 WHERE id = $1", ids[0])
	require.NoError(t, err)
	require.NoError(t, tx.Commit(f.Ctx))
	require.NoError(t, <-removed)
	assert.Zero(t, f.Rows(t, "schedule_item")["schedule_item"])
}
