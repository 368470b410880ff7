package person

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// newPerson is a draft that has its id.
type newPerson struct {
	*draft
	id int64
}

// state is what other domains keep of the person.
func (p newPerson) state() *commonsv1.PersonState {
	return &commonsv1.PersonState{
		PersonId:     p.id,
		PersonNumber: p.number(),
		FullName:     p.details().GetFullName(),
		TimeZone:     p.zone,
		Version:      1,
		HireDate:     p.details().GetHireDate(),
	}
}

// newIDs takes ids for new persons. An id that is not used is lost.
func newIDs(ctx context.Context, db pg.Querier, n int) ([]int64, error) {
	rows, err := db.Query(ctx, `SELECT nextval('person_id') FROM generate_series(1, $1)`, n)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("take person ids: %w", err)
	}
	return ids, nil
}

// taken answers which of the person numbers belong to somebody.
func taken(ctx context.Context, db pg.Querier, tenantID int64, numbers []string) (map[string]bool, error) {
	rows, err := db.Query(ctx, `SELECT person_number FROM person
		WHERE tenant_id = $1 AND person_number = ANY($2)`, tenantID, numbers)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	var number string
	if _, err := pgx.ForEachRow(rows, []any{&number}, func() error {
		out[number] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("look for person numbers: %w", err)
	}
	return out, nil
}

// insertPersons stores persons and answers the ids of those that are now
// there. One whose number somebody took in the meantime is missing.
func insertPersons(ctx context.Context, db pg.Querier, tenantID int64, persons []newPerson) (map[int64]bool, error) {
	var (
		ids                   []int64
		numbers, names, zones []string
		hired                 []*time.Time
		bodies                [][]byte
	)
	for _, p := range persons {
		body, err := proto.MarshalOptions{Deterministic: true}.Marshal(stored(p.person))
		if err != nil {
			return nil, fmt.Errorf("encode person: %w", err)
		}
		ids, numbers = append(ids, p.id), append(numbers, p.number())
		names, zones = append(names, p.details().GetFullName()), append(zones, p.zone)
		hired, bodies = append(hired, dateOrNull(p.details().GetHireDate())), append(bodies, body)
	}
	// In the order of the numbers, so that two who store the same persons at
	// once do not wait for each other in a circle.
	rows, err := db.Query(ctx, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, hire_date, body)
		SELECT $1, q.* FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::date[], $7::bytea[])
			AS q (id, number, name, zone, hired, body)
		ORDER BY q.number
		ON CONFLICT (tenant_id, person_number) DO NOTHING RETURNING id`,
		tenantID, ids, numbers, names, zones, hired, bodies)
	if err != nil {
		return nil, err
	}
	done := make(map[int64]bool, len(persons))
	var id int64
	if _, err := pgx.ForEachRow(rows, []any{&id}, func() error {
		done[id] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("store persons: %w", err)
	}
	return done, nil
}

// stored answers what the body of a person's row holds: the message without
// what is computed or lies in tables of its own. A part of which nothing is
// left stays there, empty, for the lists to come back to.
func stored(p *commonsv1.Person) *commonsv1.Person {
	out := proto.CloneOf(p)
	out.PersonIdentity = nil
	for _, l := range lists() {
		l.clear(out)
	}
	return out
}

func dateOrNull(text string) *time.Time {
	day, err := civil.ParseDate(text)
	if err != nil {
		return nil
	}
	t := day.Time()
	return &t
}

// read answers everything that is known of a person.
func read(ctx context.Context, db pg.Querier, tenantID, id int64) (*commonsv1.Person, error) {
	batch := &pgx.Batch{}
	batch.Queue(`SELECT body FROM person WHERE tenant_id = $1 AND id = $2`, tenantID, id)
	for _, l := range lists() {
		batch.Queue(l.readSQL(), tenantID, id)
	}
	results := db.SendBatch(ctx, batch)
	p, err := readBatch(results, id)
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	return p, err
}

func readBatch(results pgx.BatchResults, id int64) (*commonsv1.Person, error) {
	var body []byte
	err := results.QueryRow().Scan(&body)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.NotFound(CodeUnknown, fmt.Sprintf("There is no person with the id %d.", id))
	}
	if err != nil {
		return nil, err
	}
	p := &commonsv1.Person{}
	if err := proto.Unmarshal(body, p); err != nil {
		return nil, fmt.Errorf("decode person %d: %w", id, err)
	}
	for _, l := range lists() {
		rows, err := results.Query()
		if err != nil {
			return nil, err
		}
		if err := l.readInto(rows, p); err != nil {
			return nil, fmt.Errorf("read %s of person %d: %w", l.table, id, err)
		}
	}
	p.PersonIdentity = identity(id, p.GetPersonInformation().GetPerson().GetPersonNumber())
	return p, nil
}

// identity is how answers name a person.
func identity(id int64, number string) *commonsv1.PersonIdentity {
	return &commonsv1.PersonIdentity{PersonKey: &id, PersonNumber: &number}
}
