package reading

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/civil"
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
)

// The parts of the statement that reads everything, which sees one moment. Rows have
// a column for whatever one of the tables has; kinds use them as they need. {asked}
// is a table of the employees, e (employee): each is a search of its own in the index.
// OFFSET 0 keeps it so before there are statistics, with which = ANY reads the whole tenant.
// The lower bound of from_day keeps searches short: no item is longer.
const (
	readSpans = `
SELECT 1::smallint AS kind, s.employee_id, s.pattern_id, s.assignment_id, s.propagation_id, s.series, s.from_date, s.to_date,
    s.position, s.lane, s.inherited, NULL::bytea, NULL::text, NULL::text
FROM {asked} CROSS JOIN LATERAL (
    SELECT * FROM span WHERE tenant_id = $1 AND employee_id = e.employee AND from_date < $4 AND to_date > $3 OFFSET 0
) AS s`

	readItems = `
SELECT 2::smallint, i.employee_id, i.id, i.version, NULL, NULL, i.from_day, NULL, NULL, NULL, i.kind = 'SHIFT', i.body, NULL, NULL
FROM {asked} CROSS JOIN LATERAL (
    SELECT * FROM schedule_item WHERE tenant_id = $1 AND employee_id = e.employee
    AND from_day < $4 AND from_day > $5::date - $6::int AND to_day >= $5 AND NOT deleted AND NOT withdrawn OFFSET 0
) AS i`

	// What items hide of the employees, wherever these were moved to.
	readHidden = `
SELECT 3::smallint, i.hides_employee_id, NULL, NULL, NULL, NULL, i.hides_day, NULL, i.hidden_ordinal::int, i.hidden_lane, NULL, NULL, NULL, NULL
FROM {asked} CROSS JOIN LATERAL (
    SELECT * FROM schedule_item WHERE tenant_id = $1 AND hides_employee_id = e.employee
    AND hides_day IS NOT NULL AND hides_day < $4 AND hides_day >= $3 AND hidden_lane IS NOT NULL OFFSET 0
) AS i`

	// Whether an entry is locked is said by its day, also of one that began long before.
	readLocks = `
SELECT 4::smallint, l.employee_id, l.id, NULL, NULL, NULL, l.from_date, l.to_date, NULL, NULL, NULL, NULL, NULL, NULL
FROM {asked} CROSS JOIN LATERAL (
    SELECT * FROM day_lock WHERE tenant_id = $1 AND employee_id = e.employee AND from_date < $4 AND to_date > $5::date - $6::int OFFSET 0
) AS l`

	readKnown = `
SELECT 0::smallint, k.id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, k.person_number, k.time_zone
FROM {asked} CROSS JOIN LATERAL (SELECT * FROM employee WHERE tenant_id = $1 AND id = e.employee OFFSET 0) AS k`

	// From the lookback on, and as far behind the window: leave may cover the
	// beginning of a shift that reaches into the window, and the end of one that
	// reaches out of it.
	readLeave = `
SELECT 5::smallint, l.employee_id, l.id, l.version, NULL, NULL, l.from_day, l.to_day, NULL, NULL, NULL, l.body, NULL, NULL
FROM {asked} CROSS JOIN LATERAL (
    SELECT * FROM leave_edit WHERE tenant_id = $1 AND employee_id = e.employee
    AND from_day < $4::date + {lookback} AND from_day > $3::date - $6::int AND to_day >= $3 OFFSET 0
) AS l`

	// The days that were locked are numbers of days since 1970-01-01.
	readLockedLeave = `
SELECT 7::smallint, l.employee_id, l.id, l.version, (l.lock_from - '1970-01-01'::date)::bigint, (l.lock_to - '1970-01-01'::date)::bigint,
    l.from_day, l.to_day, NULL, NULL, NULL, l.body, NULL, NULL
FROM {asked} CROSS JOIN LATERAL (
    SELECT * FROM locked_leave WHERE tenant_id = $1 AND employee_id = e.employee AND lock_from < $4 AND lock_to > $3 OFFSET 0
) AS l`

	readHolidays = `
SELECT 8::smallint, 0, h.holiday_id, NULL, NULL, NULL, h.from_date, h.to_date, NULL, NULL, NULL, h.body, NULL, NULL
FROM holiday_date AS h WHERE h.tenant_id = $1 AND h.from_date < $4 AND h.from_date > $5::date - $6::int AND h.to_date > $5`

	readOpenShifts = `
(SELECT 6::smallint, 0, id, version, NULL, NULL, from_day, NULL, NULL, NULL, true, body, NULL, NULL
FROM schedule_item WHERE tenant_id = $1 AND employee_id IS NULL AND kind = 'SHIFT'
AND from_day < $4 AND from_day > $5::date - $6::int AND to_day >= $5 AND NOT deleted
ORDER BY from_day, id LIMIT {open})`
)

