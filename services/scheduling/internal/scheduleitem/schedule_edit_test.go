package scheduleitem_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func TestEditSchedule(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	changed := newShift(0, "2025-03-05T10:00", "2025-03-05T18:00")
	id := entryID(t, 1, "2025-03-05", 0)
	changed.Id = &id
	edit := func(remove ...int64) *schedulingv1.ScheduleEdit {
		return &schedulingv1.ScheduleEdit{
			EmployeeRef: person(2),
			Shifts: &schedulingv1.ShiftChanges{
				Create: []*schedulingv1.Shift{newShift(0, "2025-03-05T06:00", "2025-03-05T07:00")},
				Update: []*schedulingv1.Shift{changed}, Delete: remove,
			},
		}
	}
	generated := entryID(t, 1, "2025-03-06", 0)
	before := f.day("2025-03-05")
	_, err := f.edit(edit(generated, 1))
	requireRefused(t, err, "WFS-109101", 400)
	assert.Equal(t, before, f.day("2025-03-05"), "all or none")
	assert.Empty(t, f.events())

	results, err := f.edit(edit(generated, generated))
	require.NoError(t, err)
	assert.Len(t, results.GetResults()[0].GetShifts().GetShifts(), 2)
	assert.Equal(t, []string{"P1 10:00 18:00", "P2 06:00 07:00", "P1 Training"}, f.day("2025-03-05"))
	assert.Equal(t, []string{"P1 Training"}, f.day("2025-03-06"), "the generated shift stays deleted")

	_, err = f.edit(edit(make([]int64, 999)...))
	requireRefused(t, err, "WFP-90003", 413)
}

func (f *fixture) edit(e *schedulingv1.ScheduleEdit) (*schedulingv1.ScheduleEditResultList, error) {
	return f.together.EditSchedule(f.Ctx, e)
}
