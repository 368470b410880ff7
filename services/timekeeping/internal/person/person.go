// Package person knows the persons of commons: a projection that events keep
// up to date, and that a call to commons completes when somebody was created a
// moment ago.
package person

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// CodeUnknown (400; 404 on a path with an id): there is no such person, or the
// caller may not see them.
const CodeUnknown = "WCO-101263"

// Person is what timekeeping knows of a person.
type Person struct {
	ID     int64
	Number string
}

// Key names a person: by id, or by person number when the id is 0.
type Key struct {
	ID     int64
	Number string
}

// Unknown is the error for a key that names nobody.
func (k Key) Unknown() *fault.Error {
	if k.ID != 0 {
		return fault.Invalid(CodeUnknown, fmt.Sprintf("There is no person with the id %d.", k.ID))
	}
	return fault.Invalid(CodeUnknown, fmt.Sprintf("There is no person with the person number %q.", k.Number))
}

// Directory finds persons.
type Directory struct {
	pool    *pgxpool.Pool
	commons commonsv1.PersonServiceClient
}

// NewDirectory makes a Directory over the projection in the pool's database.
func NewDirectory(pool *pgxpool.Pool, commons commonsv1.PersonServiceClient) *Directory {
	return &Directory{pool: pool, commons: commons}
}

// Find answers the persons that the keys name; unknown ones are missing from
// the answer. It may call commons, so it has no place in a transaction.
func (d *Directory) Find(ctx context.Context, tenantID int64, keys []Key) (map[Key]Person, error) {
	found := make(map[Key]Person, len(keys))
	if err := d.fromProjection(ctx, tenantID, keys, found); err != nil {
		return nil, err
	}
	var ask commonsv1.ResolvePersonsRequest
	for _, key := range keys {
		switch _, known := found[key]; {
		case known:
		case key.ID != 0:
			ask.Ids = append(ask.Ids, key.ID)
		default:
			ask.PersonNumbers = append(ask.PersonNumbers, key.Number)
		}
	}
	if len(ask.GetIds())+len(ask.GetPersonNumbers()) == 0 {
		return found, nil
	}
	answer, err := d.commons.ResolvePersons(ctx, &ask)
	if err != nil {
		return nil, fmt.Errorf("find persons in commons: %w", err)
	}
	if err := Apply(ctx, d.pool, tenantID, answer.GetPersons()); err != nil {
		return nil, err
	}
	for _, p := range answer.GetPersons() {
		add(found, Person{ID: p.GetPersonId(), Number: p.GetPersonNumber()})
	}
	return found, nil
}

func (d *Directory) fromProjection(ctx context.Context, tenantID int64, keys []Key, found map[Key]Person) error {
	var ids []int64
	var numbers []string
	for _, key := range keys {
		if key.ID != 0 {
			ids = append(ids, key.ID)
		} else {
			numbers = append(numbers, key.Number)
		}
	}
	rows, err := d.pool.Query(ctx, `SELECT id, person_number FROM person
		WHERE tenant_id = $1 AND (id = ANY($2) OR person_number = ANY($3))`, tenantID, ids, numbers)
	if err != nil {
		return err
	}
	persons, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Person])
	if err != nil {
		return fmt.Errorf("read persons: %w", err)
	}
	for _, p := range persons {
		add(found, p)
	}
	return nil
}

// add makes a person findable by both kinds of key.
func add(found map[Key]Person, p Person) {
	found[Key{ID: p.ID}] = p
	found[Key{Number: p.Number}] = p
}

// Apply brings the projection up to date with states that commons gave. Older
// states than those that are there change nothing.
func Apply(ctx context.Context, db pg.Querier, tenantID int64, states []*commonsv1.PersonState) error {
	newest := make(map[int64]*commonsv1.PersonState, len(states))
	for _, s := range states {
		if old := newest[s.GetPersonId()]; old.GetVersion() < s.GetVersion() {
			newest[s.GetPersonId()] = s
		}
	}
	var ids, versions []int64
	var numbers []string
	for _, s := range newest {
		ids = append(ids, s.GetPersonId())
		numbers = append(numbers, s.GetPersonNumber())
		versions = append(versions, s.GetVersion())
	}
	// In the order of the ids, so that two who apply the same states at once
	// do not wait for each other in a circle.
	_, err := db.Exec(ctx, `INSERT INTO person AS p (tenant_id, id, person_number, version)
		SELECT $1, q.id, q.number, q.version
		FROM unnest($2::bigint[], $3::text[], $4::bigint[]) AS q (id, number, version)
		ORDER BY q.id
		ON CONFLICT (tenant_id, id) DO UPDATE
		SET person_number = excluded.person_number, version = excluded.version
		WHERE excluded.version > p.version`, tenantID, ids, numbers, versions)
	if err != nil {
		return fmt.Errorf("apply persons: %w", err)
	}
	return nil
}
