package calculation

import (
	"slices"

	"google.golang.org/protobuf/proto"

	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// showRescheduled marks the shifts and pay code edits of the schedule that signed-off days have no
// longer, and adds those that they have since the sign-off. Only days whose schedule changed after
// the sign-off are compared.
func (c *Timecard) showRescheduled() {
	shifts, edits := map[string][]*timekeepingv1.TimecardScheduleShift{}, map[string][]*timekeepingv1.SchedulePayCodeEdit{}
	for _, planned := range c.input.Schedule {
		if c.rescheduled[planned.Day] != nil {
			day := planned.Day.String()
			shifts[day] = append(shifts[day], c.scheduleShift(c.shifts[planned.Number], planned))
		}
	}
	for i := range c.scheduledTimes {
		if b := &c.scheduledTimes[i]; c.rescheduled[b.day] != nil {
			day := b.day.String()
			edits[day] = append(edits[day], b.toProto())
		}
	}
	for day := range c.rescheduled {
		if !c.Days.Contains(day) {
			continue
		}
		d := c.signedDay(day)
		d.ScheduleShifts = markChanges(d.GetScheduleShifts(), shifts[d.GetDate()], func(s *timekeepingv1.TimecardScheduleShift, change string) { s.SignOffChange = change })
		d.SchedulePayCodeEdits = markChanges(d.GetSchedulePayCodeEdits(), edits[d.GetDate()], func(e *timekeepingv1.SchedulePayCodeEdit, change string) { e.SignOffChange = change })
	}
	c.rescheduled = nil // The days are marked.
}

// markChanges marks the signed entries that are not among the present ones as removed, and adds the
// other present entries.
func markChanges[T proto.Message](signed, present []T, mark func(T, string)) []T {
	out := slices.Clone(signed)
	for _, entry := range signed {
		if at := slices.IndexFunc(present, func(other T) bool { return proto.Equal(entry, other) }); at >= 0 {
			present = slices.Delete(present, at, at+1)
		} else {
			mark(entry, changeRemoved)
		}
	}
	for _, entry := range present {
		mark(entry, changeAdded)
		out = append(out, entry)
	}
	return out
}
