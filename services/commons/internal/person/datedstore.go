package person

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// owned is the list of one person that is to be written.
type owned struct {
	person  int64
	entries []entry
}

// queueLists adds the statements that make lists those of their persons: one to
// remove what the persons with the ids had, and one to insert.
func queueLists(l list, batch *pgx.Batch, tenantID int64, replaced []int64, lists []owned) error {
	if len(replaced) > 0 {
		batch.Queue(fmt.Sprintf(`DELETE FROM %s WHERE tenant_id = $1 AND person_id = ANY($2)`, l.table), tenantID, replaced)
	}
	args, some, err := listRows(l, tenantID, lists)
	if err == nil && some {
		batch.Queue(insertSQL(l), args...)
	}
	return err
}

// dateColumns are the columns that a list has before its own, and their number.
func dateColumns(l list) (names, arrays string, next int) {
	if l.undated {
		return "", "", 3
	}
	return ", from_date, to_date", ", $3::date[], $4::date[]", 5
}

func insertSQL(l list) string {
	names, arrays, next := dateColumns(l)
	for i, c := range l.columns {
		names += ", " + c.name
		arrays += fmt.Sprintf(", $%d::%s[]", next+i, c.kind)
	}
	return fmt.Sprintf(`INSERT INTO %s (tenant_id, person_id%s)
		SELECT $1, q.* FROM unnest($2::bigint[]%s) AS q`, l.table, names, arrays)
}

// listRows returns the arguments of insertSQL, and whether there is any row.
func listRows(l list, tenantID int64, lists []owned) (args []any, some bool, err error) {
	var ids []int64
	var from, to []time.Time
	values := make([]columnValues, len(l.columns))
	for i, c := range l.columns {
		values[i].kind = c.kind
	}
	for _, o := range lists {
		for _, e := range o.entries {
			ids = append(ids, o.person)
			from, to = append(from, e.days.From.Time()), append(to, e.days.To.Time())
			for i, value := range e.element.values {
				if err := values[i].add(value); err != nil {
					return nil, false, fmt.Errorf("encode %s: %w", l.path, err)
				}
			}
		}
	}
	args = append(args, tenantID, ids)
	if !l.undated {
		args = append(args, from, to)
	}
	for _, v := range values {
		args = append(args, v.slice())
	}
	return args, len(ids) > 0, nil
}

// readSQL selects the elements of persons, in order.
func readSQL(l list) string {
	var names, order strings.Builder
	if !l.undated {
		names.WriteString(", from_date, to_date")
		order.WriteString(", from_date")
	}
	for i, c := range l.columns {
		names.WriteString(", " + c.name)
		if i < max(l.keys, 1) && c.kind == "text" {
			order.WriteString(", " + c.name + ` COLLATE "C"`)
		}
	}
	return fmt.Sprintf(`SELECT person_id%s FROM %s
		WHERE tenant_id = $1 AND person_id = ANY($2) ORDER BY person_id%s`, &names, l.table, &order)
}

// readInto adds the elements that readSQL selected to their persons.
func readInto(l list, rows pgx.Rows, persons map[int64]*stored) error {
	defer rows.Close()
	read := wholeRecord()
	for rows.Next() {
		l.clear(read)
		e := l.add(read)
		var id int64
		places := []any{&id}
		if !l.undated {
			places = append(places, day{e.effective}, day{e.expiration})
		}
		if err := rows.Scan(append(places, e.values...)...); err != nil {
			return err
		}
		owner, known := persons[id]
		if !known {
			continue // Their row came or went between the two statements.
		}
		own := l.add(owner.record)
		copyValues(own, e)
		if !l.undated {
			*own.effective, *own.expiration = *e.effective, *e.expiration
		}
	}
	return rows.Err()
}

// wholeRecord answers a record that has every part with lists.
func wholeRecord() *record {
	return &record{person: &commonsv1.Person{
		PersonInformation: &commonsv1.PersonInformation{AccessAssignment: &commonsv1.AccessAssignment{}},
		JobAssignment:     &commonsv1.JobAssignment{},
	}}
}
