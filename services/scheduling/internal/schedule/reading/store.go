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
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
)

// What the rows of a read are.
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
)

// MaxItemDays is how many days a stored item may touch at most.
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

// itemRow is a row of schedule_item that is not a tombstone.
type itemRow struct {
	id, employeeID, version int64
	kind                    encoding.Kind
	day                     civil.Date
	body                    []byte
	// covers says that it takes shifts of its days, of which last is the last one.
	covers bool
	last   civil.Date
}

// leaveRow is a row of leave_edit. Its body lacks what the body of an item lacks.
type leaveRow struct {
	itemRow
}

// lockedLeaveRow is a row of locked_leave.
type lockedLeaveRow struct {
	leaveRow
	locked civil.Range
}

// hiddenRow says that an item stands for a generated entry.
type hiddenRow struct {
	employeeID    int64
	day           civil.Date
	lane, ordinal uint8
}

// KnownRow is a row of employee.
type KnownRow struct {
	ID           int64
	Number, Zone string
	Jobs         []byte // as projection.ReadJobs takes them
}

// Rows is what the database says of a window, each list by ascending employee.
type Rows struct {
	Known  []KnownRow // in no order
	spans  []spanRow
	items  []itemRow
	hidden []hiddenRow // by employee and day
	locks  []encoding.Lock
	leave  []leaveRow // by employee and day
	open   []itemRow
	// lockedLeave is what covers shifts of locked days, by employee and lock.
	lockedLeave []lockedLeaveRow
	holidays    []holidayRow // in no order
	// hides is what items hid at an earlier time, by employee and day. Where that stood
	// then follows from the spans.
	hides []hiddenentry.Hide
}

// filter says what to read.
type filter struct {
	tenantID  int64
	employees []int64 // ascending
	days      civil.Range
	// leave, open shifts, holidays, and what is known of the employees.
	leave, open, holidays, known bool
	// at is an earlier time of which the past is known; nil for now.
	at *time.Time
}

// errNotBinary says that the connection is set to a mode without prepared
// statements, in which values come as text.
var errNotBinary = errors.New("schedule: the database connection does not answer in binary form")

// read reads everything as it was at one moment, in one statement: an entry that is
// detached meanwhile is found among the spans or among the items.
func read(ctx context.Context, pool *pg.Pool, w filter) (Rows, error) {
	if len(w.employees) == 0 && !w.open {
		return Rows{}, nil
	}
	sql, asked, others := w.statement()
	args := []any{w.tenantID, asked, w.days.From.AddDays(-encoding.Lookback), w.days.To, w.days.From, MaxItemDays}
	if w.at != nil {
		args = append(args, *w.at)
	}
	found, err := pool.Query(ctx, sql, args...)
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
	return out, nil
}

// retain drops the rows of others than the employees, who ascend.
func (r *Rows) retain(employees []int64) {
	other := func(id int64) bool {
		_, asked := slices.BinarySearch(employees, id)
		return !asked
	}
	r.spans = slices.DeleteFunc(r.spans, func(s spanRow) bool { return other(s.employeeID) })
	r.items = slices.DeleteFunc(r.items, func(i itemRow) bool { return other(i.employeeID) })
	r.hidden = slices.DeleteFunc(r.hidden, func(h hiddenRow) bool { return other(h.employeeID) })
	r.locks = slices.DeleteFunc(r.locks, func(l encoding.Lock) bool { return other(l.EmployeeID) })
	r.leave = slices.DeleteFunc(r.leave, func(l leaveRow) bool { return other(l.employeeID) })
	r.lockedLeave = slices.DeleteFunc(r.lockedLeave, func(l lockedLeaveRow) bool { return other(l.employeeID) })
	r.Known = slices.DeleteFunc(r.Known, func(k KnownRow) bool { return other(k.ID) })
}

