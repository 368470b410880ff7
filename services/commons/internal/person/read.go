package person

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// stored is a person as the database has them.
type stored struct {
	*record
	id, version int64
	// zone is the IANA name of the person's time zone.
	zone string
}

// load reads everything that is known of persons, as it was at one moment. Unknown
// ones are missing. What is queued beside is of the same moment.
func load(ctx context.Context, db pg.Querier, tenantID int64, ids []int64, beside ...func(*pg.Snapshot)) (map[int64]*stored, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	columns := scalars()
	names := ""
	for _, s := range columns {
		names += ", " + s.column
	}
	persons := map[int64]*stored{}
	var snapshot pg.Snapshot
	snapshot.Queue(func(rows pgx.Rows) error { return readPersons(rows, columns, persons) },
		fmt.Sprintf(`SELECT id, version, time_zone, body%s FROM person
		WHERE tenant_id = $1 AND id = ANY($2)`, names), tenantID, ids)
	for _, l := range lists() {
		snapshot.Queue(func(rows pgx.Rows) error {
			if err := readInto(l, rows, persons); err != nil {
				return fmt.Errorf("%s: %w", l.table, err)
			}
			return nil
		}, readSQL(l), tenantID, ids)
	}
	queueTerms(&snapshot, tenantID, ids, persons)
	for _, queue := range beside {
		queue(&snapshot)
	}
	if err := snapshot.Read(ctx, db); err != nil {
		return nil, fmt.Errorf("read persons: %w", err)
	}
	return persons, nil
}

func readPersons(rows pgx.Rows, columns []scalar, persons map[int64]*stored) error {
	texts, dates := make([]string, len(columns)), make([]*time.Time, len(columns))
	var body []byte
	for rows.Next() {
		p := &stored{record: &record{person: &commonsv1.Person{}}}
		places := []any{&p.id, &p.version, &p.zone, &body}
		for i, s := range columns {
			if s.kind == "date" {
				places = append(places, &dates[i])
			} else {
				places = append(places, &texts[i])
			}
		}
		if err := rows.Scan(places...); err != nil {
			return err
		}
		if err := proto.Unmarshal(body, p.person); err != nil {
			return fmt.Errorf("decode person %d: %w", p.id, err)
		}
		for i, s := range columns {
			switch {
			case s.kind == "date" && dates[i] != nil:
				*s.at(p.record) = civil.FromTime(*dates[i]).String()
			case s.kind != "date" && texts[i] != "":
				*s.at(p.record) = texts[i]
			}
		}
		details := detailsOf(p.record)
		details.FullName = details.GetLastName() + ", " + details.GetFirstName()
		persons[p.id] = p
	}
	return rows.Err()
}
