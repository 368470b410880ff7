package reading

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
)

// leave adds the leave edits of an employee, whose shifts stand from the first
// one on, and takes from the shifts what they cover (docs/decisions, 28). From those
// of locked days the leave takes that was there when they were locked.
func (e *expansion) leave(rows []leaveRow, locked []lockedLeaveRow, first int, employee int32, locks []encoding.Lock) error {
	if len(rows) == 0 && len(locked) == 0 {
		return nil
	}
	for i := range rows {
		row := &rows[i]
		if !e.needed[encoding.KindLeaveEdit] || row.last < e.Days.From || row.day >= e.Days.To {
			continue
		}
		added, err := e.item(&row.itemRow, encoding.KindLeaveEdit, nil)
		if err != nil {
			return err
		}
		added.Employee, added.Locked = employee, isLocked(locks, row.day)
		e.Entries[encoding.KindLeaveEdit] = append(e.Entries[encoding.KindLeaveEdit], added)
	}
	shifts := e.Entries[encoding.KindShift][first:]
	if len(shifts) == 0 {
		return nil
	}
	var kept []encoding.Entry
	for _, part := range parts(shifts, rows, locked, locks) {
		left, err := e.uncovered(part.shifts, part.leave)
		if err != nil {
			return err
		}
		kept = append(kept, left...)
	}
	e.Entries[encoding.KindShift] = append(e.Entries[encoding.KindShift][:first], kept...)
	return nil
}

// part is some shifts of an employee, with the leave that may cover them.
type part struct {
	shifts []encoding.Entry
	leave  []leaveRow
}

// parts divides shifts into those of days that are not locked, and those of days that
// were locked together.
func parts(shifts []encoding.Entry, rows []leaveRow, locked []lockedLeaveRow, locks []encoding.Lock) []part {
	open := part{leave: rows}
	var frozen []part
	byLock := map[civil.Range]int{}
	for i := range locked {
		at, known := byLock[locked[i].locked]
		if !known {
			at = len(frozen)
			byLock[locked[i].locked], frozen = at, append(frozen, part{})
		}
		frozen[at].leave = append(frozen[at].leave, locked[i].leaveRow)
	}
	bare := part{} // of locked days on which nobody was on leave
	for _, s := range shifts {
		into := &open
		if isLocked(locks, s.Day) {
			into = &bare
			for days, at := range byLock {
				if days.Contains(s.Day) {
					into = &frozen[at]
				}
			}
		}
		into.shifts = append(into.shifts, s)
	}
	return append(frozen, open, bare)
}

// uncovered returns what leave leaves of shifts.
func (e *expansion) uncovered(shifts []encoding.Entry, rows []leaveRow) ([]encoding.Entry, error) {
	if len(shifts) == 0 || len(rows) == 0 {
		return shifts, nil
	}
	timed, days, err := leaveOf(rows)
	if err != nil {
		return nil, err
	}
	// Leave without times takes shifts of its own day, and nothing from those of the day
	// after, also when both overlap.
	gone := map[civil.Date][]segment.Interval{}
	for _, s := range shifts {
		if _, known := gone[s.Day]; known {
			continue
		}
		own := map[civil.Date]dayLeave{}
		if taken, has := days[s.Day]; has {
			own[s.Day] = taken
		}
		if gone[s.Day], err = e.leaveTimes(shifts, slices.Clone(timed), own); err != nil {
			return nil, err
		}
	}
	kept := shifts[:0]
	for i := range shifts {
		left, err := e.masked(&shifts[i], gone[shifts[i].Day])
		if err != nil {
			return nil, err
		}
		if left {
			kept = append(kept, shifts[i])
		}
	}
	return kept, nil
}

// leaveTimes returns what leave takes of the time of an employee, whose shifts are given.
func (e *expansion) leaveTimes(shifts []encoding.Entry, timed []segment.Interval, days map[civil.Date]dayLeave) ([]segment.Interval, error) {
	for day, taken := range days {
		var ofDay []*encoding.Entry
		for i := range shifts {
			if shifts[i].Day == day {
				ofDay = append(ofDay, &shifts[i])
			}
		}
		slices.SortFunc(ofDay, func(a, b *encoding.Entry) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) })
		pieces := make([][]segment.Segment, len(ofDay))
		for i, s := range ofDay {
			shift, err := e.shift(s)
			if err != nil {
				return nil, err
			}
			if pieces[i], err = segment.Of(shift); err != nil {
				return nil, err
			}
		}
		timed = append(timed, taken.take(pieces)...)
	}
	if len(shifts) > 0 {
		zone := e.Persons[shifts[0].Employee].Zone
		for i, g := range timed {
			timed[i] = segment.Interval{Start: zone.Adjust(g.Start), End: zone.Adjust(g.End)}
		}
	}
	return segment.Merge(timed), nil
}

// masked takes from a shift what is gone, and reports whether anything is left.
func (e *expansion) masked(s *encoding.Entry, gone []segment.Interval) (bool, error) {
	touched := slices.ContainsFunc(gone, func(g segment.Interval) bool { return g.Start < s.End() && g.End > s.Start })
	if !touched {
		return true, nil
	}
	shift, err := e.shift(s)
	if err != nil {
		return false, err
	}
	if left, err := segment.Cut(shift, gone); err != nil || !left {
		return false, err
	}
	shift.Id, shift.Employee, shift.Version = nil, nil, nil
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(shift)
	if err != nil {
		return false, err
	}
	t, err := encoding.StoredTemplate(body, encoding.KindShift, s.Day)
	if err != nil {
		return false, fmt.Errorf("schedule: shift %d: %w", s.ID, err)
	}
	// The job and the relations stand in the template now, and clock changes are settled.
	s.Template, s.Job, s.Relations = t, nil, -1
	s.Start = int64(s.Day)*civil.SecondsPerDay + int64(t.Start)
	return true, nil
}

// shift returns a shift as a message.
func (e *expansion) shift(s *encoding.Entry) (*schedulingv1.Shift, error) {
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
