// Package person keeps a projection of the persons of commons. Events keep it up to date. A call to
// commons adds persons whose events have not arrived yet.
package person

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/personzone"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/names"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// CodeUnknown (400; 404 on a path with an id): the person does not exist, or the caller may not see
// them.
const CodeUnknown = "WCO-101263"

// Person holds the data of a person that timekeeping needs.
type Person struct {
	ID       int64
	Number   string
	FullName string
	// TimeZone is the IANA name of the latest time zone of the person's wall-clock times. TimeZones
	// holds all zones of a person who has had more than one.
	TimeZone  string
	TimeZones *commonsv1.PersonZones
	// HireDate is nil if commons has none.
	HireDate *civil.Date
	// Terminated are the days without employment after a termination, ascending. TimeZone determines
	// when they begin.
	Terminated []civil.Range
	// Refused is the error if the operation may not write for the person, because it is the
	// caller's own record. It is always nil in operations that read.
	Refused *fault.Error
}

// Clocks returns the clocks of the person's wall-clock times.
func (p Person) Clocks(zones *civil.Zones) (civil.Clocks, error) {
	return personzone.Clocks(zones, p.TimeZone, p.TimeZones)
}

// Key identifies a person by id, or by person number if the id is 0. The zero Key identifies no
// person.
type Key struct {
	ID     int64
	Number string
}

// Ref returns a ref with the key.
func (k Key) Ref() *commonv1.Ref {
	if k.ID != 0 {
		return &commonv1.Ref{Id: &k.ID}
	}
	return &commonv1.Ref{Qualifier: &k.Number}
}

// Unknown returns the error for a key of an unknown person.
func (k Key) Unknown() *fault.Error {
	if k.ID != 0 {
		return fault.Invalid(CodeUnknown, fmt.Sprintf("There is no person with the id %d.", k.ID))
	}
	return fault.Invalid(CodeUnknown, fmt.Sprintf("There is no person with the person number %q.", k.Number))
}

// Directory finds persons.
type Directory struct {
	pool    *pg.Pool
	commons commonsv1.PersonServiceClient
	rows    *rowvisibility.Rules
	copy    *replica.Replica
}

// NewDirectory returns a Directory of the projection in the database of the pool. The rules
// determine which persons callers may see.
func NewDirectory(pool *pg.Pool, commons commonsv1.PersonServiceClient, rules *rowvisibility.Rules) *Directory {
	return &Directory{pool: pool, commons: commons, rows: rules, copy: NewCopy(pool)}
}

// Find returns the persons that the keys identify. Unknown persons, and persons that the caller may
// not see, are missing in the result. It may call commons, so do not call it inside a transaction.
func (d *Directory) Find(ctx context.Context, keys []Key) (map[Key]Person, error) {
	visible, err := d.rows.Visible(ctx)
	if err != nil {
		return nil, err
	}
	found, err := d.find(ctx, keys)
	if err != nil {
		return nil, err
	}
	for key, p := range found {
		if !visible.Has(p.ID) {
			authn.NoteNotVisible(ctx)
			delete(found, key)
			continue
		}
		p.Refused = visible.RefuseOwn(p.ID)
		found[key] = p
	}
	rowvisibility.WritesForNobody(ctx) // Without persons, the operation writes for no person.
	return found, nil
}

// FindPermitted returns the persons with ids, by id, whatever rows the caller sees. The caller has
// checked that the request may write for these persons, such as a device for the members of its group.
// It may call commons, so do not call it inside a transaction.
func (d *Directory) FindPermitted(ctx context.Context, ids []int64) (map[int64]Person, error) {
	keys := make([]Key, len(ids))
	for i, id := range ids {
		keys[i] = Key{ID: id}
	}
	found, err := d.find(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]Person, len(ids))
	for _, p := range found {
		out[p.ID] = p
	}
	return out, nil
}

