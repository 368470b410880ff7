package storedrows

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// The kinds of rows that the statement returns.
const (
	kindEmployee = iota
	kindSpan
	kindItem
	kindHidden
	kindLock
	kindLeaveRow
	kindOpen
	kindLockedLeave
	kindHoliday
	kindHide
	kindFormerName
)

// MaxItemDays is the largest number of days that a stored item can touch.
const MaxItemDays = 366

// Span is a row of span.
type Span struct {
	EmployeeID, PatternID, AssignmentID, PropagationID int64
	Series                                             int64
	Days                                               civil.Range
	Position                                           int32
	Lane                                               uint8
	Inherited                                          bool
}

// Item is a row of schedule_item that is not deleted.
type Item struct {
	ID, EmployeeID, Version int64
	Kind                    window.Kind
	Day                     civil.Date
	Body                    []byte
	// Covers reports that the item covers shifts on its days, up to the day Last.
	Covers bool
	Last   civil.Date
}

// Leave is a row of leave_edit. Its body omits the same fields as the body of an item.
type Leave struct {
	Item
}

// LockedLeave is a row of locked_leave.
type LockedLeave struct {
	Leave
	Locked civil.Range
}

// ToSpan returns the span that the row stores, with the length of its cycle in days.
func (s *Span) ToSpan(dayCount int32) span.Span {
	return span.Span{
		From: s.Days.From, To: s.Days.To, Position: s.Position, DayCount: dayCount, PatternID: s.PatternID,
		AssignmentID: s.AssignmentID, Lane: s.Lane, Inherited: s.Inherited, Series: s.Series,
	}
}

// HiddenSlot is the slot of a generated entry that an item hides.
type HiddenSlot struct {
	EmployeeID    int64
	ItemID        int64
	Day           civil.Date
	Lane, Ordinal uint8
}

// Holiday is a row of holiday_date that touches the window.
type Holiday struct {
	ID   int64
	Days civil.Range
	Body []byte
}

// Employee is a row of employee.
type Employee struct {
	ID           int64
	Number, Zone string
	Jobs         []byte // the input of projection.ReadJobs
}

// Rows has the stored rows of a window. Lists ascend by employee unless their comment says
// otherwise.
type Rows struct {
	Employees []Employee // in no order
	Spans     []Span
	Items     []Item
	Hidden    []HiddenSlot // by employee and day
	Locks     []window.Lock
	Leave     []Leave // by employee and day
	Open      []Item
	// LockedLeave is the leave that covers shifts on locked days, by employee and lock.
	LockedLeave []LockedLeave
	Holidays    []Holiday // in no order
	// Hides lists what items hid at an earlier time, by employee and day. Spans determine the
	// slots.
	Hides []hiddenentry.Hide
	// Names are the present names of renamed objects that items and patterns refer to.
	Names *setupref.Names
}

// Filter selects the rows to read.
type Filter struct {
	Employees []int64 // ascending
	Days      civil.Range
	// Each flag adds a kind of rows; Details are the rows of the employees themselves.
	Leave, Open, Holidays, Details bool
	// At selects the state at an earlier time; nil selects the current state.
	At     *time.Time
	AsSent bool // keeps the names of setup as they were sent
}

// errNotBinary reports that the connection does not use prepared statements, so that values arrive
// as texts.
var errNotBinary = errors.New("schedule: the database connection does not answer in binary form")

// Read reads all rows in one statement from one snapshot. An entry that is being detached is
// therefore found either among the spans or among the items.
func Read(ctx context.Context, db pg.Querier, w Filter) (Rows, error) {
	if len(w.Employees) == 0 && !w.Open {
		return Rows{}, nil
	}
	sql, asked, others := w.statement()
	args := []any{tenant.Of(ctx), asked, w.Days.From.AddDays(-window.Lookback), w.Days.To, w.Days.From, MaxItemDays}
	if w.At != nil {
		args = append(args, *w.At)
	}
	found, err := db.Query(ctx, sql, args...)
	var out Rows
	if err == nil {
		err = out.scan(found)
	}
	if err != nil {
		return Rows{}, fmt.Errorf("schedule: read: %w", err)
	}
	if others {
		out.retain(w.Employees)
	}
	out.Sort()
	if w.AsSent {
		return out, nil
	}
	return out, out.showNames()
}

