package reading

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// Origins are the shifts of persons on days, with the rows that they follow from, as of one moment.
type Origins struct {
	Days    civil.Range
	Persons []PersonOrigins // by ascending id
}

// PersonOrigins are the shifts of one person, and the decisions that they follow from.
type PersonOrigins struct {
	Person *window.Person
	// Shown are the shifts of the schedule that belong to the days.
	Shown []Shown
	// Produced are the shifts that patterns generate on the days, hidden ones included.
	Produced []Produced
	Cuts     []Cut
	Spans    []SpanOrigin // by lane and first day
	Hides    []Hidden     // by day
	Entered  []Entered    // shifts and time off that people entered
	Leave    []LeaveOrigin
	Locks    []window.Lock
}

// Shown is a shift that the schedule shows.
type Shown struct {
	ID  int64
	Day civil.Date
	// Start and End are seconds after the midnight that begins the day, without clock changes.
	Start, End int32
	// Moved reports that a clock change skips one of its times, so that the schedule shows a later one.
	Moved bool
}

// SpanOrigin is a span of days with the same pattern.
type SpanOrigin struct {
	Days          civil.Range
	Lane          uint8
	PatternID     int64
	Pattern       string // may be empty
	AssignmentID  int64
	PropagationID int64
	Inherited     bool

	cycle    *window.Pattern
	position int32
}

// Position returns the position of a day of the span in the cycle, from 0.
func (s *SpanOrigin) Position(day civil.Date) int32 {
	return s.cycle.Cycle.Position(s.Days.From, s.position, day)
}

// DayCount returns the length of the cycle.
func (s *SpanOrigin) DayCount() int32 { return s.cycle.Cycle.DayCount() }

// Hidden is the slot of a generated shift that an item hides.
type Hidden struct {
	ItemID        int64
	Day           civil.Date
	Lane, Ordinal uint8
}

// Entered is a shift, or time off, that people entered.
type Entered struct {
	ID      int64
	TimeOff bool
	// First is the first day, and Last the last day.
	First, Last civil.Date
	// Start and End are the shift before leave is deducted, like those of Shown. They are 0 for time off, and for
	// shifts that begin on another day than the read ones.
	Start, End int32
}

// LeaveOrigin is a leave edit that touches one of the days.
type LeaveOrigin struct {
	ID          int64
	Version     int64
	First, Last civil.Date
	// Locked are the locked days for which the edit was recorded; it is empty for leave of open days.
	Locked civil.Range
}

// ReadOrigins returns the shifts of persons on days with their origins, as the transaction sees them; nil means
// as of now, and otherwise at is a settled instant. It does not check access.
func (r *Reader) ReadOrigins(ctx context.Context, tx pgx.Tx, persons []window.Person, days civil.Range, at *time.Time) (*Origins, error) {
	out := &Origins{Days: days, Persons: make([]PersonOrigins, len(persons))}
	in, q := r.In(tx), &request.Query{Selected: request.SelectShifts, Days: days, ExcludeOvernight: true}
	var rows storedrows.Rows
	var patterns []*window.Pattern
	var err error
	if at != nil {
		rows, patterns, err = in.rowsAt(ctx, q, persons, *at)
	} else if rows, err = in.Rows(ctx, q, window.PersonIDs(persons), false); err == nil {
		patterns, err = in.spanPatterns(ctx, rows.Spans, form{names: rows.Names})
	}
	if err != nil {
		return nil, err
	}
	e := newExpansion(q, persons)
	var uncut []window.Entry
	e.uncut, e.steps = &uncut, &steps{produced: map[int32][]Produced{}, cuts: map[int32][]Cut{}}
	if err := e.add(rows, patterns); err != nil {
		return nil, err
	}
	out.collect(e, &rows, patterns)
	return out, nil
}

