package store_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func day(t *testing.T, text string) civil.Date {
	t.Helper()
	d, err := civil.ParseDate(text)
	require.NoError(t, err)
	return d
}

// newPool has the persons 1 to 3 in two tenants, and what statements add.
func newPool(t *testing.T, statements ...string) (context.Context, *pg.Pool) {
	t.Helper()
	pool := pooltest.New(t)
	_, err := pool.Exec(tenant.With(t.Context(), 2), `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body, user_name, aoid, coid)
		SELECT 2, n, 'N' || n, 'Other', 'UTC', '', 'Other' || n, 'b' || n, 'c' FROM generate_series(1, 3) AS n`)
	require.NoError(t, err)
	ctx := tenant.With(t.Context(), 1)
	for _, sql := range append([]string{
		`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body, user_name, aoid, coid) VALUES
			(1, 1, 'N1', 'One', 'UTC', '', 'Ada', 'a1', 'c1'), (1, 2, 'N2', 'Two', 'UTC', '', '', 'a1', 'c2'), (1, 3, 'M1', 'Three', 'Europe/Berlin', '', '', '', '')`,
	}, statements...) {
		_, err := pool.Exec(ctx, sql)
		require.NoError(t, err)
	}
	return ctx, pool
}

func TestPersonsByKey(t *testing.T) {
	t.Parallel()
	ctx, pool := newPool(t,
		`INSERT INTO badge_assignment VALUES (1, 1, 'B', '2026-01-01', '2026-03-01'), (1, 2, 'B', '2026-03-01', '2026-04-01')`,
		`INSERT INTO email_address (tenant_id, person_id, contact_type_name, address) VALUES
			(1, 1, 'Work', 'Ada@Example.com'), (1, 1, 'Home', 'ada@example.com'), (1, 1, 'Team', 'team@example.com'), (1, 2, 'Team', 'team@example.com')`)
	badge := func(on string) store.Key { return store.Key{Badge: "B", Day: day(t, on)} }
	for _, c := range []struct {
		name string
		key  store.Key
		want int64 // 0 for none
	}{
		{"a person number", store.Key{Number: "N1"}, 1},
		{"a person number of other letters", store.Key{Number: "n1"}, 1},
		{"a person number with a space and what nobody sees", store.Key{Number: " M\u200b1"}, 3},
		{"an unknown person number", store.Key{Number: "N4"}, 0},
		{"a user name", store.Key{User: "ada"}, 1},
		{"the user name of another tenant", store.Key{User: "other1"}, 0},
		{"an address that a person has twice", store.Key{Email: "ada@example.com"}, 1},
		{"an address that two persons have", store.Key{Email: "team@example.com"}, 0},
		{"a badge on its first day", badge("2026-01-01"), 1},
		{"a badge on its last day", badge("2026-02-28"), 1},
		{"a badge on the day it changes hands", badge("2026-03-01"), 2},
		{"a badge on the day it was given back", badge("2026-04-01"), 0},
		{"a badge before its first day", badge("2025-12-31"), 0},
		{"an external pair", store.Key{External: [2]string{"a1", "c2"}}, 2},
		{"an external pair of two persons", store.Key{External: [2]string{"b1", "c1"}}, 0},
		{"an id, which nobody need have", store.Key{ID: 99}, 99},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// Others beside it change nothing.
			keys := []store.Key{c.key, c.key, {Number: "N2"}, badge("2026-02-01")}
			found, err := store.FindIDs(ctx, pool, keys)
			require.NoError(t, err)
			assert.Equal(t, c.want, found[c.key])
			assert.EqualValues(t, 2, found[store.Key{Number: "N2"}])
		})
	}
}

func TestKeysAsCallersSeeThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key       store.Key
		text      string
		identity  *commonsv1.PersonIdentity
		canCreate bool
	}{
		{store.Key{ID: 7}, "the id 7", &commonsv1.PersonIdentity{PersonKey: proto.Int64(7)}, false},
		{store.Key{Number: "N"}, `the person number "N"`, &commonsv1.PersonIdentity{PersonNumber: proto.String("N")}, true},
		{store.Key{User: "u"}, `the user name "u"`, &commonsv1.PersonIdentity{UserName: proto.String("u")}, false},
		{store.Key{Email: "e"}, `the e-mail address "e"`, &commonsv1.PersonIdentity{}, false},
		{store.Key{Badge: "b", Day: day(t, "2026-03-01")}, `the badge "b" on 2026-03-01`, &commonsv1.PersonIdentity{BadgeNumber: proto.String("b")}, false},
		{store.Key{External: [2]string{"a", "c"}}, `the aoid "a" and the coid "c"`, &commonsv1.PersonIdentity{Aoid: proto.String("a"), Coid: proto.String("c")}, true},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.text, c.key.String())
			assert.Equal(t, "There is no person with "+c.text+".", c.key.NotFound().Message)
			assert.Equal(t, rules.CodeUnknown, c.key.NotFound().Code)
			assert.True(t, proto.Equal(c.identity, c.key.Identity()), "%v", c.key.Identity())
			assert.Equal(t, c.canCreate, c.key.CanCreate())
		})
	}
}

func TestNumbersOfNewPersons(t *testing.T) {
	t.Parallel()
	numbered := func(number string) *commonsv1.Person {
		return &commonsv1.Person{PersonInformation: &commonsv1.PersonInformation{Person: &commonsv1.PersonDetails{PersonNumber: number}}}
	}
	for _, c := range []struct {
		name  string
		key   store.Key
		given *commonsv1.Person
		want  string
	}{
		{"that of the key", store.Key{Number: "N"}, &commonsv1.Person{}, "N"},
		{"that of the key, where the rest is there", store.Key{Number: "N"}, numbered(""), "N"},
		{"that of the body", store.Key{Number: "N"}, numbered("M"), "M"},
		{"none", store.Key{ID: 7}, &commonsv1.Person{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := proto.CloneOf(c.given)
			assert.Equal(t, c.want, c.key.Fill(c.given).GetPersonInformation().GetPerson().GetPersonNumber())
			assert.True(t, proto.Equal(before, c.given), "what was sent stays as it is")
		})
	}
}

// A person who was changed or deleted since the read is not overwritten.
func TestConcurrentlyChangedPersonsAreNotWritten(t *testing.T) {
	t.Parallel()
	ctx, pool := newPool(t)
	for _, c := range []struct {
		name        string
		id, version int64
		stale       bool
	}{
		{"as they were", 1, 1, false},
		{"changed since", 2, 0, true},
		{"gone", 99, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			known, err := store.Load(ctx, pool, []int64{c.id})
			require.NoError(t, err)
			old := known[c.id]
			if old == nil {
				old = &store.Person{Record: &record.Record{Message: &commonsv1.Person{}}}
			}
			old.ID, old.Version = c.id, c.version
			changed := old.Clone()
			record.DetailsOrEmpty(changed).LastName = "Changed"
			err = pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
				return store.Write(ctx, tx, []store.Change{{Draft: &rules.Draft{Record: changed, Zone: "UTC"}, ID: c.id, Old: old}})
			})
			if c.stale {
				require.ErrorIs(t, err, store.ErrStale)
			} else {
				require.NoError(t, err)
			}
			known, err = store.Load(ctx, pool, []int64{c.id})
			require.NoError(t, err)
			if p := known[c.id]; p != nil {
				assert.Equal(t, !c.stale, p.Details().GetLastName() == "Changed")
				assert.Equal(t, !c.stale, p.Version == 2)
			}
		})
	}
}
