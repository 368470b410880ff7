package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
)

// Key names a person by exactly one of its fields.
type Key struct {
	ID     int64
	Number string
	// User and Email are in lower case.
	User, Email string
	// Badge is a badge that the person carries on Day.
	Badge string
	Day   civil.Date
	// External is the pair of aoid and coid.
	External [2]string
}

// NotFound returns the error (400) for a key without a person.
func (k Key) NotFound() *fault.Error {
	return fault.Invalid(rules.CodeUnknown, "There is no person with "+k.String()+".")
}

// String describes the key in error messages.
func (k Key) String() string {
	switch {
	case k.Number != "":
		return fmt.Sprintf("the person number %q", k.Number)
	case k.User != "":
		return fmt.Sprintf("the user name %q", k.User)
	case k.Email != "":
		return fmt.Sprintf("the e-mail address %q", k.Email)
	case k.Badge != "":
		return fmt.Sprintf("the badge %q on %s", k.Badge, k.Day)
	case k.External[0] != "":
		return fmt.Sprintf("the aoid %q and the coid %q", k.External[0], k.External[1])
	}
	return fmt.Sprintf("the id %d", k.ID)
}

// Identity returns the key in the form of requests.
func (k Key) Identity() *commonsv1.PersonIdentity {
	switch {
	case k.Number != "":
		return &commonsv1.PersonIdentity{PersonNumber: &k.Number}
	case k.User != "":
		return &commonsv1.PersonIdentity{UserName: &k.User}
	case k.Badge != "":
		return &commonsv1.PersonIdentity{BadgeNumber: &k.Badge}
	case k.External[0] != "":
		return &commonsv1.PersonIdentity{Aoid: &k.External[0], Coid: &k.External[1]}
	case k.Email != "":
		return &commonsv1.PersonIdentity{}
	}
	return &commonsv1.PersonIdentity{PersonKey: &k.ID}
}

// finder finds persons by one kind of key.
type finder struct {
	sql string
	// args follow the tenant.
	args []any
	// scan returns the scan destinations for a row's key, and a function that builds the key.
	scan func() ([]any, func() Key)
}

// FindIDs returns the ids of the persons that keys name. Unknown keys are missing from the
// result, except ids, which are returned without a check.
func FindIDs(ctx context.Context, db pg.Querier, keys []Key) (map[Key]int64, error) {
	tenantID := tenant.Of(ctx)
	out := make(map[Key]int64, len(keys))
	for _, k := range keys {
		if k.ID != 0 {
			out[k] = k.ID
		}
	}
	var snapshot pg.Snapshot
	for _, f := range finders(keys) {
		snapshot.Queue(func(rows pgx.Rows) error {
			var id int64
			places, made := f.scan()
			_, err := pgx.ForEachRow(rows, append(places, &id), func() error {
				out[made()] = id
				return nil
			})
			return err
		}, f.sql, append([]any{tenantID}, f.args...)...)
	}
	if err := snapshot.Read(ctx, db); err != nil {
		return nil, fmt.Errorf("find persons: %w", err)
	}
	return out, nil
}

// personsByNumber finds persons by number: the person with the exact number, or else a person
// with the same normalized number. Each is a separate index lookup. OFFSET 0 keeps it so even
// without statistics.
const personsByNumber = `SELECT DISTINCT u.number, p.id FROM unnest($2::text[]) AS u (number)
	CROSS JOIN LATERAL (SELECT id FROM (
		SELECT * FROM (SELECT id, 0 AS rank FROM person WHERE tenant_id = $1 AND person_number = u.number OFFSET 0) AS same
		UNION ALL
		SELECT * FROM (SELECT id, 1 FROM person WHERE tenant_id = $1 AND person_number_key = person_number_key(u.number) OFFSET 0) AS alike
		) AS either ORDER BY rank LIMIT 1) AS p`

