package reading

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
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
func expand(q *request.Query, persons []window.Person, rows Rows, patterns []*window.Pattern) (*window.Window, error) {
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
func (e *expansion) add(rows Rows, patterns []*window.Pattern) error {
	e.reserve(rows.spans, patterns)
	var spanAt, itemAt, hiddenAt, lockAt, leaveAt, lockedLeaveAt int
	for i := range e.Persons {
		id := e.Persons[i].ID
		hidden := employeeRows(rows.hidden, &hiddenAt, func(h *hiddenRow) int64 { return h.employeeID }, id)
		locks := employeeRows(rows.locks, &lockAt, func(l *window.Lock) int64 { return l.EmployeeID }, id)
		spans := employeeRows(rows.spans, &spanAt, func(s *spanRow) int64 { return s.employeeID }, id)
		first := len(e.Entries[window.KindShift])
		for k := range spans {
			if err := e.addSpan(&spans[k], patterns[spanAt-len(spans)+k], int32(i), hidden, locks); err != nil {
				return err
			}
		}
		items := employeeRows(rows.items, &itemAt, func(r *itemRow) int64 { return r.employeeID }, id)
		if err := e.addItems(items, int32(i), locks); err != nil {
			return err
		}
		if e.uncut != nil {
			*e.uncut = append(*e.uncut, e.Entries[window.KindShift][first:]...)
		}
		if e.whole {
			continue
		}
		leave := employeeRows(rows.leave, &leaveAt, func(r *leaveRow) int64 { return r.employeeID }, id)
		lockedLeave := employeeRows(rows.lockedLeave, &lockedLeaveAt, func(r *lockedLeaveRow) int64 { return r.employeeID }, id)
		if err := e.addLeave(leave, lockedLeave, first, int32(i), locks); err != nil {
			return err
		}
		if err := e.deductTimeOff(items, first); err != nil {
			return err
		}
	}
	e.Locks = rows.locks
	return e.addOpenShifts(rows.open)
}

// reserve allocates room for the entries of spans, so that the lists are not copied while they
// grow.
func (e *expansion) reserve(spans []spanRow, patterns []*window.Pattern) {
	var room [window.Kinds]int
	for i := range spans {
		days, cycle := spans[i].days.Intersect(e.Days).Days(), patterns[i].Cycle
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
func (e *expansion) addSpan(s *spanRow, pattern *window.Pattern, employee int32, hidden []hiddenRow, locks []window.Lock) error {
	relations, err := e.relationIndex(s, pattern.Name)
	if err != nil {
		return err
	}
	run := rotation.Run{Days: s.days, Position: s.position}
	for day, found := range pattern.Cycle.Entries(run, e.Days) {
		k := window.Kind(found.Kind - rotation.Shift)
		if e.skips(k, employee, day) {
			continue
		}
		isShown := !isHidden(hidden, day, s.lane, found.Ordinal) && !e.Persons[employee].Zone.Skips(day)
		if !isShown && e.steps == nil {
			continue
		}
		id, err := entryid.Encode(entryid.Entry{Series: s.series + int64(found.Ordinal), Day: day})
		if err != nil {
			return fmt.Errorf("schedule: span of employee %d: %w", s.employeeID, err)
		}
		if e.steps != nil && k == window.KindShift {
			e.steps.produce(employee, Produced{
				ID: id, Day: day, Lane: s.lane, Ordinal: found.Ordinal, Hidden: !isShown,
				Start: pattern.Templates[found.Template].Start, End: pattern.Templates[found.Template].End,
			})
		}
		if !isShown {
			continue
		}
		e.Entries[k] = append(e.Entries[k], window.Entry{
			Template: &pattern.Templates[found.Template], Job: e.Persons[employee].JobOn(day), ID: id, Version: s.propagationID,
			Start:    int64(day)*civil.SecondsPerDay + int64(found.StartSec),
			Employee: employee, Relations: relations, Day: day, Locked: isLocked(locks, day),
		})
	}
	return nil
}

func isHidden(hidden []hiddenRow, day civil.Date, lane, ordinal uint8) bool {
	if len(hidden) == 0 {
		return false
	}
	at, _ := slices.BinarySearchFunc(hidden, day, func(h hiddenRow, day civil.Date) int { return cmp.Compare(h.day, day) })
	for ; at < len(hidden) && hidden[at].day == day; at++ {
		if hidden[at].lane == lane && hidden[at].ordinal == ordinal {
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
func (e *expansion) relationIndex(s *spanRow, pattern string) (int32, error) {
	key := window.Relation{AssignmentID: s.assignmentID, Inherited: s.inherited, Pattern: pattern}
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
