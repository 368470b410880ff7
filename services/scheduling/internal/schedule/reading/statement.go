package reading

import (
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg/condition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
)

// The parts of the statement that reads everything, which sees one moment. Rows have
// a column for whatever one of the tables has; kinds use them as they need.
// {asked}, {employee} and {apart} read a table for one employee, for many, or for all in
// a range of ids; see text.
// A table in braces is the table, or what it was at an earlier time; see past.go.
// The lower bound of from_day keeps searches short: no item is longer.
const (
	readSpans = `
SELECT 1::smallint AS kind, s.employee_id, s.pattern_id, s.assignment_id, s.propagation_id, s.series, s.from_date, s.to_date,
    s.position, s.lane, s.inherited, NULL::bytea, NULL::text, NULL::text
FROM {asked}(
    SELECT * FROM {span} WHERE tenant_id = $1 AND employee_id {employee} AND from_date < $4 AND to_date > $3{apart}
) AS s`

	// Edits that cover shifts are read from the lookback on: they may take a shift that
	// reaches into the window.
	readItems = `
SELECT 2::smallint, i.employee_id, i.id, i.version, NULL, NULL, i.from_day, i.to_day, i.covers::int,
    CASE i.kind WHEN 'SHIFT' THEN {shift} WHEN 'SCHEDULE_TAG' THEN {tag} ELSE {edit} END::smallint, NULL, i.body, NULL, NULL
FROM {asked}(
    SELECT * FROM {schedule_item} WHERE tenant_id = $1 AND employee_id {employee}
    AND from_day < $4 AND from_day > $5::date - $6::int AND (to_day >= $5 OR covers AND to_day >= $3) AND NOT deleted AND NOT withdrawn{apart}
) AS i`

	// What items hide of the employees, wherever these were moved to.
	readHidden = `
SELECT 3::smallint, i.hides_employee_id, NULL, NULL, NULL, NULL, i.hides_day, NULL, i.hidden_ordinal::int, i.hidden_lane, NULL, NULL, NULL, NULL
FROM {asked}(
    SELECT * FROM {schedule_item} WHERE tenant_id = $1 AND hides_employee_id {employee}
    AND hides_day IS NOT NULL AND hides_day < $4 AND hides_day >= $3 AND hidden_lane IS NOT NULL{apart}
) AS i`

	// Whether an entry is locked is said by its day, also of one that began long before.
	readLocks = `
SELECT 4::smallint, l.employee_id, l.id, NULL, NULL, NULL, l.from_date, l.to_date, NULL, NULL, NULL, NULL, NULL, NULL
FROM {asked}(
    SELECT * FROM {day_lock} WHERE tenant_id = $1 AND employee_id {employee} AND from_date < $4 AND to_date > $5::date - $6::int{apart}
) AS l`

	readKnown = `
SELECT 0::smallint, k.id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, k.primary_jobs, k.person_number, k.time_zone
FROM {asked}(
    SELECT * FROM employee WHERE tenant_id = $1 AND id {employee}{apart}
) AS k`

	// From the lookback on, and as far behind the window: leave may cover the
	// beginning of a shift that reaches into the window, and the end of one that
	// reaches out of it.
	readLeave = `
SELECT 5::smallint, l.employee_id, l.id, l.version, NULL, NULL, l.from_day, l.to_day, NULL, NULL, NULL, l.body, NULL, NULL
FROM {asked}(
    SELECT * FROM {leave_edit} WHERE tenant_id = $1 AND employee_id {employee}
    AND from_day < $4::date + {lookback} AND from_day > $3::date - $6::int AND to_day >= $3{apart}
) AS l`

	// The days that were locked are numbers of days since 1970-01-01.
	readLockedLeave = `
SELECT 7::smallint, l.employee_id, l.id, l.version, (l.lock_from - ` + civil.EpochSQL + `)::bigint, (l.lock_to - ` + civil.EpochSQL + `)::bigint,
    l.from_day, l.to_day, NULL, NULL, NULL, l.body, NULL, NULL
FROM {asked}(
    SELECT * FROM {locked_leave} WHERE tenant_id = $1 AND employee_id {employee} AND lock_from < $4 AND lock_to > $3{apart}
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

// Many tenants have no rows of some kinds. Before it searches for each of many employees,
// the database looks whether anybody between the least and the greatest of them has one.
const (
	anyItems = `
WHERE (SELECT true FROM schedule_item WHERE tenant_id = $1 AND employee_id {anybody} ORDER BY employee_id LIMIT 1)`

	anyHidden = `
WHERE (SELECT true FROM schedule_item WHERE tenant_id = $1 AND hides_employee_id {anybody} AND hides_day IS NOT NULL
    ORDER BY hides_employee_id LIMIT 1)`

	anyLocks = `
WHERE (SELECT true FROM day_lock WHERE tenant_id = $1 AND employee_id {anybody} ORDER BY employee_id LIMIT 1)`

	anyLeave = `
WHERE (SELECT true FROM leave_edit WHERE tenant_id = $1 AND employee_id {anybody} ORDER BY employee_id LIMIT 1)`

	anyLockedLeave = `
WHERE (SELECT true FROM locked_leave WHERE tenant_id = $1 AND employee_id {anybody} ORDER BY employee_id LIMIT 1)`
)

// variant says which parts a statement has, and whether it is for one employee or for a
// range of them.
type variant struct{ one, inRange, leave, open, holidays, known, past bool }

// texts are all statements, made once.
var texts = func() map[variant]string {
	all := map[variant]string{}
	for bits := range 1 << 7 {
		has := func(bit int) bool { return bits&(1<<bit) != 0 }
		s := variant{one: has(0), leave: has(1), open: has(2), holidays: has(3), known: has(4), past: has(5), inRange: has(6)}
		all[s] = s.text()
	}
	return all
}()

// text returns the text of the statement. Many employees are a table, and each of them is
// a search of its own in the index: OFFSET 0 keeps it so before there are statistics, with
// which = ANY reads the whole tenant. A single employee is a parameter, which costs the
// database fewer nodes of its plan; so are the least and the greatest id of a range.
func (s variant) text() string {
	ifAny := func(part, condition string) string {
		if s.one || s.inRange || s.past {
			return part
		}
		return part + condition
	}
	list := []string{readSpans, ifAny(readItems, anyItems), ifAny(readHidden, anyHidden), ifAny(readLocks, anyLocks)}
	if s.past {
		list = []string{readSpans, readPastSpans, readItems, readHides, readLocks}
	}
	if s.known {
		list = append(list, readKnown)
	}
	if s.leave {
		list = append(list, ifAny(readLeave, anyLeave), ifAny(readLockedLeave, anyLockedLeave))
	}
	if s.holidays {
		list = append(list, readHolidays)
	}
	if s.open {
		list = append(list, readOpenShifts)
	}
	asked, employee, apart := "unnest($2::bigint[]) AS e (employee) CROSS JOIN LATERAL ", "= e.employee", " OFFSET 0"
	switch {
	case s.one:
		asked, employee, apart = "", "= $2::bigint", ""
	case s.inRange:
		asked, employee, apart = "", "BETWEEN ($2::bigint[])[1] AND ($2::bigint[])[2]", ""
	}
	tables := strings.NewReplacer(s.tables()...)
	return strings.NewReplacer("{asked}", asked, "{employee}", employee, "{apart}", apart,
		"{anybody}", "BETWEEN ($2::bigint[])[1] AND ($2::bigint[])[cardinality($2::bigint[])]",
		"{shift}", strconv.Itoa(int(encoding.KindShift)), "{tag}", strconv.Itoa(int(encoding.KindTag)), "{edit}", strconv.Itoa(int(encoding.KindPayCodeEdit)),
		"{lookback}", strconv.Itoa(encoding.Lookback), "{open}", strconv.Itoa(maxOpenShifts+1)).
		Replace(tables.Replace(strings.Join(list, "\nUNION ALL")))
}

// statement returns the text that reads what is wanted, whom it is about, and whether it
// reads others in their range, too. The texts are few, and the database keeps the plan of
// that for one employee, which costs what a plan costs that knows the parameters. The
// length of a list it can only guess.
func (w *filter) statement() (sql string, asked any, others bool) {
	s := variant{past: w.at != nil, leave: w.leave, open: w.open, holidays: w.holidays, known: w.known}
	if w.at != nil {
		return texts[s], w.employees, false
	}
	if s.one = len(w.employees) == 1; s.one {
		return texts[s], w.employees[0], false
	}
	least, greatest, dense := condition.Dense(w.employees)
	if !dense {
		return texts[s], w.employees, false
	}
	s.inRange = true
	return texts[s], []int64{least, greatest}, greatest-least >= int64(len(w.employees))
}
