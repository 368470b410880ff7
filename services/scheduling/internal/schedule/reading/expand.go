package reading

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// expansion collects the entries of a window.
type expansion struct {
	*window.Window
	query     *request.Query
	needed    [window.Kinds]bool
	relatedTo map[window.Relation]int32
	// uncut receives the shifts as they are before deductions of leave; nil discards them.
	uncut *[]window.Entry
	// shiftDays limits shifts to these days of each person; nil means all days.
	shiftDays []map[civil.Date]bool
	// whole turns off the deductions of leave and time off.
	whole bool
	// steps receives what each row contributes to the shifts; nil discards it.
	steps *steps
}

// skips reports whether the request needs no entries of a kind on this day of a person.
func (e *expansion) skips(k window.Kind, employee int32, day civil.Date) bool {
	return !e.needed[k] || k == window.KindShift && (e.query.ExcludeOvernight && day < e.Days.From || e.shiftDays != nil && !e.shiftDays[employee][day])
}

// expand builds the window of the rows. Rows and persons ascend by employee; patterns[i] belongs to
// the span i.
func expand(q *request.Query, persons []window.Person, rows storedrows.Rows, patterns []*window.Pattern) (*window.Window, error) {
	e := newExpansion(q, persons)
	return e.Window, e.add(rows, patterns)
}

func newExpansion(q *request.Query, persons []window.Person) *expansion {
	e := &expansion{
		Window: &window.Window{Days: q.Days, Persons: persons}, query: q, relatedTo: map[window.Relation]int32{},
	}
	for k := range window.Kinds {
		e.needed[k] = needsKind(q, k)
	}
	return e
}

// add adds the entries of all rows.
func (e *expansion) add(rows storedrows.Rows, patterns []*window.Pattern) error {
	e.reserve(rows.Spans, patterns)
	var spanAt, itemAt, hiddenAt, lockAt, leaveAt, lockedLeaveAt int
	for i := range e.Persons {
		id := e.Persons[i].ID
		hidden := employeeRows(rows.Hidden, &hiddenAt, func(h *storedrows.HiddenSlot) int64 { return h.EmployeeID }, id)
		locks := employeeRows(rows.Locks, &lockAt, func(l *window.Lock) int64 { return l.EmployeeID }, id)
		spans := employeeRows(rows.Spans, &spanAt, func(s *storedrows.Span) int64 { return s.EmployeeID }, id)
		first := len(e.Entries[window.KindShift])
		for k := range spans {
			if err := e.addSpan(&spans[k], patterns[spanAt-len(spans)+k], int32(i), hidden, locks); err != nil {
				return err
			}
		}
		items := employeeRows(rows.Items, &itemAt, func(r *storedrows.Item) int64 { return r.EmployeeID }, id)
		if err := e.addItems(items, int32(i), locks); err != nil {
			return err
		}
		if e.uncut != nil {
			*e.uncut = append(*e.uncut, e.Entries[window.KindShift][first:]...)
		}
		if e.whole {
			continue
		}
		leave := employeeRows(rows.Leave, &leaveAt, func(r *storedrows.Leave) int64 { return r.EmployeeID }, id)
		lockedLeave := employeeRows(rows.LockedLeave, &lockedLeaveAt, func(r *storedrows.LockedLeave) int64 { return r.EmployeeID }, id)
		if err := e.addLeave(leave, lockedLeave, first, int32(i), locks); err != nil {
			return err
		}
		if err := e.deductTimeOff(items, first); err != nil {
			return err
		}
	}
	e.Locks = rows.Locks
	return e.addOpenShifts(rows.Open)
}

