package storedrows

import (
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg/condition"
	"github.com/rotaloom/rotaloom/pkg/policy"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// OpenShifts limits the open shifts of one request.
var OpenShifts = policy.FindLimit[*schedulingv1.ScheduleWhere]("open shifts")

// The parts of the one statement that reads all rows from a single snapshot. All kinds of rows
// share the columns; each kind fills the columns that it needs. The placeholders {asked},
// {employee} and {apart} restrict a table to one employee, to a list, or to a range of ids; see
// text. A table name in braces is replaced by the table, or by its state at an earlier time; see
// past.go. The lower bound of from_day keeps index scans short: no item lasts longer.
const (
	readSpans = `
SELECT 1::smallint AS kind, s.employee_id, s.pattern_id, s.assignment_id, s.propagation_id, s.series, s.from_date, s.to_date,
    s.position, s.lane, s.inherited, NULL::bytea, NULL::text, NULL::text
FROM {asked}(
    SELECT * FROM {span} WHERE tenant_id = $1 AND employee_id {employee} AND from_date < $4 AND to_date > $3{apart}
) AS s`

	// Edits that cover shifts are read from the lookback on, because they may cover a shift that
	// reaches into the window.
	readItems = `
SELECT 2::smallint, i.employee_id, i.id, i.version, NULL, NULL, i.from_day, i.to_day, i.covers::int,
    CASE i.kind WHEN 'SHIFT' THEN {shift} WHEN 'SCHEDULE_TAG' THEN {tag} ELSE {edit} END::smallint, NULL, i.body, NULL, NULL
FROM {asked}(
    SELECT * FROM {schedule_item} WHERE tenant_id = $1 AND employee_id {employee}
    AND from_day < $4 AND from_day > $5::date - $6::int AND (to_day >= $5 OR covers AND to_day >= $3) AND NOT deleted AND NOT withdrawn{apart}
) AS i`

	// The hidden slots of the employees, even if the items were moved to others.
	readHidden = `
SELECT 3::smallint, i.hides_employee_id, i.id, NULL, NULL, NULL, i.hides_day, NULL, i.hidden_ordinal::int, i.hidden_lane, NULL, NULL, NULL, NULL
FROM {asked}(
    SELECT * FROM {schedule_item} WHERE tenant_id = $1 AND hides_employee_id {employee}
    AND hides_day IS NOT NULL AND hides_day < $4 AND hides_day >= $3 AND hidden_lane IS NOT NULL{apart}
) AS i`

	// An entry is locked if its first day is locked, even if that day is long before the window.
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

	// Leave is read from the lookback on, and equally far past the end of the window. It may cover
	// the beginning of a shift that reaches into the w, and the end of a shift that reaches
	// out of it.
	readLeave = `
SELECT 5::smallint, l.employee_id, l.id, l.version, NULL, NULL, l.from_day, l.to_day, NULL, NULL, NULL, l.body, NULL, NULL
FROM {asked}(
    SELECT * FROM {leave_edit} WHERE tenant_id = $1 AND employee_id {employee}
    AND from_day < $4::date + {lookback} AND from_day > $3::date - $6::int AND to_day >= $3{apart}
) AS l`

	// lock_from and lock_to are returned as days since 1970-01-01.
	readLockedLeave = `
SELECT 7::smallint, l.employee_id, l.id, l.version, (l.lock_from - ` + civil.EpochSQL + `)::bigint, (l.lock_to - ` + civil.EpochSQL + `)::bigint,
    l.from_day, l.to_day, NULL, NULL, NULL, l.body, NULL, NULL
FROM {asked}(
    SELECT * FROM {locked_leave} WHERE tenant_id = $1 AND employee_id {employee} AND lock_from < $4 AND lock_to > $3{apart}
) AS l`

	readHolidays = `
SELECT 8::smallint, 0, h.holiday_id, NULL, NULL, NULL, h.from_date, h.to_date, NULL, NULL, NULL, h.body, NULL, NULL
FROM holiday_date AS h WHERE h.tenant_id = $1 AND h.from_date < $4 AND h.from_date > $5::date - $6::int AND h.to_date > $5`

	readFormerNames = `
SELECT 10::smallint, 0, f.resource_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, f.by_name, convert_to(f.kind, 'UTF8'), f.name_key, f.present_name
FROM (` + setupref.SelectFormer + `) AS f`

	readOpenShifts = `
(SELECT 6::smallint, 0, id, version, NULL, NULL, from_day, NULL, NULL, NULL, true, body, NULL, NULL
FROM {schedule_item} WHERE tenant_id = $1 AND employee_id IS NULL AND kind = 'SHIFT'
AND from_day < $4 AND from_day > $5::date - $6::int AND to_day >= $5 AND NOT deleted
ORDER BY from_day, id LIMIT {open})`
)

// Many tenants have no rows of some kinds. Before the database searches for each of many employees,
// it checks whether any employee between the smallest and the largest id has a row.
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

// variant selects the parts of a statement, and whether it reads one employee or a range of ids.
type variant struct{ one, inRange, leave, open, holidays, details, past bool }

// texts has all statements, built once.
var texts = func() map[variant]string {
	all := map[variant]string{}
	for bits := range 1 << 7 {
		has := func(bit int) bool { return bits&(1<<bit) != 0 }
		s := variant{one: has(0), leave: has(1), open: has(2), holidays: has(3), details: has(4), past: has(5), inRange: has(6)}
		all[s] = s.text()
	}
	return all
}()

// text returns the text of the statement. It joins many employees as a table, so that each of them
// is a separate index search. OFFSET 0 enforces that even before there are statistics; = ANY would
// then read the whole tenant. A single employee is a parameter, which makes the plan smaller, and
// so are the first and the last id of a range.
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
	list = append(list, readFormerNames)
	if s.details {
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
		"{shift}", strconv.Itoa(int(window.KindShift)), "{tag}", strconv.Itoa(int(window.KindTag)), "{edit}", strconv.Itoa(int(window.KindPayCodeEdit)),
		"{lookback}", strconv.Itoa(window.Lookback), "{open}", strconv.Itoa(OpenShifts.Max()+1)).
		Replace(tables.Replace(strings.Join(list, "\nUNION ALL")))
}

// statement returns the text of the statement and its second argument: one employee, a list or a
// range. others reports that the range includes employees who are not in the list. There are few
// texts, and the database caches their plans. For one employee the generic plan is as good as a
// custom one; for a list, the database has to guess the length.
func (w *Filter) statement() (sql string, asked any, others bool) {
	s := variant{past: w.At != nil, leave: w.Leave, open: w.Open, holidays: w.Holidays, details: w.Details}
	if w.At != nil {
		return texts[s], w.Employees, false
	}
	if s.one = len(w.Employees) == 1; s.one {
		return texts[s], w.Employees[0], false
	}
	least, greatest, dense := condition.Dense(w.Employees)
	if !dense {
		return texts[s], w.Employees, false
	}
	s.inRange = true
	return texts[s], []int64{least, greatest}, greatest-least >= int64(len(w.Employees))
}
