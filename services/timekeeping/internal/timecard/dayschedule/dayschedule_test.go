package dayschedule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/dayschedule"
)

func shift(day, start int32) *schedulingv1.EmployeeShift {
	return &schedulingv1.EmployeeShift{Day: day, Segments: []*schedulingv1.EmployeeShiftSegment{{StartSecond: start, EndSecond: start + 3600}}}
}

func edit(day int32, seconds int64) *schedulingv1.EmployeePayCodeEdit {
	return &schedulingv1.EmployeePayCodeEdit{Day: day, Amount: &schedulingv1.PayCodeAmount{PayCode: "Training", Seconds: seconds}}
}

func TestReplacedDaysHaveOtherEntries(t *testing.T) {
	t.Parallel()
	schedule := &schedulingv1.EmployeeDays{
		EmployeeId: 7,
		PayRules:   []*schedulingv1.TermPayRule{{From: 1, To: 9}},
		Shifts:     []*schedulingv1.EmployeeShift{shift(1, 0), shift(2, 0), shift(2, 7200), shift(3, 0)},
		PayCodeEdits: []*schedulingv1.EmployeePayCodeEdit{
			edit(2, 60), edit(3, 60),
		},
	}
	kept := dayschedule.Split(schedule, civil.Range{From: 1, To: 5})
	assert.Len(t, kept, 4, "a day without entries is known to have none")
	assert.True(t, dayschedule.Equal(kept[4], &schedulingv1.EmployeeDays{}))

	got := dayschedule.Replace(schedule, dayschedule.Days{2: {Shifts: []*schedulingv1.EmployeeShift{shift(2, 60)}}, 4: {PayCodeEdits: []*schedulingv1.EmployeePayCodeEdit{edit(4, 5)}}})
	assert.EqualExportedValues(t, &schedulingv1.EmployeeDays{
		EmployeeId: 7, PayRules: schedule.GetPayRules(),
		Shifts:       []*schedulingv1.EmployeeShift{shift(1, 0), shift(2, 60), shift(3, 0)},
		PayCodeEdits: []*schedulingv1.EmployeePayCodeEdit{edit(3, 60), edit(4, 5)},
	}, got)
	assert.EqualExportedValues(t, schedule, dayschedule.Replace(got, kept))
}

func TestDaysWithTheSameEntriesAreEqual(t *testing.T) {
	t.Parallel()
	day := func(list ...*schedulingv1.EmployeePayCodeEdit) *schedulingv1.EmployeeDays {
		return &schedulingv1.EmployeeDays{PayCodeEdits: list}
	}
	assert.True(t, dayschedule.Equal(day(edit(1, 5), edit(1, 6)), day(edit(1, 6), edit(1, 5))))
	assert.False(t, dayschedule.Equal(day(edit(1, 5), edit(1, 5)), day(edit(1, 5), edit(1, 6))))
	assert.False(t, dayschedule.Equal(day(edit(1, 5)), day(edit(1, 5), edit(1, 5))))
	assert.False(t, dayschedule.Equal(&schedulingv1.EmployeeDays{Shifts: []*schedulingv1.EmployeeShift{shift(1, 0)}}, day()))
}