// showNames writes the present names of renamed objects into the items.
func (r *Rows) showNames() error {
	if r.Names == nil {
		return nil
	}
	for _, list := range [][]Item{r.Items, r.Open} {
		for i := range list {
			body, err := window.BodyWithNames(list[i].Body, list[i].Kind, r.Names)
			if err != nil {
				return fmt.Errorf("schedule: item %d: %w", list[i].ID, err)
			}
			list[i].Body = body
		}
	}
	return nil
}

// retain drops the rows of all employees that are not in the list, which ascends.
func (r *Rows) retain(employees []int64) {
	other := func(id int64) bool {
		_, asked := slices.BinarySearch(employees, id)
		return !asked
	}
	r.Spans = slices.DeleteFunc(r.Spans, func(s Span) bool { return other(s.EmployeeID) })
	r.Items = slices.DeleteFunc(r.Items, func(i Item) bool { return other(i.EmployeeID) })
	r.Hidden = slices.DeleteFunc(r.Hidden, func(h HiddenSlot) bool { return other(h.EmployeeID) })
	r.Locks = slices.DeleteFunc(r.Locks, func(l window.Lock) bool { return other(l.EmployeeID) })
	r.Leave = slices.DeleteFunc(r.Leave, func(l Leave) bool { return other(l.EmployeeID) })
	r.LockedLeave = slices.DeleteFunc(r.LockedLeave, func(l LockedLeave) bool { return other(l.EmployeeID) })
	r.Employees = slices.DeleteFunc(r.Employees, func(k Employee) bool { return other(k.ID) })
}

func (r *Rows) scan(found pgx.Rows) error {
	defer found.Close()
	if err := checkBinary(found); err != nil {
		return err
	}
	var former []setupref.Former
	for found.Next() {
		v := found.RawValues()
		kind, employee := binary.BigEndian.Uint16(v[0]), int8At(v[1])
		if kind == kindEmployee {
			r.Employees = append(r.Employees, Employee{ID: employee, Number: string(v[12]), Zone: string(v[13]), Jobs: append([]byte(nil), v[11]...)})
			continue
		}
		var day civil.Date
		if kind != kindFormerName {
			day = dateAt(v[6])
		}
		switch kind {
		case kindSpan:
			r.Spans = append(r.Spans, Span{
				EmployeeID: employee, PatternID: int8At(v[2]), AssignmentID: int8At(v[3]), PropagationID: int8At(v[4]), Series: int8At(v[5]),
				Days: civil.Range{From: day, To: dateAt(v[7])}, Position: int4At(v[8]),
				Lane: uint8(binary.BigEndian.Uint16(v[9])), Inherited: v[10][0] != 0,
			})
		case kindItem:
			item := decodeItem(v)
			item.Last, item.Covers, item.Kind = dateAt(v[7]), int4At(v[8]) != 0, window.Kind(binary.BigEndian.Uint16(v[9]))
			r.Items = append(r.Items, item)
		case kindHidden:
			r.Hidden = append(r.Hidden, HiddenSlot{
				EmployeeID: employee, ItemID: int8At(v[2]), Day: day, Lane: uint8(binary.BigEndian.Uint16(v[9])), Ordinal: uint8(int4At(v[8])),
			})
		case kindHide:
			r.Hides = append(r.Hides, decodeHide(v))
		case kindLock:
			r.Locks = append(r.Locks, window.Lock{EmployeeID: employee, ID: int8At(v[2]), Days: civil.Range{From: day, To: dateAt(v[7])}})
		case kindLeaveRow:
			r.Leave = append(r.Leave, decodeLeave(v))
		case kindLockedLeave:
			r.LockedLeave = append(r.LockedLeave, LockedLeave{
				Leave:  decodeLeave(v),
				Locked: civil.Range{From: civil.Date(int8At(v[4])), To: civil.Date(int8At(v[5]))},
			})
		case kindHoliday:
			r.Holidays = append(r.Holidays, Holiday{
				ID: int8At(v[2]), Days: civil.Range{From: day, To: dateAt(v[7])}, Body: append([]byte(nil), v[11]...),
			})
		case kindOpen:
			r.Open = append(r.Open, decodeItem(v))
		case kindFormerName:
			former = append(former, setupref.Former{
				Kind: setupref.Property(v[11]), ID: int8At(v[2]), Key: string(v[12]), Present: string(v[13]), ByName: v[10][0] != 0,
			})
		}
	}
	r.Names = setupref.NewNames(former)
	return found.Err()
}

