package reading

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

// spanRow is a row of span.
type spanRow struct {
	employeeID, patternID, assignmentID, propagationID int64
	series                                             int64
	days                                               civil.Range
	position                                           int32
	lane                                               uint8
	inherited                                          bool
}

// itemRow is a row of schedule_item that is not deleted.
type itemRow struct {
	id, employeeID, version int64
	kind                    window.Kind
	day                     civil.Date
	body                    []byte
	// covers reports that the item covers shifts on its days, up to the day last.
	covers bool
	last   civil.Date
}

// leaveRow is a row of leave_edit. Its body omits the same fields as the body of an item.
type leaveRow struct {
	itemRow
}

// lockedLeaveRow is a row of locked_leave.
type lockedLeaveRow struct {
	leaveRow
	locked civil.Range
}

// hiddenRow is the slot of a generated entry that an item hides.
type hiddenRow struct {
	employeeID    int64
	itemID        int64
	day           civil.Date
	lane, ordinal uint8
}

// EmployeeRow is a row of employee.
type EmployeeRow struct {
	ID           int64
	Number, Zone string
	Jobs         []byte // the input of projection.ReadJobs
}

// Rows has the stored rows of a window. Lists ascend by employee unless their comment says
// otherwise.
type Rows struct {
	Employees []EmployeeRow // in no order
	spans     []spanRow
	items     []itemRow
	hidden    []hiddenRow // by employee and day
	locks     []window.Lock
	leave     []leaveRow // by employee and day
	open      []itemRow
	// lockedLeave is the leave that covers shifts on locked days, by employee and lock.
	lockedLeave []lockedLeaveRow
	holidays    []holidayRow // in no order
	// hides lists what items hid at an earlier time, by employee and day. Spans determine the
	// slots.
	hides []hiddenentry.Hide
	// names are the present names of renamed objects that items and patterns refer to.
	names *setupref.Names
}

// filter selects the rows to read.
type filter struct {
	employees []int64 // ascending
	days      civil.Range
	// Each flag adds a kind of rows; details are the rows of the employees themselves.
	leave, open, holidays, details bool
	// at selects the state at an earlier time; nil selects the current state.
	at     *time.Time
	asSent bool // keeps the names of setup as they were sent
}

// errNotBinary reports that the connection does not use prepared statements, so that values arrive
// as texts.
var errNotBinary = errors.New("schedule: the database connection does not answer in binary form")

// read reads all rows in one statement from one snapshot. An entry that is being detached is
// therefore found either among the spans or among the items.
func read(ctx context.Context, db pg.Querier, w filter) (Rows, error) {
	if len(w.employees) == 0 && !w.open {
		return Rows{}, nil
	}
	sql, asked, others := w.statement()
	args := []any{tenant.Of(ctx), asked, w.days.From.AddDays(-window.Lookback), w.days.To, w.days.From, MaxItemDays}
	if w.at != nil {
		args = append(args, *w.at)
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
		out.retain(w.employees)
	}
	out.sort()
	if w.asSent {
		return out, nil
	}
	return out, out.showNames()
}

