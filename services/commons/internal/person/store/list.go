package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

// personList is the list of one person that is to be written.
type personList struct {
	person  int64
	entries []record.DatedElement
}

// queueLists adds the statements that make lists those of their persons: one to
// remove what the persons with the ids had, and one to insert.
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

// dateColumns are the columns that a list has before its own, and their number.
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

// listRows returns the arguments of insertSQL, and whether there is any row.
func listRows(l record.List, tenantID int64, lists []personList) (args []any, some bool, err error) {
	var ids []int64
	var from, to []time.Time
	values := make([]record.ColumnValues, len(l.Columns))
	for i, c := range l.Columns {
		values[i].Kind = c.Kind
	}
	for _, o := range lists {
		for _, e := range o.entries {
			ids = append(ids, o.person)
			from, to = append(from, e.Days.From.Time()), append(to, e.Days.To.Time())
			for i, value := range e.Element.Values {
				if err := values[i].Add(value); err != nil {
					return nil, false, fmt.Errorf("encode %s: %w", l.Path, err)
				}
			}
		}
	}
	args = append(args, tenantID, ids)
	if !l.Undated {
		args = append(args, from, to)
	}
	for _, v := range values {
		args = append(args, v.Slice())
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
		if i < max(l.Keys, 1) && c.Kind == "text" {
			order.WriteString(", " + c.Name + ` COLLATE "C"`)
		}
	}
	return fmt.Sprintf(`SELECT person_id%s FROM %s
		WHERE tenant_id = $1 AND person_id = ANY($2) ORDER BY person_id%s`, &names, l.Table, &order)
}

// readInto adds the elements that readSQL selected to their persons.
func readInto(l record.List, rows pgx.Rows, persons map[int64]*Person) error {
	defer rows.Close()
	read := wholeRecord()
	for rows.Next() {
		l.Clear(read)
		e := l.Add(read)
		var id int64
		places := []any{&id}
		if !l.Undated {
			places = append(places, record.Day{At: e.Effective}, record.Day{At: e.Expiration})
		}
		if err := rows.Scan(append(places, e.Values...)...); err != nil {
			return err
		}
		owner, known := persons[id]
		if !known {
			continue // Their row came or went between the two statements.
		}
		own := l.Add(owner.Record)
		record.CopyValues(own, e)
		if !l.Undated {
			*own.Effective, *own.Expiration = *e.Effective, *e.Expiration
		}
	}
	return rows.Err()
}

// wholeRecord answers a record that has every part with lists.
func wholeRecord() *record.Record {
	return &record.Record{Message: &commonsv1.Person{
		PersonInformation: &commonsv1.PersonInformation{AccessAssignment: &commonsv1.AccessAssignment{}},
		JobAssignment:     &commonsv1.JobAssignment{},
	}}
}
