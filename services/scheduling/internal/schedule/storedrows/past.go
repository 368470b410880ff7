package storedrows

import (
	"encoding/binary"
	"strings"

	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
)

// Subqueries that replace the tables in reads as of an earlier time. They select the columns that a
// read needs, as they were believed at the time $7. Superseded spans are stored in blocks and are
// read by a separate statement.
//
// The past is in a partition for each month, and each employee is searched in all months since $7.
// Many tenants have no past of some kinds since then, so that the database first looks whether any
// employee has a row. Items have such rows in most tenants.
const (
	pastItems = `(
        SELECT {columns} FROM schedule_item WHERE tenant_id = $1 AND believed_from <= $7
        UNION ALL SELECT {columns} FROM schedule_item_past WHERE tenant_id = $1 AND believed_from <= $7 AND believed_until > $7) AS known`
	itemColumns = `tenant_id, id, employee_id, kind, from_day, to_day, version, body, deleted, withdrawn, covers,
        hides_employee_id, hides_day, hides_lineage_id, hides_pattern_id, hides_cycle_day, hides_ordinal, hidden_lane, hidden_ordinal`

	pastHides = `(
        SELECT {columns} FROM schedule_item WHERE tenant_id = $1 AND believed_from <= $7
        UNION ALL SELECT {columns} FROM schedule_item_past WHERE tenant_id = $1 AND believed_from <= $7 AND believed_until > $7
            AND (SELECT true FROM schedule_item_past WHERE tenant_id = $1 AND hides_employee_id {anybody} AND believed_until > $7
                ORDER BY hides_employee_id LIMIT 1)) AS known`

	pastLocks = `(
        SELECT {columns} FROM day_lock WHERE tenant_id = $1 AND believed_from <= $7
        UNION ALL SELECT {columns} FROM day_lock_past WHERE tenant_id = $1 AND believed_from <= $7 AND believed_until > $7
            AND (SELECT true FROM day_lock_past WHERE tenant_id = $1 AND employee_id {anybody} AND believed_until > $7 ORDER BY employee_id LIMIT 1)) AS known`
	lockColumns = `tenant_id, id, employee_id, from_date, to_date`

	pastLeave = `(
        SELECT {columns} FROM leave_edit WHERE tenant_id = $1 AND believed_from <= $7
        UNION ALL SELECT {columns} FROM leave_edit_past WHERE tenant_id = $1 AND believed_from <= $7 AND believed_until > $7
            AND (SELECT true FROM leave_edit_past WHERE tenant_id = $1 AND employee_id {anybody} AND believed_until > $7 ORDER BY employee_id LIMIT 1)) AS known`
	leaveColumns = `tenant_id, id, employee_id, from_day, to_day, version, body`

	pastLockedLeave = `(
        SELECT {columns} FROM locked_leave WHERE tenant_id = $1 AND believed_from <= $7
        UNION ALL SELECT {columns} FROM locked_leave_past WHERE tenant_id = $1 AND believed_from <= $7 AND believed_until > $7
            AND (SELECT true FROM locked_leave_past WHERE tenant_id = $1 AND employee_id {anybody} AND believed_until > $7 ORDER BY employee_id LIMIT 1)) AS known`
	lockedLeaveColumns = `tenant_id, employee_id, lock_from, lock_to, id, version, from_day, to_day, body`

	currentSpans = `(SELECT * FROM span WHERE tenant_id = $1 AND believed_from <= $7) AS known`

	// A block has spans of a thousand employees. It is decoded once for all of them, in the SELECT list:
	// in FROM, each list is first copied into a table of its own. IS TRUE keeps the list of employees
	// a hash table; a join would compare each span with each employee where the database expects few
	// spans.
	readPastSpans = `
SELECT 1::smallint, s.employee_id, s.pattern_id, s.assignment_id, s.propagation_id, s.series, s.from_date, s.to_date,
    s.position, s.lane, s.inherited, NULL, NULL, NULL
FROM (
    SELECT unnest(b.employee_ids) AS employee_id, unnest(b.lanes) AS lane, unnest(b.from_dates) AS from_date, unnest(b.to_dates) AS to_date,
        unnest(b.pattern_ids) AS pattern_id, unnest(b.positions) AS position, unnest(b.assignment_ids) AS assignment_id,
        unnest(b.inherited) AS inherited, unnest(b.propagation_ids) AS propagation_id, unnest(b.believed_from) AS believed_from,
        unnest(b.series) AS series
    FROM span_past_block b
    WHERE b.tenant_id = $1 AND b.believed_until > $7 AND b.first_believed_from <= $7
      AND b.last_employee_id >= (SELECT min(e) FROM unnest($2::bigint[]) AS e) AND b.first_employee_id <= (SELECT max(e) FROM unnest($2::bigint[]) AS e)
) AS s
WHERE (s.employee_id IN (SELECT unnest($2::bigint[]))) IS TRUE AND s.believed_from <= $7 AND s.from_date < $4 AND s.to_date > $3`

	// The hides of items of the employees. The slots that are hidden have no history of their own;
	// they are computed from the spans.
	readHides = `
SELECT 9::smallint, i.hides_employee_id, i.id, coalesce(i.hides_lineage_id, 0), coalesce(i.hides_pattern_id, 0), NULL, i.hides_day, NULL,
    coalesce(i.hides_cycle_day, 0), coalesce(i.hides_ordinal, 0::smallint), NULL, NULL, NULL, NULL
FROM {asked}(
    SELECT * FROM {hide} WHERE tenant_id = $1 AND hides_employee_id {employee}
    AND hides_day IS NOT NULL AND hides_day < $4 AND hides_day >= $3{apart}
) AS i`
)

// tables returns pairs of a placeholder in braces and the table or subquery that replaces it.
func (s variant) tables() []string {
	if !s.past {
		return []string{
			"{span}", "span", "{schedule_item}", "schedule_item", "{day_lock}", "day_lock", "{leave_edit}", "leave_edit",
			"{locked_leave}", "locked_leave",
		}
	}
	withColumns := func(sql, columns string) string { return strings.ReplaceAll(sql, "{columns}", columns) }
	return []string{
		"{span}", currentSpans, "{schedule_item}", withColumns(pastItems, itemColumns),
		"{hide}", withColumns(pastHides, itemColumns), "{day_lock}", withColumns(pastLocks, lockColumns),
		"{leave_edit}", withColumns(pastLeave, leaveColumns), "{locked_leave}", withColumns(pastLockedLeave, lockedLeaveColumns),
	}
}

// decodeHide decodes a row of readHides.
func decodeHide(v [][]byte) hiddenentry.Hide {
	h := hiddenentry.Hide{ItemID: int8At(v[2]), Entered: hiddenentry.Entered{
		EmployeeID: int8At(v[1]), Day: dateAt(v[6]), LineageID: int8At(v[3]), PatternID: int8At(v[4]),
		CycleDay: int4At(v[8]), Ordinal: uint8(binary.BigEndian.Uint16(v[9])),
	}}
	if entry, err := entryid.Decode(h.ItemID); err == nil {
		h.Series = entry.Series
	}
	return h
}