// statement returns the text that reads what is wanted. The texts are few, and the
// database keeps the plan of that for one employee, which costs what a plan costs that
// knows the parameters. The length of a list it can only guess.
func (w *filter) statement() (sql string, asked any) {
	parts := []string{readSpans, readItems, readHidden, readLocks}
	if w.known {
		parts = append(parts, readKnown)
	}
	if w.leave {
		parts = append(parts, readLeave, readLockedLeave)
	}
	if w.holidays {
		parts = append(parts, readHolidays)
	}
	if w.open {
		parts = append(parts, readOpenShifts)
	}
	from := "unnest($2::bigint[]) AS e (employee)"
	asked = w.employees
	if len(w.employees) == 1 {
		from, asked = "(VALUES ($2::bigint)) AS e (employee)", w.employees[0]
	}
	return strings.NewReplacer("{asked}", from, "{lookback}", strconv.Itoa(encoding.Lookback), "{open}", strconv.Itoa(maxOpenShifts+1)).
		Replace(strings.Join(parts, "\nUNION ALL")), asked
}

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
	shift                   bool
	day                     civil.Date
	body                    []byte
}

// leaveRow is a row of leave_edit. Its body lacks what the body of an item lacks.
type leaveRow struct {
	itemRow
	last civil.Date
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
}

// filter says what to read.
type filter struct {
	tenantID  int64
	employees []int64 // ascending
	days      civil.Range
	// leave, open shifts, holidays, and what is known of the employees.
	leave, open, holidays, known bool
}

// errNotBinary says that the connection is set to a mode without prepared
// statements, in which values come as text.
var errNotBinary = errors.New("schedule: the database connection does not answer in binary form")

// read reads everything as it was at one moment, in one statement: an entry that is
// detached meanwhile is found among the spans or among the items.
func read(ctx context.Context, pool *pgxpool.Pool, w filter) (Rows, error) {
	if len(w.employees) == 0 && !w.open {
		return Rows{}, nil
	}
	sql, asked := w.statement()
	found, err := pool.Query(ctx, sql, w.tenantID, asked,
		w.days.From.AddDays(-encoding.Lookback), w.days.To, w.days.From, MaxItemDays)
	var out Rows
	if err == nil {
		err = out.scan(found)
	}
	if err != nil {
		return Rows{}, fmt.Errorf("schedule: read: %w", err)
	}
	out.sort()
	return out, nil
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
			r.Known = append(r.Known, KnownRow{ID: employee, Number: string(v[12]), Zone: string(v[13])})
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
			r.items = append(r.items, itemAt(v))
		case kindHidden:
			r.hidden = append(r.hidden, hiddenRow{
				employeeID: employee, day: day, lane: uint8(binary.BigEndian.Uint16(v[9])), ordinal: uint8(int4At(v[8])),
			})
		case kindLock:
			r.locks = append(r.locks, encoding.Lock{EmployeeID: employee, ID: int8At(v[2]), Days: civil.Range{From: day, To: dateAt(v[7])}})
		case kindLeaveRow:
			r.leave = append(r.leave, leaveRow{last: dateAt(v[7]), itemRow: itemAt(v)})
		case kindLockedLeave:
			r.lockedLeave = append(r.lockedLeave, lockedLeaveRow{
				leaveRow: leaveRow{last: dateAt(v[7]), itemRow: itemAt(v)},
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

// itemAt returns the item, or the leave, that a row is.
func itemAt(v [][]byte) itemRow {
	return itemRow{
		employeeID: int8At(v[1]), id: int8At(v[2]), version: int8At(v[3]), day: dateAt(v[6]),
		shift: v[10] != nil && v[10][0] != 0, body: append([]byte(nil), v[11]...),
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
