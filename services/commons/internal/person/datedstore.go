package person

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// insertDated stores the effective-dated lists of persons who have none yet.
func insertDated(ctx context.Context, tx pgx.Tx, tenantID int64, persons []newPerson) error {
	batch := &pgx.Batch{}
	for _, l := range lists() {
		args, some, err := l.rows(tenantID, persons)
		if err != nil {
			return err
		}
		if some {
			batch.Queue(l.insertSQL(), args...)
		}
	}
	if batch.Len() == 0 {
		return nil
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("store effective-dated lists: %w", err)
	}
	return nil
}

func (l list) insertSQL() string {
	var names, arrays strings.Builder
	for i, c := range l.columns {
		fmt.Fprintf(&names, ", %s", c.name)
		fmt.Fprintf(&arrays, ", $%d::%s", i+5, c.array)
	}
	return fmt.Sprintf(`INSERT INTO %s (tenant_id, person_id, from_date, to_date%s)
		SELECT $1, q.* FROM unnest($2::bigint[], $3::date[], $4::date[]%s) AS q`, l.table, &names, &arrays)
}

// rows answers the arguments of insertSQL, and whether there is any row.
func (l list) rows(tenantID int64, persons []newPerson) (args []any, some bool, err error) {
	var ids []int64
	var from, to []time.Time
	values := make([]columnValues, len(l.columns))
	for _, p := range persons {
		for _, e := range l.elements(p.person) {
			ids = append(ids, p.id)
			from, to = append(from, dateOf(*e.effective)), append(to, dateOf(*e.expiration))
			for i, value := range e.values {
				if err := values[i].add(value); err != nil {
					return nil, false, fmt.Errorf("encode %s: %w", l.path, err)
				}
			}
		}
	}
	args = append(args, tenantID, ids, from, to)
	for _, v := range values {
		args = append(args, v.slice())
	}
	return args, len(ids) > 0, nil
}

// columnValues collects the values of one column.
type columnValues struct {
	texts   []string
	numbers []float64
	blobs   [][]byte
}

func (c *columnValues) add(value any) error {
	switch v := value.(type) {
	case *string:
		c.texts = append(c.texts, *v)
	case *float64:
		c.numbers = append(c.numbers, *v)
	case criteria:
		blob, err := v.bytes()
		if err != nil {
			return err
		}
		c.blobs = append(c.blobs, blob)
	}
	return nil
}

func (c *columnValues) slice() any {
	switch {
	case c.numbers != nil:
		return c.numbers
	case c.blobs != nil:
		return c.blobs
	}
	return c.texts
}

// criteria is the place of a message that is kept as bytes; NULL when there is
// none.
type criteria struct {
	at **commonsv1.OrganizationCriteria
}

func (c criteria) bytes() ([]byte, error) {
	if *c.at == nil {
		return nil, nil
	}
	return proto.Marshal(*c.at)
}

// Scan takes over what is read from the database.
func (c criteria) Scan(source any) error {
	blob, ok := source.([]byte)
	if !ok || blob == nil {
		*c.at = nil
		return nil
	}
	*c.at = &commonsv1.OrganizationCriteria{}
	return proto.Unmarshal(blob, *c.at)
}

// dateOf answers a date that the rules let through.
func dateOf(text string) time.Time {
	day, err := civil.ParseDate(text)
	if err != nil {
		return civil.Beginning.Time()
	}
	return day.Time()
}

// readSQL selects the elements of one person, in order.
func (l list) readSQL() string {
	var names strings.Builder
	for _, c := range l.columns {
		names.WriteString(", " + c.name)
	}
	return fmt.Sprintf(`SELECT from_date, to_date%[1]s FROM %[2]s
		WHERE tenant_id = $1 AND person_id = $2 ORDER BY from_date%[1]s`, &names, l.table)
}

// readInto adds the elements that readSQL selected to a person.
func (l list) readInto(rows pgx.Rows, p *commonsv1.Person) error {
	defer rows.Close()
	for rows.Next() {
		e := l.add(p)
		var from, to time.Time
		if err := rows.Scan(append([]any{&from, &to}, e.values...)...); err != nil {
			return err
		}
		*e.effective, *e.expiration = civil.FromTime(from).String(), civil.FromTime(to).String()
	}
	return rows.Err()
}
