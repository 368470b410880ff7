package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/personzone"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

// Person is a stored person.
type Person struct {
	*record.Record
	ID, Version int64
	// Zone is the IANA name of the person's latest time zone.
	Zone string
	// Zones are the dated time zones of a person who has had several. The last of them is Zone.
	Zones *commonsv1.PersonZones
}

// ZoneOn returns the name of the person's time zone on a day.
func (p *Person) ZoneOn(day civil.Date) string { return personzone.NameOn(p.Zone, p.Zones, day) }

// Clocks returns the clocks of the person's time zones.
func (p *Person) Clocks(zones *civil.Zones) (civil.Clocks, error) {
	return personzone.Clocks(zones, p.Zone, p.Zones)
}

// SupervisorName is SQL for the present name of the supervisor of a person p, in a statement with the
// tenant as its first parameter. It is NULL if no person has the number.
const SupervisorName = `(SELECT m.full_name FROM person m
	WHERE m.tenant_id = $1 AND m.person_number = p.supervisor_person_number AND p.supervisor_person_number <> '')`

// Load reads all data of persons in one snapshot, together with the queries that beside
// queues. Unknown persons are left out.
func Load(ctx context.Context, db pg.Querier, ids []int64, beside ...func(*pg.Snapshot)) (map[int64]*Person, error) {
	tenantID := tenant.Of(ctx)
	if len(ids) == 0 {
		return nil, nil
	}
	columns := record.Columns()
	names := ""
	for _, c := range columns {
		names += ", " + c.Name
	}
	persons := map[int64]*Person{}
	var snapshot pg.Snapshot
	snapshot.Queue(func(rows pgx.Rows) error { return readPersons(rows, columns, persons) },
		fmt.Sprintf(`SELECT id, version, time_zone, time_zones, body,
			%s%s
		FROM person p WHERE tenant_id = $1 AND id = ANY($2)`, SupervisorName, names), tenantID, ids)
	for _, l := range record.Tables() {
		snapshot.Queue(func(rows pgx.Rows) error {
			if err := readInto(l, rows, persons); err != nil {
				return fmt.Errorf("%s: %w", l.Table, err)
			}
			return nil
		}, readSQL(l), tenantID, ids)
	}
	queueTerms(&snapshot, tenantID, ids, persons)
	snapshot.Queue(func(rows pgx.Rows) error { return readSignoffs(rows, persons) },
		`SELECT person_id, through FROM timecard_signoff WHERE tenant_id = $1 AND person_id = ANY($2)`, tenantID, ids)
	for _, queue := range beside {
		queue(&snapshot)
	}
	if err := snapshot.Read(ctx, db); err != nil {
		return nil, fmt.Errorf("read persons: %w", err)
	}
	for _, p := range persons {
		p.AdoptAccrualProfile()
		p.AdoptFullTime()
	}
	return persons, nil
}

func readSignoffs(rows pgx.Rows, persons map[int64]*Person) error {
	var id int64
	var through civil.Date
	_, err := pgx.ForEachRow(rows, []any{&id, &through}, func() error {
		if p := persons[id]; p != nil {
			day := through
			p.SignedOff = &day
		}
		return nil
	})
	return err
}

func readPersons(rows pgx.Rows, columns []record.Column, persons map[int64]*Person) error {
	for rows.Next() {
		p := &Person{Record: &record.Record{Message: &commonsv1.Person{}}}
		values := make([]any, len(columns))
		var body, zones []byte
		var supervisor *string
		places := []any{&p.ID, &p.Version, &p.Zone, &zones, &body, &supervisor}
		for i := range values {
			places = append(places, &values[i])
		}
		if err := rows.Scan(places...); err != nil {
			return err
		}
		if err := proto.Unmarshal(body, p.Message); err != nil {
			return fmt.Errorf("decode person %d: %w", p.ID, err)
		}
		var err error
		if p.Zones, err = personzone.Decode(zones); err != nil {
			return fmt.Errorf("decode time zones of person %d: %w", p.ID, err)
		}
		for i, c := range columns {
			if err := c.SetValue(p.Message.ProtoReflect(), values[i]); err != nil {
				return fmt.Errorf("read person %d: %w", p.ID, err)
			}
		}
		if supervisor != nil {
			// The supervisor may have another name by now than when it was sent.
			p.Message.GetJobAssignment().GetJobAssignmentDetails().SupervisorName = *supervisor
		}
		details := record.DetailsOrEmpty(p.Record)
		details.FullName = details.GetLastName() + ", " + details.GetFirstName()
		persons[p.ID] = p
	}
	return rows.Err()
}
