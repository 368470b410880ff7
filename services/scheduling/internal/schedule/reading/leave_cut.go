package reading

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// addLeave adds the leave edits of an employee, and deducts leave from the employee's shifts, which
// begin at index first (docs/decisions, 28). Shifts on locked days are cut by the leave that was
// recorded when the days were locked.
func (e *expansion) addLeave(rows []storedrows.Leave, locked []storedrows.LockedLeave, first int, employee int32, locks []window.Lock) error {
	if len(rows) == 0 && len(locked) == 0 {
		return nil
	}
	for i := range rows {
		row := &rows[i]
		if !e.needed[window.KindLeaveEdit] || row.Last < e.Days.From || row.Day >= e.Days.To {
			continue
		}
		added, err := e.newEntry(&row.Item, window.KindLeaveEdit, nil)
		if err != nil {
			return err
		}
		added.Employee, added.Locked = employee, isLocked(locks, row.Day)
		e.Entries[window.KindLeaveEdit] = append(e.Entries[window.KindLeaveEdit], added)
	}
	shifts := e.Entries[window.KindShift][first:]
	if len(shifts) == 0 {
		return nil
	}
	var remaining []window.Entry
	for _, part := range groupShifts(shifts, rows, locked, locks) {
		left, err := e.deductLeave(part.shifts, part.leave)
		if err != nil {
			return err
		}
		remaining = append(remaining, left...)
	}
	e.Entries[window.KindShift] = append(e.Entries[window.KindShift][:first], remaining...)
	return nil
}

// part is a group of shifts with the leave that may cover them.
type part struct {
	shifts []window.Entry
	leave  []storedrows.Leave
}

// groupShifts groups shifts on open days, and shifts on days that were locked together.
func groupShifts(shifts []window.Entry, rows []storedrows.Leave, locked []storedrows.LockedLeave, locks []window.Lock) []part {
	open := part{leave: rows}
	var frozen []part
	byLock := map[civil.Range]int{}
	for i := range locked {
		at, known := byLock[locked[i].Locked]
		if !known {
			at = len(frozen)
			byLock[locked[i].Locked], frozen = at, append(frozen, part{})
		}
		frozen[at].leave = append(frozen[at].leave, locked[i].Leave)
	}
	withoutLeave := part{} // shifts on locked days that have no leave
	for _, s := range shifts {
		into := &open
		if isLocked(locks, s.Day) {
			into = &withoutLeave
			for days, at := range byLock {
				if days.Contains(s.Day) {
					into = &frozen[at]
				}
			}
		}
		into.shifts = append(into.shifts, s)
	}
	return append(frozen, open, withoutLeave)
}

// deductLeave returns the shifts that remain after deducting leave.
func (e *expansion) deductLeave(shifts []window.Entry, rows []storedrows.Leave) ([]window.Entry, error) {
	if len(shifts) == 0 || len(rows) == 0 {
		return shifts, nil
	}
	timed, days, err := splitLeave(rows)
	if err != nil {
		return nil, err
	}
	// Leave without times covers only shifts of its own day. It covers nothing of the next day's
	// shifts, even if both overlap.
	covered := map[civil.Date][]segment.Interval{}
	for _, s := range shifts {
		if _, known := covered[s.Day]; known {
			continue
		}
		dayAmounts := map[civil.Date]dayLeave{}
		if amount, has := days[s.Day]; has {
			dayAmounts[s.Day] = amount
		}
		if covered[s.Day], err = e.leaveTimes(shifts, slices.Clone(timed), dayAmounts); err != nil {
			return nil, err
		}
	}
	remaining := shifts[:0]
	for i := range shifts {
		before := shifts[i]
		left, err := e.deduct(&shifts[i], covered[shifts[i].Day])
		if err != nil {
			return nil, err
		}
		if e.steps != nil && (!left || shifts[i].Template != before.Template) {
			if err := e.addCut(&before, rows, left); err != nil {
				return nil, err
			}
		}
		if left {
			remaining = append(remaining, shifts[i])
		}
	}
	return remaining, nil
}

// leaveTimes returns the intervals that leave covers, in the local time of the employee of the
// shifts.
func (e *expansion) leaveTimes(shifts []window.Entry, timed []segment.Interval, days map[civil.Date]dayLeave) ([]segment.Interval, error) {
	for day, amount := range days {
		var ofDay []*window.Entry
		for i := range shifts {
			if shifts[i].Day == day {
				ofDay = append(ofDay, &shifts[i])
			}
		}
		slices.SortFunc(ofDay, func(a, b *window.Entry) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) })
		pieces := make([][]segment.Segment, len(ofDay))
		for i, s := range ofDay {
			shift, err := e.decodeShift(s)
			if err != nil {
				return nil, err
			}
			if pieces[i], err = segment.Of(shift); err != nil {
				return nil, err
			}
		}
		timed = append(timed, amount.deductions(pieces)...)
	}
	if len(shifts) > 0 {
		zone := e.Persons[shifts[0].Employee].Zone
		for i, g := range timed {
			timed[i] = segment.Interval{Start: zone.Adjust(g.Start), End: zone.Adjust(g.End)}
		}
	}
	return segment.Merge(timed), nil
}

// deduct cuts the covered intervals out of a shift, and reports whether any of the shift remains.
func (e *expansion) deduct(s *window.Entry, covered []segment.Interval) (bool, error) {
	touched := slices.ContainsFunc(covered, func(g segment.Interval) bool { return g.Start < s.End() && g.End > s.Start })
	if !touched {
		return true, nil
	}
	shift, err := e.decodeShift(s)
	if err != nil {
		return false, err
	}
	if left, err := segment.Cut(shift, covered); err != nil || !left {
		return false, err
	}
	shift.Id, shift.Employee, shift.Version = nil, nil, nil
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(shift)
	if err != nil {
		return false, err
	}
	t, err := window.StoredTemplate(body, window.KindShift, s.Day)
	if err != nil {
		return false, fmt.Errorf("schedule: shift %d: %w", s.ID, err)
	}
	// The template now contains the job and the relations, and its times already respect clock
	// changes.
	s.Template, s.Job, s.Relations = t, nil, -1
	s.Start = int64(s.Day)*civil.SecondsPerDay + int64(t.Start)
	return true, nil
}

func (e *expansion) decodeShift(s *window.Entry) (*schedulingv1.Shift, error) {
	shift := &schedulingv1.Shift{}
	message, err := e.Message(s)
	if err != nil {
		return nil, err
	}
	if err := proto.Unmarshal(message, shift); err != nil {
		return nil, fmt.Errorf("schedule: shift %d: %w", s.ID, err)
	}
	return shift, nil
}
