package person

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// key names a person by exactly one of its fields.
type key struct {
	id     int64
	number string
	// user and email are in lower case.
	user, email string
	// badge is one that the person carries on day.
	badge string
	day   civil.Date
	// external is the pair of aoid and coid.
	external [2]string
}

func (k key) unknown() *fault.Error {
	return fault.Invalid(CodeUnknown, "There is no person with "+k.String()+".")
}

// String says what is looked for.
func (k key) String() string {
	switch {
	case k.number != "":
		return fmt.Sprintf("the person number %q", k.number)
	case k.user != "":
		return fmt.Sprintf("the user name %q", k.user)
	case k.email != "":
		return fmt.Sprintf("the e-mail address %q", k.email)
	case k.badge != "":
		return fmt.Sprintf("the badge %q on %s", k.badge, k.day)
	case k.external[0] != "":
		return fmt.Sprintf("the aoid %q and the coid %q", k.external[0], k.external[1])
	}
	return fmt.Sprintf("the id %d", k.id)
}

// identity is the key as callers write it.
func (k key) identity() *commonsv1.PersonIdentity {
	switch {
	case k.number != "":
		return &commonsv1.PersonIdentity{PersonNumber: &k.number}
	case k.user != "":
		return &commonsv1.PersonIdentity{UserName: &k.user}
	case k.badge != "":
		return &commonsv1.PersonIdentity{BadgeNumber: &k.badge}
	case k.external[0] != "":
		return &commonsv1.PersonIdentity{Aoid: &k.external[0], Coid: &k.external[1]}
	case k.email != "":
		return &commonsv1.PersonIdentity{}
	}
	return &commonsv1.PersonIdentity{PersonKey: &k.id}
}

// finder is how persons are found by one kind of key.
type finder struct {
	sql string
	// args are behind the tenant.
	args []any
	// scan answers the places of a row's key and a function that makes it.
	scan func() ([]any, func() key)
}

// find answers the ids of the persons that keys name. Unknown ones are missing;
// an id is answered whether there is such a person or not.
func find(ctx context.Context, db pg.Querier, tenantID int64, keys []key) (map[key]int64, error) {
	out := make(map[key]int64, len(keys))
	for _, k := range keys {
		if k.id != 0 {
			out[k] = k.id
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

// finders answers those for the kinds of keys that are there.
func finders(keys []key) []finder {
	text := func(sql string, of func(key) string, to func(string) key) finder {
		var values []string
		for _, k := range keys {
			if v := of(k); v != "" {
				values = append(values, v)
			}
		}
		return finder{sql: sql, args: []any{values}, scan: func() ([]any, func() key) {
			var value string
			return []any{&value}, func() key { return to(value) }
		}}
	}
	all := []finder{
		text(`SELECT person_number, id FROM person WHERE tenant_id = $1 AND person_number = ANY($2)`,
			func(k key) string { return k.number }, func(v string) key { return key{number: v} }),
		text(`SELECT user_name_key, id FROM person WHERE tenant_id = $1 AND user_name_key <> '' AND user_name_key = ANY($2)`,
			func(k key) string { return k.user }, func(v string) key { return key{user: v} }),
		text(`SELECT address_key, min(person_id) FROM email_address WHERE tenant_id = $1 AND address_key = ANY($2)
			GROUP BY 1 HAVING count(DISTINCT person_id) = 1`,
			func(k key) string { return k.email }, func(v string) key { return key{email: v} }),
		badges(keys), externals(keys),
	}
	return slices.DeleteFunc(all, func(f finder) bool { return len(f.args[0].([]string)) == 0 })
}

func badges(keys []key) finder {
	numbers, days := []string{}, []time.Time{}
	for _, k := range keys {
		if k.badge != "" {
			numbers, days = append(numbers, k.badge), append(days, k.day.Time())
		}
	}
	return finder{
		sql: `SELECT q.number, q.day, b.person_id FROM unnest($2::text[], $3::date[]) AS q (number, day)
			JOIN badge_assignment b ON b.tenant_id = $1 AND b.badge_number = q.number
				AND b.from_date <= q.day AND b.to_date > q.day`,
		args: []any{numbers, days},
		scan: func() ([]any, func() key) {
			var number string
			var day time.Time
			return []any{&number, &day}, func() key { return key{badge: number, day: civil.FromTime(day)} }
		},
	}
}

func externals(keys []key) finder {
	aoids, coids := []string{}, []string{}
	for _, k := range keys {
		if k.external[0] != "" {
			aoids, coids = append(aoids, k.external[0]), append(coids, k.external[1])
		}
	}
	return finder{
		sql: `SELECT p.aoid, p.coid, p.id FROM unnest($2::text[], $3::text[]) AS q (aoid, coid)
			JOIN person p ON p.tenant_id = $1 AND p.aoid <> '' AND p.aoid = q.aoid AND p.coid = q.coid`,
		args: []any{aoids, coids},
		scan: func() ([]any, func() key) {
			var pair [2]string
			return []any{&pair[0], &pair[1]}, func() key { return key{external: pair} }
		},
	}
}

// creates reports whether an upsert creates the person when nobody has the key.
func (k key) creates() bool { return k.number != "" || k.external[0] != "" }

// fill answers the person with what the key says of them.
func (k key) fill(in *commonsv1.Person) *commonsv1.Person {
	if k.number == "" || in.GetPersonInformation().GetPerson().GetPersonNumber() != "" {
		return in
	}
	out := proto.CloneOf(in)
	if out.PersonInformation == nil {
		out.PersonInformation = &commonsv1.PersonInformation{}
	}
	if out.PersonInformation.Person == nil {
		out.PersonInformation.Person = &commonsv1.PersonDetails{}
	}
	out.PersonInformation.Person.PersonNumber = k.number
	return out
}
