package schedule

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

const (
	spanColumns = `employee_id, lane, from_date, to_date, pattern_id, position, assignment_id, inherited, propagation_id, series`
	itemColumns = `id, coalesce(employee_id, 0), kind = 'SHIFT', from_day, version, body`

	// Each employee is a search of its own in the index: OFFSET 0 keeps it so
	// before there are statistics, with which = ANY reads the whole tenant.
	readSpans = `
SELECT ` + spanColumns + `
FROM unnest($2::bigint[]) AS e (employee) CROSS JOIN LATERAL (
    SELECT * FROM span WHERE tenant_id = $1 AND employee_id = e.employee AND from_date < $4 AND to_date > $3 OFFSET 0
) AS s ORDER BY employee_id, lane, from_date`

	// The lower bound of from_day keeps the search short: no item is longer.
	readItems = `
SELECT ` + itemColumns + `
FROM schedule_item WHERE tenant_id = $1 AND employee_id = ANY($2)
AND from_day < $4 AND from_day > $3::date - $5::int AND to_day >= $3 AND NOT deleted AND NOT withdrawn
ORDER BY employee_id`

	// What items hide of the employees, wherever these were moved to.
	readHidden = `
SELECT i.hides_employee_id, i.hides_day, i.hidden_lane, i.hidden_ordinal
FROM unnest($2::bigint[]) AS e (employee) CROSS JOIN LATERAL (
    SELECT * FROM schedule_item WHERE tenant_id = $1 AND hides_employee_id = e.employee
    AND hides_day IS NOT NULL AND hides_day < $4 AND hides_day >= $3 AND hidden_lane IS NOT NULL OFFSET 0
) AS i ORDER BY i.hides_employee_id, i.hides_day`

	readLocks = `
SELECT employee_id, id, from_date, to_date
FROM day_lock WHERE tenant_id = $1 AND employee_id = ANY($2) AND from_date < $4 AND to_date > $3
ORDER BY employee_id, from_date`

	// As with spans. From the lookback on, and as far behind the window: leave may
	// cover the beginning of a shift that reaches into the window, and the end of
	// one that reaches out of it.
	readLeave = `
SELECT l.id, l.employee_id, l.version, l.from_day, l.to_day, l.body
FROM unnest($2::bigint[]) AS e (employee) CROSS JOIN LATERAL (
    SELECT * FROM leave_edit WHERE tenant_id = $1 AND employee_id = e.employee
    AND from_day < $4 AND from_day > $3::date - $5::int AND to_day >= $3 OFFSET 0
) AS l ORDER BY l.employee_id, l.from_day, l.id`

	readOpenShifts = `
SELECT ` + itemColumns + `
FROM schedule_item WHERE tenant_id = $1 AND employee_id IS NULL AND kind = 'SHIFT'
AND from_day < $3 AND from_day > $2::date - $4::int AND to_day >= $2 AND NOT deleted
ORDER BY from_day, id LIMIT $5`
)

// lookback is how many days before a window spans are read, and what hides
// their entries: an entry may reach past midnight. No template is longer.
const lookback = 7

// LongestItem is how many days a stored item may touch at most.
const LongestItem = 366

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

// lockRow is a row of day_lock.
type lockRow struct {
	employeeID, id int64
	days           civil.Range
}

// hiddenRow says that an item stands for a generated entry.
type hiddenRow struct {
	employeeID    int64
	day           civil.Date
	lane, ordinal uint8
}

// rows is what the database says of a window, each list by ascending employee.
type rows struct {
	spans  []spanRow
	items  []itemRow
	hidden []hiddenRow // by employee and day
	locks  []lockRow
	leave  []leaveRow // by employee and day
	open   []itemRow
}

// want says what to read.
type want struct {
	tenantID  int64
	employees []int64 // ascending
	days      civil.Range
	leave     bool
	open      int // the most open shifts, 0 for none
}

// errNotBinary says that the connection is set to a mode without prepared
// statements, in which values come as text.
var errNotBinary = errors.New("schedule: the database connection does not answer in binary form")

