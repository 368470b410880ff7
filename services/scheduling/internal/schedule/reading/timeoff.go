package reading

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/coveringedit"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
)

// dayOff is what covering edits take of the shifts of one day.
type dayOff struct {
	timed []segment.Interval
	leave dayLeave
}

// timeOff takes from the shifts of an employee, which stand from the first one on,
// what the covering edits among the items take of their days. Each takes shifts that
// start on its own days only, so that what locked days show stays as it is.
func (e *expansion) timeOff(items []itemRow, first int) error {
	shifts := e.Entries[encoding.KindShift][first:]
	if len(shifts) == 0 {
		return nil
	}
	days, err := daysOff(items)
	if err != nil || len(days) == 0 {
		return err
	}
	gone := map[civil.Date][]segment.Interval{}
	for day, off := range days {
		var ofDay []encoding.Entry
		for i := range shifts {
			if shifts[i].Day == day {
				ofDay = append(ofDay, shifts[i])
			}
		}
		if gone[day], err = e.leaveTimes(ofDay, off.timed, map[civil.Date]dayLeave{day: off.leave}); err != nil {
			return err
		}
	}
	kept := shifts[:0]
	for i := range shifts {
		left, err := e.masked(&shifts[i], gone[shifts[i].Day])
		if err != nil {
			return err
		}
		if left {
			kept = append(kept, shifts[i])
		}
	}
	e.Entries[encoding.KindShift] = e.Entries[encoding.KindShift][:first+len(kept)]
	return nil
}

// daysOff returns what the covering edits among items take of each day.
func daysOff(items []itemRow) (map[civil.Date]*dayOff, error) {
	var days map[civil.Date]*dayOff
	for i := range items {
		row := &items[i]
		if !row.covers {
			continue
		}
		edit := &schedulingv1.PayCodeEdit{}
		if err := proto.Unmarshal(row.body, edit); err != nil {
			return nil, fmt.Errorf("schedule: item %d: %w", row.id, err)
		}
		taken, err := coveringedit.Of(edit)
		if err != nil {
			return nil, fmt.Errorf("schedule: item %d: %w", row.id, err)
		}
		if days == nil {
			days = map[civil.Date]*dayOff{}
		}
		for day := row.day; day <= row.last; day++ {
			if days[day] == nil {
				days[day] = &dayOff{}
			}
			days[day].add(day, taken)
		}
	}
	return days, nil
}

func (d *dayOff) add(day civil.Date, taken coveringedit.Taken) {
	switch {
	case taken.Full:
		d.leave.full = true
	case taken.Half:
		d.leave.halves++
	case taken.End > 0:
		d.timed = append(d.timed, segment.Interval{Start: segment.Seconds(day.At(taken.Start)), End: segment.Seconds(day.At(taken.End))})
	default:
		d.leave.seconds += taken.Seconds
	}
}