// showNames writes the present names of renamed objects into the items.
func (r *Rows) showNames() error {
	if r.names == nil {
		return nil
	}
	for _, list := range [][]itemRow{r.items, r.open} {
		for i := range list {
			body, err := window.BodyWithNames(list[i].body, list[i].kind, r.names)
			if err != nil {
				return fmt.Errorf("schedule: item %d: %w", list[i].id, err)
			}
			list[i].body = body
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
	r.spans = slices.DeleteFunc(r.spans, func(s spanRow) bool { return other(s.employeeID) })
	r.items = slices.DeleteFunc(r.items, func(i itemRow) bool { return other(i.employeeID) })
	r.hidden = slices.DeleteFunc(r.hidden, func(h hiddenRow) bool { return other(h.employeeID) })
	r.locks = slices.DeleteFunc(r.locks, func(l window.Lock) bool { return other(l.EmployeeID) })
	r.leave = slices.DeleteFunc(r.leave, func(l leaveRow) bool { return other(l.employeeID) })
	r.lockedLeave = slices.DeleteFunc(r.lockedLeave, func(l lockedLeaveRow) bool { return other(l.employeeID) })
	r.Employees = slices.DeleteFunc(r.Employees, func(k EmployeeRow) bool { return other(k.ID) })
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
			r.Employees = append(r.Employees, EmployeeRow{ID: employee, Number: string(v[12]), Zone: string(v[13]), Jobs: append([]byte(nil), v[11]...)})
			continue
		}
		var day civil.Date
		if kind != kindFormerName {
			day = dateAt(v[6])
		}
		switch kind {
		case kindSpan:
			r.spans = append(r.spans, spanRow{
				employeeID: employee, patternID: int8At(v[2]), assignmentID: int8At(v[3]), propagationID: int8At(v[4]), series: int8At(v[5]),
				days: civil.Range{From: day, To: dateAt(v[7])}, position: int4At(v[8]),
				lane: uint8(binary.BigEndian.Uint16(v[9])), inherited: v[10][0] != 0,
			})
		case kindItem:
			item := decodeItem(v)
			item.last, item.covers, item.kind = dateAt(v[7]), int4At(v[8]) != 0, window.Kind(binary.BigEndian.Uint16(v[9]))
			r.items = append(r.items, item)
		case kindHidden:
			r.hidden = append(r.hidden, hiddenRow{
				employeeID: employee, itemID: int8At(v[2]), day: day, lane: uint8(binary.BigEndian.Uint16(v[9])), ordinal: uint8(int4At(v[8])),
			})
		case kindHide:
			r.hides = append(r.hides, decodeHide(v))
		case kindLock:
			r.locks = append(r.locks, window.Lock{EmployeeID: employee, ID: int8At(v[2]), Days: civil.Range{From: day, To: dateAt(v[7])}})
		case kindLeaveRow:
			r.leave = append(r.leave, decodeLeave(v))
		case kindLockedLeave:
			r.lockedLeave = append(r.lockedLeave, lockedLeaveRow{
				leaveRow: decodeLeave(v),
				locked:   civil.Range{From: civil.Date(int8At(v[4])), To: civil.Date(int8At(v[5]))},
			})
		case kindHoliday:
			r.holidays = append(r.holidays, holidayRow{
				id: int8At(v[2]), days: civil.Range{From: day, To: dateAt(v[7])}, body: append([]byte(nil), v[11]...),
			})
		case kindOpen:
			r.open = append(r.open, decodeItem(v))
		case kindFormerName:
			former = append(former, setupref.Former{
				Kind: setupref.Property(v[11]), ID: int8At(v[2]), Key: string(v[12]), Present: string(v[13]), ByName: v[10][0] != 0,
			})
		}
	}
	r.names = setupref.NewNames(former)
	return found.Err()
}

// decodeLeave decodes a row of leave.
func decodeLeave(v [][]byte) leaveRow {
	item := decodeItem(v)
	item.last = dateAt(v[7])
	return leaveRow{item}
}

// decodeItem decodes a row of an item, of an open shift or of leave.
func decodeItem(v [][]byte) itemRow {
	return itemRow{
		employeeID: int8At(v[1]), id: int8At(v[2]), version: int8At(v[3]), day: dateAt(v[6]),
		body: append([]byte(nil), v[11]...),
	}
}

// sort sorts each list into its documented order. The rows of an employee arrive together and
// mostly in order.
func (r *Rows) sort() {
	sortIfNeeded(r.spans, func(a, b spanRow) int {
		return cmp.Or(cmp.Compare(a.employeeID, b.employeeID), cmp.Compare(a.lane, b.lane), cmp.Compare(a.days.From, b.days.From))
	})
	sortIfNeeded(r.items, func(a, b itemRow) int {
		return cmp.Or(cmp.Compare(a.employeeID, b.employeeID), cmp.Compare(a.day, b.day), cmp.Compare(a.id, b.id))
	})
	sortIfNeeded(r.hidden, func(a, b hiddenRow) int {
		return cmp.Or(cmp.Compare(a.employeeID, b.employeeID), cmp.Compare(a.day, b.day))
	})
	sortIfNeeded(r.hides, func(a, b hiddenentry.Hide) int {
		return cmp.Or(cmp.Compare(a.EmployeeID, b.EmployeeID), cmp.Compare(a.Day, b.Day), cmp.Compare(a.ItemID, b.ItemID))
	})
	sortIfNeeded(r.locks, func(a, b window.Lock) int {
		return cmp.Or(cmp.Compare(a.EmployeeID, b.EmployeeID), cmp.Compare(a.Days.From, b.Days.From))
	})
	sortIfNeeded(r.leave, func(a, b leaveRow) int {
		return cmp.Or(cmp.Compare(a.employeeID, b.employeeID), cmp.Compare(a.day, b.day), cmp.Compare(a.id, b.id))
	})
	sortIfNeeded(r.lockedLeave, func(a, b lockedLeaveRow) int {
		return cmp.Or(cmp.Compare(a.employeeID, b.employeeID), cmp.Compare(a.locked.From, b.locked.From), cmp.Compare(a.day, b.day), cmp.Compare(a.id, b.id))
	})
	sortIfNeeded(r.open, func(a, b itemRow) int { return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.id, b.id)) })
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