// IDs returns the ids of the persons that the keys identify, in their order and without duplicates.
// It also returns an error for each key of an unknown or invisible person. If all keys are of that
// kind, it fails with the first of these errors. Do not call it inside a transaction: it calls
// Find.
func (d *Directory) IDs(ctx context.Context, keys []Key, unknown func(Key) *fault.Error) ([]int64, []rpc.UnknownEmployee, error) {
	found, err := d.Find(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	var ids []int64
	var missing []rpc.UnknownEmployee
	for _, key := range keys {
		if who, ok := found[key]; !ok {
			missing = append(missing, rpc.UnknownEmployee{Ref: key.Ref(), Err: unknown(key)})
		} else if !slices.Contains(ids, who.ID) {
			ids = append(ids, who.ID)
		}
	}
	if len(ids) == 0 && len(missing) > 0 {
		return nil, nil, missing[0].Err
	}
	return ids, missing, nil
}

// Visible returns the set of persons that the caller may see, for searches that do not start from a
// person. Do not call it inside a transaction.
func (d *Directory) Visible(ctx context.Context) (rowvisibility.Set, error) {
	return d.rows.Visible(ctx)
}

// find does the same as Find, without regard to visibility.
func (d *Directory) find(ctx context.Context, keys []Key) (map[Key]Person, error) {
	// A deleted person has no number, and the empty key identifies no person.
	keys = slices.DeleteFunc(slices.Clone(keys), func(key Key) bool { return key == Key{} })
	found := make(map[Key]Person, len(keys))
	if err := d.fromProjection(ctx, keys, found); err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Clone(keys), func(key Key) bool {
		_, known := found[key]
		return known
	})
	for part := range slices.Chunk(missing, maxPerCall) {
		if err := d.fromCommons(ctx, part, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Identify asks commons for persons that the caller identifies by more than id or person number.
// Persons that the caller may not see are not found. Do not call it inside a transaction.
func (d *Directory) Identify(ctx context.Context, req *commonsv1.IdentifyPersonsRequest) ([]*commonsv1.IdentifiedPerson, error) {
	response, err := d.commons.IdentifyPersons(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("identify persons in commons: %w", err)
	}
	return response.GetPersons(), nil
}

// maxPerCall is the maximum number of persons in one call.
const maxPerCall = 1000

const copies pg.Unaudited = "a copy of what its owner has written already"

// fromCommons reads persons from commons, and stores them.
func (d *Directory) fromCommons(ctx context.Context, keys []Key, found map[Key]Person) error {
	var ask commonsv1.ResolvePersonsRequest
	for _, key := range keys {
		if key.ID != 0 {
			ask.Ids = append(ask.Ids, key.ID)
		} else {
			ask.PersonNumbers = append(ask.PersonNumbers, key.Number)
		}
	}
	response, err := d.commons.ResolvePersons(ctx, &ask)
	if err != nil {
		return fmt.Errorf("find persons in commons: %w", err)
	}
	if err := copies.InTx(ctx, d.pool, func(ctx context.Context, tx pgx.Tx) error {
		return replica.Put(ctx, tx, d.copy, response.GetPersons())
	}); err != nil {
		return err
	}
	asked := map[string][]Key{}
	for _, key := range keys {
		asked[names.Key(key.Number)] = append(asked[names.Key(key.Number)], key)
	}
	for _, state := range response.GetPersons() {
		p := fromState(state)
		add(found, p)
		// The request may have spelled the person number differently.
		for _, key := range asked[names.Key(p.Number)] {
			if _, known := found[key]; !known && key.ID == 0 {
				found[key] = p
			}
		}
	}
	return nil
}

// Each person is a separate index search. OFFSET 0 keeps it so even before PostgreSQL has
// statistics.
const findPersons = `
SELECT p.id, p.person_number, p.full_name, p.time_zone, p.time_zones, p.hire_date, p.terminated FROM unnest($2::bigint[]) AS u (id)
CROSS JOIN LATERAL (SELECT * FROM person WHERE tenant_id = $1 AND id = u.id OFFSET 0) AS p
UNION
SELECT p.id, p.person_number, p.full_name, p.time_zone, p.time_zones, p.hire_date, p.terminated FROM unnest($3::text[]) AS u (number)
CROSS JOIN LATERAL (SELECT * FROM person WHERE tenant_id = $1 AND person_number = u.number OFFSET 0) AS p`

func (d *Directory) fromProjection(ctx context.Context, keys []Key, found map[Key]Person) error {
	var ids []int64
	var numbers []string
	for _, key := range keys {
		if key.ID != 0 {
			ids = append(ids, key.ID)
		} else {
			numbers = append(numbers, key.Number)
		}
	}
	persons, err := pg.Collect(ctx, d.pool, scanPerson, findPersons, tenant.Of(ctx), ids, numbers)
	if err != nil {
		return fmt.Errorf("read persons: %w", err)
	}
	for _, p := range persons {
		add(found, p)
	}
	return nil
}

func scanPerson(row pgx.CollectableRow) (Person, error) {
	var p Person
	var terminated pgtype.Multirange[pgtype.Range[civil.Date]]
	var zones []byte
	err := row.Scan(&p.ID, &p.Number, &p.FullName, &p.TimeZone, &zones, &p.HireDate, &terminated)
	if err != nil {
		return p, err
	}
	p.TimeZones, err = personzone.Decode(zones)
	for _, days := range terminated {
		p.Terminated = append(p.Terminated, civil.Range{From: days.Lower, To: days.Upper})
	}
	return p, err
}

// defaultZone is the time zone of persons without one in commons.
const defaultZone = "UTC"

func fromState(s *commonsv1.PersonState) Person {
	p := Person{
		ID: s.GetPersonId(), Number: s.GetPersonNumber(), FullName: s.GetFullName(),
		TimeZone: cmp.Or(s.GetTimeZone(), defaultZone), TimeZones: s.GetTimeZones(), Terminated: terminatedDays(s),
	}
	if day, err := civil.ParseDate(s.GetHireDate()); err == nil {
		p.HireDate = &day
	}
	return p
}

// terminatedDays returns the days on which a person is not employed: all days for a deleted person.
func terminatedDays(s *commonsv1.PersonState) []civil.Range {
	if s.GetDeleted() {
		return []civil.Range{{From: civil.Beginning, To: civil.Forever}}
	}
	var out []civil.Range
	for _, days := range s.GetTerminated() {
		from, err := civil.ParseDate(days.GetFrom())
		if err != nil {
			continue
		}
		to, err := civil.ParseDate(days.GetTo())
		if err != nil {
			continue
		}
		if r := (civil.Range{From: from, To: to}).Clamp(); !r.Empty() {
			out = append(out, r)
		}
	}
	return out
}

// add adds a person under both kinds of keys. A deleted person has no number.
func add(found map[Key]Person, p Person) {
	found[Key{ID: p.ID}] = p
	if p.Number != "" {
		found[Key{Number: p.Number}] = p
	}
}

// NewCopy returns the projection of persons in the database of the pool.
func NewCopy(pool *pg.Pool) *replica.Replica {
	return replica.New(pool, replica.Copy[*commonsv1.PersonState]{
		Service: "timekeeping", Event: &commonsv1.PersonsChanged{}, Apply: apply,
	})
}

func apply(ctx context.Context, tx pgx.Tx, changes []replica.Change[*commonsv1.PersonState]) error {
	type row struct {
		ID                     int64
		Number, FullName, Zone string
		HireDate               *civil.Date
		Zones                  []byte
	}
	type terminatedDays struct {
		ID       int64
		From, To civil.Date
	}
	var rows []row
	var terminated []terminatedDays
	for _, c := range changes {
		p := fromState(c.State)
		encoded, err := personzone.Encode(p.TimeZones)
		if err != nil {
			return fmt.Errorf("encode time zones of person %d: %w", p.ID, err)
		}
		rows = append(rows, row{p.ID, p.Number, p.FullName, p.TimeZone, p.HireDate, encoded})
		for _, days := range p.Terminated {
			terminated = append(terminated, terminatedDays{p.ID, days.From, days.To})
		}
	}
	_, err := tx.Exec(ctx, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, hire_date, time_zones, terminated)
		SELECT $1, q.*, coalesce((SELECT range_agg(daterange(d.from_date, d.to_date))
			FROM unnest($8::bigint[], $9::date[], $10::date[]) AS d (id, from_date, to_date) WHERE d.id = q.id), '{}')
		FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::date[], $7::bytea[]) AS q (id, number, name, zone, hired, zones)
		ON CONFLICT (tenant_id, id) DO UPDATE
		SET person_number = excluded.person_number, full_name = excluded.full_name,
		    time_zone = excluded.time_zone, time_zones = excluded.time_zones, hire_date = excluded.hire_date, terminated = excluded.terminated`,
		pg.Columns(terminated, pg.Columns(rows, tenant.Of(ctx))...)...)
	if err != nil {
		return fmt.Errorf("store persons: %w", err)
	}
	return nil
}