func (r *Rows) scan(found pgx.Rows) error {
	defer found.Close()
	if err := checkBinary(found); err != nil {
		return err
	}
	for found.Next() {
		v := found.RawValues()
		kind, employee := binary.BigEndian.Uint16(v[0]), int8At(v[1])
		if kind == kindEmployee {
			r.Known = append(r.Known, KnownRow{ID: employee, Number: string(v[12]), Zone: string(v[13]), Jobs: append([]byte(nil), v[11]...)})
			continue
		}
		day := dateAt(v[6])
		switch kind {
		case kindSpan:
			r.spans = append(r.spans, spanRow{
				employeeID: employee, patternID: int8At(v[2]), assignmentID: int8At(v[3]), propagationID: int8At(v[4]), series: int8At(v[5]),
				days: civil.Range{From: day, To: dateAt(v[7])}, position: int4At(v[8]),
				lane: uint8(binary.BigEndian.Uint16(v[9])), inherited: v[10][0] != 0,
			})
		case kindItem:
			item := itemAt(v)
			item.last, item.covers, item.kind = dateAt(v[7]), int4At(v[8]) != 0, encoding.Kind(binary.BigEndian.Uint16(v[9]))
			r.items = append(r.items, item)
		case kindHidden:
			r.hidden = append(r.hidden, hiddenRow{
				employeeID: employee, day: day, lane: uint8(binary.BigEndian.Uint16(v[9])), ordinal: uint8(int4At(v[8])),
			})
		case kindHide:
			r.hides = append(r.hides, hideAt(v))
		case kindLock:
			r.locks = append(r.locks, encoding.Lock{EmployeeID: employee, ID: int8At(v[2]), Days: civil.Range{From: day, To: dateAt(v[7])}})
		case kindLeaveRow:
			r.leave = append(r.leave, leaveAt(v))
		case kindLockedLeave:
			r.lockedLeave = append(r.lockedLeave, lockedLeaveRow{
				leaveRow: leaveAt(v),
				locked:   civil.Range{From: civil.Date(int8At(v[4])), To: civil.Date(int8At(v[5]))},
			})
		case kindHoliday:
			r.holidays = append(r.holidays, holidayRow{
				id: int8At(v[2]), days: civil.Range{From: day, To: dateAt(v[7])}, body: append([]byte(nil), v[11]...),
			})
		case kindOpen:
			r.open = append(r.open, itemAt(v))
		}
	}
	return found.Err()
}

// leaveAt returns the leave that a row is.
func leaveAt(v [][]byte) leaveRow {
	item := itemAt(v)
	item.last = dateAt(v[7])
	return leaveRow{item}
}

// itemAt returns the item, or the leave, that a row is.
func itemAt(v [][]byte) itemRow {
	return itemRow{
		employeeID: int8At(v[1]), id: int8At(v[2]), version: int8At(v[3]), day: dateAt(v[6]),
		body: append([]byte(nil), v[11]...),
	}
}

// sort puts each list in the order that it is promised in. The rows of an employee
// come together, as asked, and mostly in order.
func (r *Rows) sort() {
	inOrder(r.spans, func(a, b spanRow) int {
		return cmp.Or(cmp.Compare(a.employeeID, b.employeeID), cmp.Compare(a.lane, b.lane), cmp.Compare(a.days.From, b.days.From))
	})
	inOrder(r.items, func(a, b itemRow) int {
		return cmp.Or(cmp.Compare(a.employeeID, b.employeeID), cmp.Compare(a.day, b.day), cmp.Compare(a.id, b.id))
	})
	inOrder(r.hidden, func(a, b hiddenRow) int {
		return cmp.Or(cmp.Compare(a.employeeID, b.employeeID), cmp.Compare(a.day, b.day))
	})
	inOrder(r.hides, func(a, b hiddenentry.Hide) int {
		return cmp.Or(cmp.Compare(a.EmployeeID, b.EmployeeID), cmp.Compare(a.Day, b.Day), cmp.Compare(a.ItemID, b.ItemID))
	})
	inOrder(r.locks, func(a, b encoding.Lock) int {
		return cmp.Or(cmp.Compare(a.EmployeeID, b.EmployeeID), cmp.Compare(a.Days.From, b.Days.From))
	})
	inOrder(r.leave, func(a, b leaveRow) int {
		return cmp.Or(cmp.Compare(a.employeeID, b.employeeID), cmp.Compare(a.day, b.day), cmp.Compare(a.id, b.id))
	})
	inOrder(r.lockedLeave, func(a, b lockedLeaveRow) int {
		return cmp.Or(cmp.Compare(a.employeeID, b.employeeID), cmp.Compare(a.locked.From, b.locked.From), cmp.Compare(a.day, b.day), cmp.Compare(a.id, b.id))
	})
	inOrder(r.open, func(a, b itemRow) int { return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.id, b.id)) })
}

func inOrder[T any](list []T, compare func(a, b T) int) {
	if !slices.IsSortedFunc(list, compare) {
		slices.SortFunc(list, compare)
	}
}

func checkBinary(rows pgx.Rows) error {
	// Rows of a statement that failed have no columns that one could ask for.
	if err := rows.Err(); err != nil {
		return err
	}
	for _, column := range rows.FieldDescriptions() {
		// Texts are the same in both forms.
		if column.Format != pgx.BinaryFormatCode && column.DataTypeOID != pgtype.TextOID {
			return errNotBinary
		}
	}
	return nil
}

func int8At(v []byte) int64 { return int64(binary.BigEndian.Uint64(v)) }

func int4At(v []byte) int32 { return int32(binary.BigEndian.Uint32(v)) }

// dateAt reads PostgreSQL's binary date, which counts from 2000-01-01.
func dateAt(v []byte) civil.Date {
	const year2000 civil.Date = 10957
	return year2000 + civil.Date(int4At(v))
}
