// Package dayschedule splits the schedule of an employee into days, so that signed-off days can
// keep the entries that they were paid by.
package dayschedule

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Days are the shifts and the pay code edits of an employee by day. A day with an empty message has
// no entries; the entries of a missing day are unknown.
type Days map[civil.Date]*schedulingv1.EmployeeDays

// Split returns the entries of a schedule for each day of a range.
func Split(schedule *schedulingv1.EmployeeDays, days civil.Range) Days {
	out := make(Days, days.Days())
	for day := days.From; day < days.To; day++ {
		out[day] = &schedulingv1.EmployeeDays{}
	}
	for _, shift := range schedule.GetShifts() {
		if on := out[civil.Date(shift.GetDay())]; on != nil {
			on.Shifts = append(on.Shifts, shift)
		}
	}
	for _, edit := range schedule.GetPayCodeEdits() {
		if on := out[civil.Date(edit.GetDay())]; on != nil {
			on.PayCodeEdits = append(on.PayCodeEdits, edit)
		}
	}
	return out
}

// Replace returns a schedule whose entries on some days are replaced.
func Replace(schedule *schedulingv1.EmployeeDays, days Days) *schedulingv1.EmployeeDays {
	if len(days) == 0 {
		return schedule
	}
	out := &schedulingv1.EmployeeDays{EmployeeId: schedule.GetEmployeeId(), PayRules: schedule.GetPayRules()}
	for _, shift := range schedule.GetShifts() {
		if days[civil.Date(shift.GetDay())] == nil {
			out.Shifts = append(out.Shifts, shift)
		}
	}
	for _, edit := range schedule.GetPayCodeEdits() {
		if days[civil.Date(edit.GetDay())] == nil {
			out.PayCodeEdits = append(out.PayCodeEdits, edit)
		}
	}
	for _, on := range days {
		out.Shifts, out.PayCodeEdits = append(out.Shifts, on.GetShifts()...), append(out.PayCodeEdits, on.GetPayCodeEdits()...)
	}
	slices.SortStableFunc(out.Shifts, func(a, b *schedulingv1.EmployeeShift) int { return cmp.Compare(a.GetDay(), b.GetDay()) })
	slices.SortStableFunc(out.PayCodeEdits, func(a, b *schedulingv1.EmployeePayCodeEdit) int { return cmp.Compare(a.GetDay(), b.GetDay()) })
	return out
}

// Equal reports whether two days have the same entries, in any order.
func Equal(a, b *schedulingv1.EmployeeDays) bool {
	return sameEntries(a.GetShifts(), b.GetShifts()) && sameEntries(a.GetPayCodeEdits(), b.GetPayCodeEdits())
}

func sameEntries[T proto.Message](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	left := slices.Clone(b)
	for _, entry := range a {
		at := slices.IndexFunc(left, func(other T) bool { return proto.Equal(entry, other) })
		if at < 0 {
			return false
		}
		left = slices.Delete(left, at, at+1)
	}
	return true
}
