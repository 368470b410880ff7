package person

import (
	"context"
	"fmt"
	"strings"
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
	zone   string
	layout int
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
		fmt.Sprintf(`SELECT id, version, time_zone, layout, body%s FROM person
		WHERE tenant_id = $1 AND id = ANY($2)`, names), tenantID, ids)
	for _, l := range lists() {
		snapshot.Queue(func(rows pgx.Rows) error {
			if err := l.readInto(rows, persons); err != nil {
				return fmt.Errorf("%s: %w", l.table, err)
			}
			return nil
		}, l.readSQL(), tenantID, ids)
	}
	queueTerms(&snapshot, tenantID, ids, persons)
	for _, queue := range beside {
		queue(&snapshot)
	}
	if err := snapshot.Read(ctx, db); err != nil {
		return nil, fmt.Errorf("read persons: %w", err)
	}
	for _, p := range persons {
		p.upgrade()
	}
	return persons, nil
}

func readPersons(rows pgx.Rows, columns []scalar, persons map[int64]*stored) error {
	texts, dates := make([]string, len(columns)), make([]*time.Time, len(columns))
	var body []byte
	for rows.Next() {
		p := &stored{record: &record{person: &commonsv1.Person{}}}
		places := []any{&p.id, &p.version, &p.zone, &p.layout, &body}
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

// upgrade makes a person of an older layout, who has in the body what now has
// tables, look like one of today's. Where the body says two things of a day,
// what comes later in it holds.
func (p *stored) upgrade() {
	if p.layout == layout {
		return
	}
	first := civil.Beginning
	if hired, err := civil.ParseDate(p.details().GetHireDate()); err == nil {
		first = hired.Clamp()
	}
	p.spread()
	for _, g := range p.person.GetGdapAssignments() {
		g.Role = strings.ToLower(g.GetRole())
	}
	for _, l := range lists() {
		var entries []entry
		for _, e := range l.elements(p.record) {
			one := entry{days: always, key: e.fingerprint(l.keys), value: e.fingerprint(len(e.values)), element: e}
			if !l.undated {
				days, err := readDates("", e, first)
				if err != nil || days.Empty() {
					continue
				}
				one.days = days
			}
			entries = overlay(entries, []entry{one})
		}
		l.put(p.record, l.kept(entries))
	}
}

// show answers the person as callers see them on a day.
func (r *record) show(id int64, day civil.Date) *commonsv1.Person {
	r.showCurrent(day)
	r.showTerms()
	r.person.PersonIdentity = identity(id, r.number())
	return r.person
}

// identity is how answers name a person.
func identity(id int64, number string) *commonsv1.PersonIdentity {
	return &commonsv1.PersonIdentity{PersonKey: &id, PersonNumber: &number}
}
