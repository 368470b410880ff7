package reading

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
)

// The symbolic amounts of a leave edit.
const (
	fullDay = "FULL_DAY"
	halfDay = "HALF_DAY"
)

// dayLeave sums up the leave edits without times of one day.
type dayLeave struct {
	full    bool
	halves  int64
	seconds int64
}

// splitLeave returns the intervals of leave edits with times, and the sums of the other edits by
// day.
func splitLeave(rows []storedrows.Leave) ([]segment.Interval, map[civil.Date]dayLeave, error) {
	var timed []segment.Interval
	days := map[civil.Date]dayLeave{}
	for i := range rows {
		edit := &schedulingv1.LeaveEdit{}
		if err := proto.Unmarshal(rows[i].Body, edit); err != nil {
			return nil, nil, fmt.Errorf("schedule: leave edit %d: %w", rows[i].ID, err)
		}
		if edit.GetStartTime() != "" {
			s, err := leaveInterval(edit)
			if err != nil {
				return nil, nil, fmt.Errorf("schedule: leave edit %d: %w", rows[i].ID, err)
			}
			timed = append(timed, s)
			continue
		}
		day := rows[i].Day
		sum := days[day]
		switch paid, tracked := edit.GetPaidSegment().GetSymbolicValue().GetQualifier(), edit.GetTrackingSegment().GetSymbolicValue().GetQualifier(); {
		case paid == fullDay || tracked == fullDay:
			sum.full = true
		case paid == halfDay || tracked == halfDay:
			sum.halves++
		default:
			sum.seconds += edit.GetDurationInTime()
		}
		days[day] = sum
	}
	return timed, days, nil
}

func leaveInterval(edit *schedulingv1.LeaveEdit) (segment.Interval, error) {
	start, err := civil.ParseDateTime(edit.GetStartDate() + "T" + edit.GetStartTime())
	if err != nil {
		return segment.Interval{}, err
	}
	end, err := civil.ParseDateTime(edit.GetEndDate() + "T" + edit.GetEndTime())
	if err != nil {
		return segment.Interval{}, err
	}
	return segment.Interval{Start: segment.Seconds(start), End: segment.Seconds(end)}, nil
}

// deductions returns the intervals that the leave covers. The shifts are all on one day, in order
// of their start. Leave covers worked time from the first shift on, including the breaks between.
func (l dayLeave) deductions(shifts [][]segment.Segment) []segment.Interval {
	var worked int64
	for _, pieces := range shifts {
		for _, p := range pieces {
			if p.Kind != segment.Break {
				worked += p.End - p.Start
			}
		}
	}
	left := l.seconds + l.halves*worked/2
	if l.full || left >= worked {
		left = worked
	}
	var out []segment.Interval
	for _, pieces := range shifts {
		for _, p := range pieces {
			switch {
			case left == 0:
			case p.Kind == segment.Break:
				out = append(out, segment.Interval{Start: p.Start, End: p.End})
			default:
				covered := min(left, p.End-p.Start)
				left -= covered
				out = append(out, segment.Interval{Start: p.Start, End: p.Start + covered})
			}
		}
	}
	return out
}
