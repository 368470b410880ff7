package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// leave adds the leave edits of an employee, whose shifts stand from the first
// one on, and takes from the shifts what they cover (docs/decisions, 28). From those
// of locked days the leave takes that was there when they were locked.
func (e *expansion) leave(rows []leaveRow, locked []lockedLeaveRow, first int, employee int32, locks []lockRow) error {
	if len(rows) == 0 && len(locked) == 0 {
		return nil
	}
	for i := range rows {
		row := &rows[i]
		if !e.needed[kindLeaveEdit] || row.last < e.days.From || row.day >= e.days.To {
			continue
		}
		added, err := e.item(&row.itemRow, kindLeaveEdit)
		if err != nil {
			return err
		}
		added.employee, added.locked = employee, isLocked(locks, row.day)
		e.entries[kindLeaveEdit] = append(e.entries[kindLeaveEdit], added)
	}
	shifts := e.entries[kindShift][first:]
	if len(shifts) == 0 {
		return nil
	}
	var kept []entry
	for _, part := range parts(shifts, rows, locked, locks) {
		left, err := e.uncovered(part.shifts, part.leave)
		if err != nil {
			return err
		}
		kept = append(kept, left...)
	}
	e.entries[kindShift] = append(e.entries[kindShift][:first], kept...)
	return nil
}

// part is some shifts of an employee, with the leave that may cover them.
type part struct {
	shifts []entry
	leave  []leaveRow
}

// parts divides shifts into those of days that are not locked, and those of days that
// were locked together.
func parts(shifts []entry, rows []leaveRow, locked []lockedLeaveRow, locks []lockRow) []part {
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
		if isLocked(locks, s.day) {
			into = &bare
			for days, at := range byLock {
				if days.Contains(s.day) {
					into = &frozen[at]
				}
			}
		}
		into.shifts = append(into.shifts, s)
	}
	return append(frozen, open, bare)
}

// uncovered returns what leave leaves of shifts.
func (e *expansion) uncovered(shifts []entry, rows []leaveRow) ([]entry, error) {
	if len(shifts) == 0 || len(rows) == 0 {
		return shifts, nil
	}
	timed, days, err := leaveOf(rows)
	if err != nil {
		return nil, err
	}
	gone, err := e.gone(shifts, timed, days)
	if err != nil {
		return nil, err
	}
	kept := shifts[:0]
	for i := range shifts {
		left, err := e.masked(&shifts[i], gone)
		if err != nil {
			return nil, err
		}
		if left {
			kept = append(kept, shifts[i])
		}
	}
	return kept, nil
}

// gone returns what leave takes of an employee's time.
func (e *expansion) gone(shifts []entry, timed []stint, days map[civil.Date]dayLeave) ([]stint, error) {
	for day, taken := range days {
		var ofDay []*entry
		for i := range shifts {
			if shifts[i].day == day {
				ofDay = append(ofDay, &shifts[i])
			}
		}
		slices.SortFunc(ofDay, func(a, b *entry) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.id, b.id)) })
		pieces := make([][]stretch, len(ofDay))
		for i, s := range ofDay {
			shift, err := e.shift(s)
			if err != nil {
				return nil, err
			}
			if pieces[i], err = piecesOf(shift); err != nil {
				return nil, err
			}
		}
		timed = append(timed, taken.take(pieces)...)
	}
	return merged(timed), nil
}

// masked takes from a shift what is gone, and tells whether anything is left.
func (e *expansion) masked(s *entry, gone []stint) (bool, error) {
	touched := slices.ContainsFunc(gone, func(g stint) bool { return g.start < s.end() && g.end > s.start })
	if !touched {
		return true, nil
	}
	shift, err := e.shift(s)
	if err != nil {
		return false, err
	}
	if left, err := cut(shift, gone); err != nil || !left {
		return false, err
	}
	shift.Id, shift.Employee, shift.Version = nil, nil, nil
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(shift)
	if err != nil {
		return false, err
	}
	t, err := storedTemplate(body, kindShift, s.day)
	if err != nil {
		return false, fmt.Errorf("schedule: shift %d: %w", s.id, err)
	}
	// The relations stand in the template now, and clock changes are settled.
	s.template, s.relations = t, -1
	s.start = int64(s.day)*civil.SecondsPerDay + int64(t.start)
	return true, nil
}

// shift returns a shift as a message.
func (e *expansion) shift(s *entry) (*schedulingv1.Shift, error) {
	shift := &schedulingv1.Shift{}
	if err := proto.Unmarshal(e.message(s), shift); err != nil {
		return nil, fmt.Errorf("schedule: shift %d: %w", s.id, err)
	}
	return shift, nil
}