// collect divides the rows and entries among the persons.
func (o *Origins) collect(e *expansion, rows *storedrows.Rows, patterns []*window.Pattern) {
	var spanAt, itemAt, hiddenAt, lockAt, leaveAt, lockedLeaveAt int
	entries := make(map[int64]*window.Entry, len(*e.uncut))
	for i := range *e.uncut {
		entries[(*e.uncut)[i].ID] = &(*e.uncut)[i]
	}
	for i := range e.Persons {
		p, id := &o.Persons[i], e.Persons[i].ID
		p.Person = &e.Persons[i]
		p.Produced, p.Cuts = e.steps.produced[int32(i)], e.steps.cuts[int32(i)]
		spans := employeeRows(rows.Spans, &spanAt, func(s *storedrows.Span) int64 { return s.EmployeeID }, id)
		for k := range spans {
			p.Spans = append(p.Spans, newOrigin(&spans[k], patterns[spanAt-len(spans)+k]))
		}
		for _, h := range employeeRows(rows.Hidden, &hiddenAt, func(h *storedrows.HiddenSlot) int64 { return h.EmployeeID }, id) {
			p.Hides = append(p.Hides, Hidden{ItemID: h.ItemID, Day: h.Day, Lane: h.Lane, Ordinal: h.Ordinal})
		}
		for _, item := range employeeRows(rows.Items, &itemAt, func(r *storedrows.Item) int64 { return r.EmployeeID }, id) {
			if item.Kind != window.KindShift && !item.Covers {
				continue
			}
			entered := Entered{ID: item.ID, TimeOff: item.Covers, First: item.Day, Last: item.Last}
			if s := entries[item.ID]; s != nil {
				entered.Start, entered.End = readClock(s)
			}
			p.Entered = append(p.Entered, entered)
		}
		p.Locks = employeeRows(rows.Locks, &lockAt, func(l *window.Lock) int64 { return l.EmployeeID }, id)
		for _, l := range employeeRows(rows.Leave, &leaveAt, func(l *storedrows.Leave) int64 { return l.EmployeeID }, id) {
			p.Leave = append(p.Leave, LeaveOrigin{ID: l.ID, Version: l.Version, First: l.Day, Last: l.Last})
		}
		for _, l := range employeeRows(rows.LockedLeave, &lockedLeaveAt, func(l *storedrows.LockedLeave) int64 { return l.EmployeeID }, id) {
			p.Leave = append(p.Leave, LeaveOrigin{ID: l.ID, Version: l.Version, First: l.Day, Last: l.Last, Locked: l.Locked})
		}
	}
	for i := range e.Entries[window.KindShift] {
		s := &e.Entries[window.KindShift][i]
		if !o.Days.Contains(s.Day) {
			continue
		}
		shown := Shown{ID: s.ID, Day: s.Day, Moved: s.IsMoved(e.Persons[s.Employee].Zone)}
		shown.Start, shown.End = readClock(s)
		o.Persons[s.Employee].Shown = append(o.Persons[s.Employee].Shown, shown)
	}
	for i := range o.Persons {
		slices.SortStableFunc(o.Persons[i].Shown, func(a, b Shown) int {
			return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
		})
	}
}

// newOrigin returns the origin of a stored span of a pattern.
func newOrigin(s *storedrows.Span, pattern *window.Pattern) SpanOrigin {
	return SpanOrigin{
		Days: s.Days, Lane: s.Lane, PatternID: s.PatternID, Pattern: pattern.Name, AssignmentID: s.AssignmentID, PropagationID: s.PropagationID,
		Inherited: s.Inherited, cycle: pattern, position: s.Position,
	}
}

// readClock returns the start and the end of an entry in seconds after the midnight that begins its day.
func readClock(e *window.Entry) (start, end int32) {
	midnight := int64(e.Day) * civil.SecondsPerDay
	return int32(e.Start - midnight), int32(e.End() - midnight)
}

// Place is the employee and the day of a shift.
type Place struct {
	EmployeeID int64
	Day        civil.Date
}

// readItemPlace finds the place of a shift that people entered, changed or deleted.
const readItemPlace = `
SELECT CASE WHEN deleted THEN hides_employee_id ELSE employee_id END, CASE WHEN deleted THEN hides_day ELSE from_day END
FROM schedule_item WHERE tenant_id = $1 AND id = $2 AND kind = 'SHIFT' AND NOT withdrawn`

// FindShift returns the place of a shift, also of a deleted one that a pattern generates. It returns nil if there is
// no such shift, or if it is an open one. It does not check access.
func (r *Reader) FindShift(ctx context.Context, id int64) (*Place, error) {
	// An entry changes from generated to entered and never back, so that this order finds it.
	generated, err := r.ReadGenerated(ctx, r.db, []int64{id})
	if err != nil {
		return nil, err
	}
	if g := generated[id]; g != nil && g.IsShift() {
		return &Place{g.EmployeeID, g.Day}, nil
	}
	var employee *int64
	var day *civil.Date
	switch err := r.db.QueryRow(ctx, readItemPlace, tenant.Of(ctx), id).Scan(&employee, &day); {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("schedule: find shift %d: %w", id, err)
	case employee == nil || day == nil:
		return nil, nil
	}
	return &Place{*employee, *day}, nil
}