// reserve allocates room for the entries of spans, so that the lists are not copied while they
// grow.
func (e *expansion) reserve(spans []storedrows.Span, patterns []*window.Pattern) {
	var room [window.Kinds]int
	for i := range spans {
		days, cycle := spans[i].Days.Intersect(e.Days).Days(), patterns[i].Cycle
		for k, perCycle := range patterns[i].PerCycle {
			if e.needed[k] && (k != int(window.KindShift) || e.shiftDays == nil) {
				// Reserve a few more than the average: the days of the window may be the busy ones
				// of the cycle.
				room[k] += days*perCycle/int(cycle.DayCount()) + 2
			}
		}
	}
	for k := range room {
		e.Entries[k] = make([]window.Entry, 0, room[k])
	}
}

// employeeRows returns the rows of one employee, searching from index *at, and moves *at past them.
func employeeRows[R any](list []R, at *int, employee func(*R) int64, id int64) []R {
	for *at < len(list) && employee(&list[*at]) < id {
		*at++
	}
	first := *at
	for *at < len(list) && employee(&list[*at]) == id {
		*at++
	}
	return list[first:*at]
}

// addSpan adds the entries of a span that touch the window.
func (e *expansion) addSpan(s *storedrows.Span, pattern *window.Pattern, employee int32, hidden []storedrows.HiddenSlot, locks []window.Lock) error {
	relations, err := e.relationIndex(s, pattern.Name)
	if err != nil {
		return err
	}
	run := rotation.Run{Days: s.Days, Position: s.Position}
	for day, found := range pattern.Cycle.Entries(run, e.Days) {
		k := window.Kind(found.Kind - rotation.Shift)
		if e.skips(k, employee, day) {
			continue
		}
		isShown := !isHidden(hidden, day, s.Lane, found.Ordinal) && !e.Persons[employee].Zone.Skips(day)
		if !isShown && e.steps == nil {
			continue
		}
		id, err := entryid.Encode(entryid.Entry{Series: s.Series + int64(found.Ordinal), Day: day})
		if err != nil {
			return fmt.Errorf("schedule: span of employee %d: %w", s.EmployeeID, err)
		}
		if e.steps != nil && k == window.KindShift {
			e.steps.produce(employee, Produced{
				ID: id, Day: day, Lane: s.Lane, Ordinal: found.Ordinal, Hidden: !isShown,
				Start: pattern.Templates[found.Template].Start, End: pattern.Templates[found.Template].End,
			})
		}
		if !isShown {
			continue
		}
		e.Entries[k] = append(e.Entries[k], window.Entry{
			Template: &pattern.Templates[found.Template], Job: e.Persons[employee].JobOn(day), ID: id, Version: s.PropagationID,
			Start:    int64(day)*civil.SecondsPerDay + int64(found.StartSec),
			Employee: employee, Relations: relations, Day: day, Locked: isLocked(locks, day),
		})
	}
	return nil
}

func isHidden(hidden []storedrows.HiddenSlot, day civil.Date, lane, ordinal uint8) bool {
	if len(hidden) == 0 {
		return false
	}
	at, _ := slices.BinarySearchFunc(hidden, day, func(h storedrows.HiddenSlot, day civil.Date) int { return cmp.Compare(h.Day, day) })
	for ; at < len(hidden) && hidden[at].Day == day; at++ {
		if hidden[at].Lane == lane && hidden[at].Ordinal == ordinal {
			return true
		}
	}
	return false
}

func isLocked(locks []window.Lock, day civil.Date) bool {
	for i := range locks {
		if locks[i].Days.Contains(day) {
			return true
		}
	}
	return false
}

// relationIndex returns the index of the relations that the entries of a span share.
func (e *expansion) relationIndex(s *storedrows.Span, pattern string) (int32, error) {
	key := window.Relation{AssignmentID: s.AssignmentID, Inherited: s.Inherited, Pattern: pattern}
	if index, ok := e.relatedTo[key]; ok {
		return index, nil
	}
	field, err := key.Field()
	if err != nil {
		return 0, err
	}
	index := int32(len(e.Relations))
	e.Relations = append(e.Relations, field)
	e.relatedTo[key] = index
	return index, nil
}
