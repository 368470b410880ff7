package schedulechange

import (
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func putShift(s *schedulingv1.ScheduleChangeSnapshot, c *change) error {
	changed := &schedulingv1.ChangedShift{Before: newIfPresent[schedulingv1.Shift](c.before), After: newIfPresent[schedulingv1.Shift](c.after)}
	if s.Shifts == nil {
		s.Shifts = &schedulingv1.ChangedShifts{}
	}
	appendChange(c, changed, &s.Shifts.Create, &s.Shifts.Update, &s.Shifts.Delete)
	return decode(c, changed.Before, changed.After)
}

func putPayCodeEdit(s *schedulingv1.ScheduleChangeSnapshot, c *change) error {
	changed := &schedulingv1.ChangedPayCodeEdit{Before: newIfPresent[schedulingv1.PayCodeEdit](c.before), After: newIfPresent[schedulingv1.PayCodeEdit](c.after)}
	if s.PayCodeEdits == nil {
		s.PayCodeEdits = &schedulingv1.ChangedPayCodeEdits{}
	}
	appendChange(c, changed, &s.PayCodeEdits.Create, &s.PayCodeEdits.Update, &s.PayCodeEdits.Delete)
	return decode(c, changed.Before, changed.After)
}

func putLeaveEdit(s *schedulingv1.ScheduleChangeSnapshot, c *change) error {
	changed := &schedulingv1.ChangedLeaveEdit{Before: newIfPresent[schedulingv1.LeaveEdit](c.before), After: newIfPresent[schedulingv1.LeaveEdit](c.after)}
	if s.LeaveEdits == nil {
		s.LeaveEdits = &schedulingv1.ChangedLeaveEdits{}
	}
	appendChange(c, changed, &s.LeaveEdits.Create, &s.LeaveEdits.Update, &s.LeaveEdits.Delete)
	return decode(c, changed.Before, changed.After)
}

func putTag(s *schedulingv1.ScheduleChangeSnapshot, c *change) error {
	changed := &schedulingv1.ChangedScheduleTag{Before: newIfPresent[schedulingv1.ScheduleTag](c.before), After: newIfPresent[schedulingv1.ScheduleTag](c.after)}
	if s.ScheduleTags == nil {
		s.ScheduleTags = &schedulingv1.ChangedScheduleTags{}
	}
	appendChange(c, changed, &s.ScheduleTags.Create, &s.ScheduleTags.Update, &s.ScheduleTags.Delete)
	return decode(c, changed.Before, changed.After)
}

// appendChange adds a change to the list that it belongs to.
func appendChange[T any](c *change, made T, create, update, del *[]T) {
	switch {
	case c.before == nil:
		*create = append(*create, made)
	case c.after == nil:
		*del = append(*del, made)
	default:
		*update = append(*update, made)
	}
}

// newIfPresent returns a new message for a state, or nil without a state.
func newIfPresent[T any](text []byte) *T {
	if text == nil {
		return nil
	}
	return new(T)
}

func decode[M proto.Message](c *change, before, after M) error {
	if c.before != nil {
		if err := proto.Unmarshal(c.before, before); err != nil {
			return err
		}
	}
	if c.after != nil {
		return proto.Unmarshal(c.after, after)
	}
	return nil
}