// IDsOfNumbers returns the ids of the persons with the numbers, which may be spelled
// differently. Unknown numbers are left out.
func IDsOfNumbers(ctx context.Context, db pg.Querier, numbers []string) ([]int64, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	owners, err := PersonNumberOwners(ctx, db, numbers)
	return slices.Sorted(maps.Values(owners)), err
}

// finders returns the finders for the kinds of keys in the list.
func finders(keys []Key) []finder {
	text := func(sql string, of func(Key) string, to func(string) Key) finder {
		var values []string
		for _, k := range keys {
			if v := of(k); v != "" {
				values = append(values, v)
			}
		}
		return finder{sql: sql, args: []any{values}, scan: func() ([]any, func() Key) {
			var value string
			return []any{&value}, func() Key { return to(value) }
		}}
	}
	all := []finder{
		text(personsByNumber,
			func(k Key) string { return k.Number }, func(v string) Key { return Key{Number: v} }),
		text(`SELECT user_name_key, id FROM person WHERE tenant_id = $1 AND user_name_key <> '' AND user_name_key = ANY($2)`,
			func(k Key) string { return k.User }, func(v string) Key { return Key{User: v} }),
		text(`SELECT address_key, min(person_id) FROM email_address WHERE tenant_id = $1 AND address_key = ANY($2)
			GROUP BY 1 HAVING count(DISTINCT person_id) = 1`,
			func(k Key) string { return k.Email }, func(v string) Key { return Key{Email: v} }),
		badges(keys), externals(keys),
	}
	return slices.DeleteFunc(all, func(f finder) bool { return len(f.args[0].([]string)) == 0 })
}

func badges(keys []Key) finder {
	numbers, days := []string{}, []civil.Date{}
	for _, k := range keys {
		if k.Badge != "" {
			numbers, days = append(numbers, k.Badge), append(days, k.Day)
		}
	}
	return finder{
		sql: `SELECT q.number, q.day, b.person_id FROM unnest($2::text[], $3::date[]) AS q (number, day)
			JOIN badge_assignment b ON b.tenant_id = $1 AND b.badge_number = q.number
				AND b.from_date <= q.day AND b.to_date > q.day`,
		args: []any{numbers, days},
		scan: func() ([]any, func() Key) {
			var number string
			var day civil.Date
			return []any{&number, &day}, func() Key { return Key{Badge: number, Day: day} }
		},
	}
}

func externals(keys []Key) finder {
	aoids, coids := []string{}, []string{}
	for _, k := range keys {
		if k.External[0] != "" {
			aoids, coids = append(aoids, k.External[0]), append(coids, k.External[1])
		}
	}
	return finder{
		sql: `SELECT p.aoid, p.coid, p.id FROM unnest($2::text[], $3::text[]) AS q (aoid, coid)
			JOIN person p ON p.tenant_id = $1 AND p.aoid <> '' AND p.aoid = q.aoid AND p.coid = q.coid`,
		args: []any{aoids, coids},
		scan: func() ([]any, func() Key) {
			var pair [2]string
			return []any{&pair[0], &pair[1]}, func() Key { return Key{External: pair} }
		},
	}
}

// CanCreate reports whether an upsert creates the person if the key is unknown.
func (k Key) CanCreate() bool { return k.Number != "" || k.External[0] != "" }

// Fill returns the person with the values of the key filled in.
func (k Key) Fill(in *commonsv1.Person) *commonsv1.Person {
	if k.Number == "" || in.GetPersonInformation().GetPerson().GetPersonNumber() != "" {
		return in
	}
	out := proto.CloneOf(in)
	if out.PersonInformation == nil {
		out.PersonInformation = &commonsv1.PersonInformation{}
	}
	if out.PersonInformation.Person == nil {
		out.PersonInformation.Person = &commonsv1.PersonDetails{}
	}
	out.PersonInformation.Person.PersonNumber = k.Number
	return out
}