// read reads everything as it was at one moment, in one round trip: an entry that
// is cut loose meanwhile is found among the spans or among the items.
func read(ctx context.Context, pool *pgxpool.Pool, w want) (rows, error) {
	var out rows
	var snapshot pg.Snapshot
	if len(w.employees) > 0 {
		early := w.days.From.AddDays(-lookback)
		from, first, to := early.Time(), w.days.From.Time(), w.days.To.Time()
		snapshot.Queue(out.scanSpans, readSpans, w.tenantID, w.employees, from, to)
		snapshot.Queue(scanItems(&out.items), readItems, w.tenantID, w.employees, first, to, LongestItem)
		snapshot.Queue(out.scanHidden, readHidden, w.tenantID, w.employees, from, to)
		// Whether an entry is locked is said by its day, also of one that began long before.
		snapshot.Queue(out.scanLocks, readLocks, w.tenantID, w.employees, w.days.From.AddDays(-LongestItem).Time(), to)
		if w.leave {
			late := w.days.To.AddDays(lookback).Time()
			snapshot.Queue(out.scanLeave, readLeave, w.tenantID, w.employees, from, late, LongestItem)
		}
	}
	if w.open > 0 {
		snapshot.Queue(scanItems(&out.open), readOpenShifts, w.tenantID, w.days.From.Time(), w.days.To.Time(), LongestItem, w.open)
	}
	if err := snapshot.Read(ctx, pool); err != nil {
		return rows{}, fmt.Errorf("schedule: read: %w", err)
	}
	return out, nil
}

func (r *rows) scanSpans(rows pgx.Rows) error {
	r.spans = r.spans[:0]
	if err := checkBinary(rows); err != nil {
		return err
	}
	for rows.Next() {
		v := rows.RawValues()
		r.spans = append(r.spans, spanRow{
			employeeID: int8At(v[0]), lane: uint8(binary.BigEndian.Uint16(v[1])),
			days:      civil.Range{From: dateAt(v[2]), To: dateAt(v[3])},
			patternID: int8At(v[4]), position: int4At(v[5]), assignmentID: int8At(v[6]),
			inherited: v[7][0] != 0, propagationID: int8At(v[8]), series: int8At(v[9]),
		})
	}
	return rows.Err()
}

func scanItems(into *[]itemRow) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		*into = (*into)[:0]
		if err := checkBinary(rows); err != nil {
			return err
		}
		for rows.Next() {
			v := rows.RawValues()
			*into = append(*into, itemRow{
				id: int8At(v[0]), employeeID: int8At(v[1]), shift: v[2][0] != 0,
				day: dateAt(v[3]), version: int8At(v[4]), body: append([]byte(nil), v[5]...),
			})
		}
		return rows.Err()
	}
}

func (r *rows) scanHidden(rows pgx.Rows) error {
	r.hidden = r.hidden[:0]
	if err := checkBinary(rows); err != nil {
		return err
	}
	for rows.Next() {
		v := rows.RawValues()
		r.hidden = append(r.hidden, hiddenRow{
			employeeID: int8At(v[0]), day: dateAt(v[1]),
			lane: uint8(binary.BigEndian.Uint16(v[2])), ordinal: uint8(binary.BigEndian.Uint16(v[3])),
		})
	}
	return rows.Err()
}

func (r *rows) scanLocks(rows pgx.Rows) error {
	r.locks = r.locks[:0]
	if err := checkBinary(rows); err != nil {
		return err
	}
	for rows.Next() {
		v := rows.RawValues()
		r.locks = append(r.locks, lockRow{
			employeeID: int8At(v[0]), id: int8At(v[1]),
			days: civil.Range{From: dateAt(v[2]), To: dateAt(v[3])},
		})
	}
	return rows.Err()
}

func (r *rows) scanLeave(rows pgx.Rows) error {
	r.leave = r.leave[:0]
	if err := checkBinary(rows); err != nil {
		return err
	}
	for rows.Next() {
		v := rows.RawValues()
		r.leave = append(r.leave, leaveRow{last: dateAt(v[4]), itemRow: itemRow{
			id: int8At(v[0]), employeeID: int8At(v[1]), version: int8At(v[2]), day: dateAt(v[3]),
			body: append([]byte(nil), v[5]...),
		}})
	}
	return rows.Err()
}

func checkBinary(rows pgx.Rows) error {
	// Rows of a statement that failed have no columns that one could ask for.
	if err := rows.Err(); err != nil {
		return err
	}
	for _, column := range rows.FieldDescriptions() {
		if column.Format != pgx.BinaryFormatCode {
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
