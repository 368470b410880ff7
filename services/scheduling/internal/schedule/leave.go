package schedule

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// What a leave edit may take instead of an amount.
const (
	fullDay = "FULL_DAY"
	halfDay = "HALF_DAY"
)

// dayLeave is what leave edits without times take of one day.
type dayLeave struct {
	full    bool
	halves  int64
	seconds int64
}

// leaveOf splits leave edits into those with times and what the others take of
// their days.
func leaveOf(rows []leaveRow) ([]stint, map[civil.Date]dayLeave, error) {
	var timed []stint
	days := map[civil.Date]dayLeave{}
	for i := range rows {
		edit := &schedulingv1.LeaveEdit{}
		if err := proto.Unmarshal(rows[i].body, edit); err != nil {
			return nil, nil, fmt.Errorf("schedule: leave edit %d: %w", rows[i].id, err)
		}
		if edit.GetStartTime() != "" {
			s, err := timesOf(edit)
			if err != nil {
				return nil, nil, fmt.Errorf("schedule: leave edit %d: %w", rows[i].id, err)
			}
			timed = append(timed, s)
			continue
		}
		taken := days[rows[i].day]
		switch paid, tracked := edit.GetPaidSegment().GetSymbolicValue(), edit.GetTrackingSegment().GetSymbolicValue(); {
		case paid == fullDay || tracked == fullDay:
			taken.full = true
		case paid == halfDay || tracked == halfDay:
			taken.halves++
		default:
			taken.seconds += edit.GetDurationInTime()
		}
		days[rows[i].day] = taken
	}
	return timed, days, nil
}

func timesOf(edit *schedulingv1.LeaveEdit) (stint, error) {
	start, err := civil.ParseDateTime(edit.GetStartDate() + "T" + edit.GetStartTime())
	if err != nil {
		return stint{}, err
	}
	end, err := civil.ParseDateTime(edit.GetEndDate() + "T" + edit.GetEndTime())
	if err != nil {
		return stint{}, err
	}
	return stint{seconds(start), seconds(end)}, nil
}

// take returns the stints that the leave takes of a day's shifts, which come by
// their start: worked time from the first shift on, with the breaks inside it.
func (l dayLeave) take(shifts [][]stretch) []stint {
	var worked int64
	for _, pieces := range shifts {
		for _, p := range pieces {
			if p.kind != breakSegment {
				worked += p.end - p.start
			}
		}
	}
	left := l.seconds + l.halves*worked/2
	if l.full || left >= worked {
		left = worked
	}
	var out []stint
	for _, pieces := range shifts {
		for _, p := range pieces {
			switch {
			case left == 0:
			case p.kind == breakSegment:
				out = append(out, stint{p.start, p.end})
			default:
				took := min(left, p.end-p.start)
				left -= took
				out = append(out, stint{p.start, p.start + took})
			}
		}
	}
	return out
}
