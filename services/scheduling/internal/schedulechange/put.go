package schedulechange

import (
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func putShift(s *schedulingv1.ScheduleChangeSnapshot, c *change) error {
	made := &schedulingv1.ChangedShift{Before: decoder[schedulingv1.Shift](c.before), After: decoder[schedulingv1.Shift](c.after)}
	if s.Shifts == nil {
		s.Shifts = &schedulingv1.ChangedShifts{}
	}
	put(c, made, &s.Shifts.Create, &s.Shifts.Update, &s.Shifts.Delete)
	return decode(c, made.Before, made.After)
}

func putPayCodeEdit(s *schedulingv1.ScheduleChangeSnapshot, c *change) error {
	made := &schedulingv1.ChangedPayCodeEdit{Before: decoder[schedulingv1.PayCodeEdit](c.before), After: decoder[schedulingv1.PayCodeEdit](c.after)}
	if s.PayCodeEdits == nil {
		s.PayCodeEdits = &schedulingv1.ChangedPayCodeEdits{}
	}
	put(c, made, &s.PayCodeEdits.Create, &s.PayCodeEdits.Update, &s.PayCodeEdits.Delete)
	return decode(c, made.Before, made.After)
}

func putLeaveEdit(s *schedulingv1.ScheduleChangeSnapshot, c *change) error {
	made := &schedulingv1.ChangedLeaveEdit{Before: decoder[schedulingv1.LeaveEdit](c.before), After: decoder[schedulingv1.LeaveEdit](c.after)}
	if s.LeaveEdits == nil {
		s.LeaveEdits = &schedulingv1.ChangedLeaveEdits{}
	}
	put(c, made, &s.LeaveEdits.Create, &s.LeaveEdits.Update, &s.LeaveEdits.Delete)
	return decode(c, made.Before, made.After)
}

func putTag(s *schedulingv1.ScheduleChangeSnapshot, c *change) error {
	made := &schedulingv1.ChangedScheduleTag{Before: decoder[schedulingv1.ScheduleTag](c.before), After: decoder[schedulingv1.ScheduleTag](c.after)}
	if s.ScheduleTags == nil {
		s.ScheduleTags = &schedulingv1.ChangedScheduleTags{}
	}
	put(c, made, &s.ScheduleTags.Create, &s.ScheduleTags.Update, &s.ScheduleTags.Delete)
	return decode(c, made.Before, made.After)
}

// put adds what was made of a change to the list that it belongs to.
func put[T any](c *change, made T, create, update, del *[]T) {
	switch {
	case c.before == nil:
		*create = append(*create, made)
	case c.after == nil:
		*del = append(*del, made)
	default:
		*update = append(*update, made)
	}
}

// decoder returns where a state is read into; nil for none.
func decoder[T any](text []byte) *T {
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