// decodeLeave decodes a row of leave.
func decodeLeave(v [][]byte) Leave {
	item := decodeItem(v)
	item.Last = dateAt(v[7])
	return Leave{item}
}

// decodeItem decodes a row of an item, of an open shift or of leave.
func decodeItem(v [][]byte) Item {
	return Item{
		EmployeeID: int8At(v[1]), ID: int8At(v[2]), Version: int8At(v[3]), Day: dateAt(v[6]),
		Body: append([]byte(nil), v[11]...),
	}
}

// Sort sorts each list into its documented order. The rows of an employee arrive together and
// mostly in order.
func (r *Rows) Sort() {
	sortIfNeeded(r.Spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.EmployeeID, b.EmployeeID), cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Days.From, b.Days.From))
	})
	sortIfNeeded(r.Items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.EmployeeID, b.EmployeeID), cmp.Compare(a.Day, b.Day), cmp.Compare(a.ID, b.ID))
	})
	sortIfNeeded(r.Hidden, func(a, b HiddenSlot) int {
		return cmp.Or(cmp.Compare(a.EmployeeID, b.EmployeeID), cmp.Compare(a.Day, b.Day))
	})
	sortIfNeeded(r.Hides, func(a, b hiddenentry.Hide) int {
		return cmp.Or(cmp.Compare(a.EmployeeID, b.EmployeeID), cmp.Compare(a.Day, b.Day), cmp.Compare(a.ItemID, b.ItemID))
	})
	sortIfNeeded(r.Locks, func(a, b window.Lock) int {
		return cmp.Or(cmp.Compare(a.EmployeeID, b.EmployeeID), cmp.Compare(a.Days.From, b.Days.From))
	})
	sortIfNeeded(r.Leave, func(a, b Leave) int {
		return cmp.Or(cmp.Compare(a.EmployeeID, b.EmployeeID), cmp.Compare(a.Day, b.Day), cmp.Compare(a.ID, b.ID))
	})
	sortIfNeeded(r.LockedLeave, func(a, b LockedLeave) int {
		return cmp.Or(cmp.Compare(a.EmployeeID, b.EmployeeID), cmp.Compare(a.Locked.From, b.Locked.From), cmp.Compare(a.Day, b.Day), cmp.Compare(a.ID, b.ID))
	})
	sortIfNeeded(r.Open, func(a, b Item) int { return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.ID, b.ID)) })
}

func sortIfNeeded[T any](list []T, compare func(a, b T) int) {
	if !slices.IsSortedFunc(list, compare) {
		slices.SortFunc(list, compare)
	}
}

func checkBinary(rows pgx.Rows) error {
	// If the statement failed, its rows have no field descriptions.
	if err := rows.Err(); err != nil {
		return err
	}
	for _, column := range rows.FieldDescriptions() {
		// Texts are the same in both formats.
		if column.Format != pgx.BinaryFormatCode && column.DataTypeOID != pgtype.TextOID {
			return errNotBinary
		}
	}
	return nil
}

func int8At(v []byte) int64 { return int64(binary.BigEndian.Uint64(v)) }

func int4At(v []byte) int32 { return int32(binary.BigEndian.Uint32(v)) }

// dateAt reads a date in PostgreSQL's binary format, which counts days from 2000-01-01.
func dateAt(v []byte) civil.Date {
	const year2000 civil.Date = 10957
	return year2000 + civil.Date(int4At(v))
}
