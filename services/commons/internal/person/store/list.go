package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

// personList is a list of one person to be written.
type personList struct {
	person  int64
	entries []record.DatedElement
}

// queueLists queues the statements that replace the lists of persons: one deletes the rows of
// the persons with the ids, and one inserts.
func queueLists(l record.List, batch *pgx.Batch, tenantID int64, replaced []int64, lists []personList) error {
	if len(replaced) > 0 {
		batch.Queue(fmt.Sprintf(`DELETE FROM %s WHERE tenant_id = $1 AND person_id = ANY($2)`, l.Table), tenantID, replaced)
	}
	args, some, err := listRows(l, tenantID, lists)
	if err == nil && some {
		batch.Queue(insertSQL(l), args...)
	}
	return err
}

// dateColumns returns the date columns of a list, which come before its own columns, and the
// number of the next parameter.
func dateColumns(l record.List) (names, arrays string, next int) {
	if l.Undated {
		return "", "", 3
	}
	return ", from_date, to_date", ", $3::date[], $4::date[]", 5
}

func insertSQL(l record.List) string {
	names, arrays, next := dateColumns(l)
	for i, c := range l.Columns {
		names += ", " + c.Name
		arrays += fmt.Sprintf(", $%d::%s[]", next+i, c.Kind)
	}
	return fmt.Sprintf(`INSERT INTO %s (tenant_id, person_id%s)
		SELECT $1, q.* FROM unnest($2::bigint[]%s) AS q`, l.Table, names, arrays)
}

// listRows returns the arguments of the insert statement, and whether it has any rows.
func listRows(l record.List, tenantID int64, lists []personList) (args []any, some bool, err error) {
	var ids []int64
	var from, to []civil.Date
	values := make([][]any, len(l.Columns))
	for _, o := range lists {
		for _, e := range o.entries {
			ids = append(ids, o.person)
			from, to = append(from, e.Days.From), append(to, e.Days.To)
			for i, c := range l.Columns {
				value, err := c.Value(e.Element)
				if err != nil {
					return nil, false, fmt.Errorf("encode %s: %w", l.Path, err)
				}
				values[i] = append(values[i], value)
			}
		}
	}
	args = append(args, tenantID, ids)
	if !l.Undated {
		args = append(args, from, to)
	}
	for _, v := range values {
		args = append(args, v)
	}
	return args, len(ids) > 0, nil
}

// readSQL selects the elements of persons, in order.
func readSQL(l record.List) string {
	var names, order strings.Builder
	if !l.Undated {
		names.WriteString(", from_date, to_date")
		order.WriteString(", from_date")
	}
	for i, c := range l.Columns {
		names.WriteString(", " + c.Name)
		if i < max(l.Keys, 1) && c.IsText() {
			order.WriteString(", " + c.Name + ` COLLATE "C"`)
		}
	}
	return fmt.Sprintf(`SELECT person_id%s FROM %s
		WHERE tenant_id = $1 AND person_id = ANY($2) ORDER BY person_id%s`, &names, l.Table, &order)
}

// readInto adds the elements that readSQL selected to their persons.
func readInto(l record.List, rows pgx.Rows, persons map[int64]*Person) error {
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		owner, known := persons[values[0].(int64)]
		if !known {
			continue // The row was added or deleted between the two statements.
		}
		values = values[1:]
		effective, expiration := "", ""
		if !l.Undated {
			effective, expiration, values = dateText(values[0]), dateText(values[1]), values[2:]
		}
		if err := l.Add(owner.Record, effective, expiration, values); err != nil {
			return err
		}
	}
	return rows.Err()
}

func dateText(value any) string {
	if t, ok := value.(time.Time); ok {
		return civil.FromTime(t).String()
	}
	return ""
}
