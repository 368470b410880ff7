package reading

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/coveringedit"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// dayOff sums up the covering edits of one day.
type dayOff struct {
	timed []segment.Interval
	leave dayLeave
}

// deductTimeOff deducts the covering edits among the items from the shifts of an employee, which
// begin at index first. An edit covers only shifts that start on its own days, so that locked days
// do not change.
func (e *expansion) deductTimeOff(items []storedrows.Item, first int) error {
	shifts := e.Entries[window.KindShift][first:]
	if len(shifts) == 0 {
		return nil
	}
	days, err := daysOff(items)
	if err != nil || len(days) == 0 {
		return err
	}
	covered := map[civil.Date][]segment.Interval{}
	for day, off := range days {
		var ofDay []window.Entry
		for i := range shifts {
			if shifts[i].Day == day {
				ofDay = append(ofDay, shifts[i])
			}
		}
		if covered[day], err = e.leaveTimes(ofDay, off.timed, map[civil.Date]dayLeave{day: off.leave}); err != nil {
			return err
		}
	}
	remaining := shifts[:0]
	for i := range shifts {
		before := shifts[i]
		left, err := e.deduct(&shifts[i], covered[shifts[i].Day])
		if err != nil {
			return err
		}
		if e.steps != nil && (!left || shifts[i].Template != before.Template) {
			e.addTimeOffCut(&before, items, left)
		}
		if left {
			remaining = append(remaining, shifts[i])
		}
	}
	e.Entries[window.KindShift] = e.Entries[window.KindShift][:first+len(remaining)]
	return nil
}

// daysOff sums up the covering edits among items by day.
func daysOff(items []storedrows.Item) (map[civil.Date]*dayOff, error) {
	var days map[civil.Date]*dayOff
	for i := range items {
		row := &items[i]
		if !row.Covers {
			continue
		}
		edit := &schedulingv1.PayCodeEdit{}
		if err := proto.Unmarshal(row.Body, edit); err != nil {
			return nil, fmt.Errorf("schedule: item %d: %w", row.ID, err)
		}
		amount, err := coveringedit.Of(edit)
		if err != nil {
			return nil, fmt.Errorf("schedule: item %d: %w", row.ID, err)
		}
		if days == nil {
			days = map[civil.Date]*dayOff{}
		}
		for day := row.Day; day <= row.Last; day++ {
			if days[day] == nil {
				days[day] = &dayOff{}
			}
			days[day].add(day, amount)
		}
	}
	return days, nil
}

func (d *dayOff) add(day civil.Date, amount coveringedit.Deduction) {
	switch {
	case amount.Full:
		d.leave.full = true
	case amount.Half:
		d.leave.halves++
	case amount.End > 0:
		d.timed = append(d.timed, segment.Interval{Start: segment.Seconds(day.At(amount.Start)), End: segment.Seconds(day.At(amount.End))})
	default:
		d.leave.seconds += amount.Seconds
	}
}
