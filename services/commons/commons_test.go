package commons_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func TestCreatePerson(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	created, err := b.persons.CreatePerson(ctx, ada(func(p *commonsv1.Person) {
		p.PersonIdentity = &commonsv1.PersonIdentity{RequestItemId: proto.Int64(5)}
	}))
	require.NoError(t, err)
	id := created.GetPersonIdentity().GetPersonKey()
	assert.Positive(t, id)
	assert.Equal(t, "N-0412", created.GetPersonIdentity().GetPersonNumber())
	assert.EqualValues(t, 5, created.GetPersonIdentity().GetRequestItemId())
	assert.Equal(t, "Okafor, Ada", created.GetPersonInformation().GetPerson().GetFullName())
	assert.Empty(t, created.GetUser().GetUserAccount().GetUserPassword())

	read, err := b.persons.GetPerson(ctx, &commonsv1.GetPersonRequest{PersonId: id})
	require.NoError(t, err)
	created.PersonIdentity.RequestItemId = nil
	assert.Empty(t, diff(created, read), "what is read is what the creation returned")

	statuses := read.GetPersonInformation().GetEmploymentStatusList()
	require.Len(t, statuses, 2)
	assert.Equal(t, []string{"Active", "2021-05-03", "2026-06-01"},
		[]string{statuses[0].GetEmploymentStatusName(), statuses[0].GetEffectiveDate(), statuses[0].GetExpirationDate()})
	assert.Equal(t, "3000-01-01", statuses[1].GetExpirationDate())
	assert.Equal(t, "Eastern", read.GetJobAssignment().GetJobAssignmentDetails().GetTimeZoneName(), "as it was given")

	resolved, err := b.persons.ResolvePersons(ctx, &commonsv1.ResolvePersonsRequest{PersonNumbers: []string{"N-0412", "n-0412"}})
	require.NoError(t, err)
	want := &commonsv1.PersonState{
		PersonId: id, PersonNumber: "N-0412", FullName: "Okafor, Ada", TimeZone: "America/New_York", Version: 1, HireDate: "2021-05-03",
		Terminated: []*commonsv1.PersonDays{{From: "2026-06-01", To: "3000-01-01"}},
		LockedOut:  []*commonsv1.PersonDays{{From: "2026-06-01", To: "3000-01-01"}},
		// From her first day on, as days since 1970.
		PrimaryJobs: &commonsv1.PersonJobs{Jobs: []*commonsv1.PersonJob{{
			From: int32(civil.Of(2021, time.May, 3)), To: int32(civil.Of(3000, time.January, 1)), Path: "Acme/East/Store 12/Clerk",
		}}},
	}
	require.Len(t, resolved.GetPersons(), 1)
	assert.Empty(t, diff(want, resolved.GetPersons()[0]))
	events := b.events(t)
	require.Len(t, events, 1)
	assert.Empty(t, diff(&commonsv1.PersonsChanged{Persons: []*commonsv1.PersonState{want}}, events[0]))

	account := b.users.accounts[id]
	require.NotNil(t, account)
	assert.Equal(t, []string{"aokafor", "hush-hush", "Default"}, []string{account.GetUsername(), account.GetPassword(), account.GetAccessProfile()})
	var leaks int
	require.NoError(t, b.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM person WHERE position('hush-hush'::bytea IN body) > 0)
		+ (SELECT count(*) FROM outbox WHERE position('hush-hush'::bytea IN payload) > 0)`).Scan(&leaks))
	assert.Zero(t, leaks, "the password is nowhere in our database")

	_, err = b.persons.CreatePerson(ctx, ada())
	assert.True(t, fault.HasCode(err, "WCO-101247"), err)
	_, err = b.persons.GetPerson(ctx, &commonsv1.GetPersonRequest{PersonId: id + 1})
	assert.True(t, fault.HasCode(err, "WCO-101263") && fault.HasStatus(err, 400), err)
	_, err = b.persons.GetPerson(inTenant(t, 2), &commonsv1.GetPersonRequest{PersonId: id})
	assert.True(t, fault.HasStatus(err, 400), "another tenant's person")
}

func TestMultiCreatePersons(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	_, err := b.persons.CreatePerson(ctx, plain("old", withUser("old.user")))
	require.NoError(t, err)

	list := &commonsv1.PersonList{Persons: []*commonsv1.Person{
		plain("a", withUser("a.user")),
		plain("old"),
		plain("b", func(p *commonsv1.Person) { p.PersonInformation.Person.LastName = "" }),
		plain("a"),
		plain("c", withUser("OLD.USER")),
		plain("d"),
	}}
	response, err := b.persons.MultiCreatePersons(ctx, list)
	require.NoError(t, err)
	assert.Empty(t, response.GetPersons())
	failure := response.GetFailure()
	assert.Equal(t, "WCO-101271", failure.GetErrorCode())
	assert.Equal(t, []int32{1, 2, 3, 4}, failure.GetDetails().GetErrorOffsets())
	results := failure.GetDetails().GetResults()
	require.Len(t, results, 6)
	for i, code := range []string{"", "WCO-101247", "WCO-101231", "WCO-101247", "WCO-101247", ""} {
		t.Run(code, func(t *testing.T) {
			assert.Equal(t, code, results[i].GetError().GetErrorCode(), i)
		})
	}
	assert.Contains(t, results[2].GetError().GetMessage(), "personInformation.person.lastName")
	assert.Contains(t, results[4].GetError().GetMessage(), "user.userAccount.userName")
	assert.NotContains(t, failure.String(), "hush-hush")
	echoed := &commonsv1.Person{}
	require.NoError(t, results[4].GetError().GetDetails().GetInput().UnmarshalTo(echoed))
	assert.Equal(t, "c", echoed.GetPersonInformation().GetPerson().GetPersonNumber())

	assert.Equal(t, []string{"a.user", "old.user"}, b.users.names())
	assert.Zero(t, b.intents(t))
	events := b.events(t)
	require.Len(t, events, 2, "one event for each transaction")
	assert.Len(t, events[1].GetPersons(), 2)

	t.Run("when all fail the response is 400", func(t *testing.T) {
		_, err := b.persons.MultiCreatePersons(ctx, &commonsv1.PersonList{Persons: []*commonsv1.Person{plain("old"), plain("a")}})
		assert.True(t, fault.HasCode(err, "WCO-101271") && fault.HasStatus(err, 400), err)
		assert.Len(t, fault.FromError(err).Details.GetResults(), 2)
	})
	t.Run("more than a hundred are refused", func(t *testing.T) {
		many := &commonsv1.PersonList{}
		for i := range 101 {
			many.Persons = append(many.Persons, plain(fmt.Sprint("m", i)))
		}
		_, err := b.persons.MultiCreatePersons(ctx, many)
		require.True(t, fault.HasCode(err, "WCO-101207") && fault.HasStatus(err, 413), err)
		many.Persons = many.Persons[:100]
		response, err := b.persons.MultiCreatePersons(ctx, many)
		require.NoError(t, err)
		assert.Len(t, response.GetPersons(), 100)
	})
}

func TestAccountsOfFailedCreations(t *testing.T) {
	t.Parallel()
	t.Run("auth is away", func(t *testing.T) {
		t.Parallel()
		b := newFixture(t)
		b.users.putErr = fault.Unavailable("away", time.Second)
		_, err := b.persons.CreatePerson(inTenant(t, 1), ada())
		assert.True(t, fault.HasStatus(err, 503), err)
		assert.Zero(t, b.intents(t))
		assert.Empty(t, b.events(t))
	})
	t.Run("somebody takes the number after the account was made", func(t *testing.T) {
		t.Parallel()
		b := newFixture(t)
		ctx := inTenant(t, 1)
		b.users.afterPut = func() {
			_, err := b.pool.Exec(ctx, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body)
				VALUES (1, 900000, 'N-0412', 'x', 'UTC', '')`)
			assert.NoError(t, err)
		}
		_, err := b.persons.CreatePerson(ctx, ada())
		assert.True(t, fault.HasCode(err, "WCO-101247"), err)
		assert.Empty(t, b.users.names(), "the account was taken back")
		assert.Zero(t, b.intents(t))
	})
	t.Run("the transaction fails", func(t *testing.T) {
		t.Parallel()
		b := newFixture(t)
		ctx := inTenant(t, 1)
		_, err := b.pool.Exec(ctx, `ALTER TABLE outbox ADD CONSTRAINT full_disk CHECK (false)`)
		require.NoError(t, err)
		_, err = b.persons.CreatePerson(ctx, ada())
		assert.True(t, fault.HasStatus(err, 500), err)
		assert.Empty(t, b.users.names())
		assert.Zero(t, b.intents(t))
	})
	t.Run("the sweep takes back what a crash left", func(t *testing.T) {
		t.Parallel()
		b := newFixture(t)
		ctx := inTenant(t, 1)
		b.users.accounts[7] = &authv1.User{PersonId: 7, Username: "old"}
		b.users.accounts[8] = &authv1.User{PersonId: 8, Username: "fresh"}
		_, err := b.pool.Exec(ctx, `INSERT INTO account_intent (tenant_id, person_id, created_at)
			VALUES (1, 7, now() - interval '1 hour'), (1, 8, now())`)
		require.NoError(t, err)
		running, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.service.Run(running) }()
		assert.Eventually(t, func() bool { return b.intents(t) == 1 }, 10*time.Second, 5*time.Millisecond)
		assert.Equal(t, []string{"fresh"}, b.users.names(), "a request may still be at work on the fresh one")
		stop()
		assert.NoError(t, <-done)
	})
}

func TestMultiReadBasePersons(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	made, err := b.persons.MultiCreatePersons(ctx, &commonsv1.PersonList{Persons: []*commonsv1.Person{plain("x"), ada()}})
	require.NoError(t, err)
	require.Len(t, made.GetPersons(), 2)
	read := func(key string, change func(*commonsv1.PersonWhere), values ...string) (*commonsv1.BasePersonList, error) {
		where := &commonsv1.PersonWhere{Employees: &commonsv1.PersonCriterion{Key: key, Values: values}}
		if change != nil {
			change(where)
		}
		return b.persons.MultiReadBasePersons(ctx, &commonsv1.MultiReadPersonsRequest{Where: where})
	}
	response, err := read("PersonNumber", nil, "N-0412", "x", "N-0412")
	require.NoError(t, err)
	require.Len(t, response.GetPersons(), 3)
	assert.Equal(t, "Okafor, Ada (N-0412)", response.GetPersons()[0].GetDisplayName())
	assert.Equal(t, "x", response.GetPersons()[1].GetPersonNumber())

	response, err = read("personid", nil, fmt.Sprint(made.GetPersons()[0].GetPersonIdentity().GetPersonKey()), "999999")
	require.NoError(t, err)
	assert.Equal(t, []int32{1}, response.GetFailure().GetDetails().GetErrorOffsets())
	assert.Equal(t, "WCO-101263", response.GetFailure().GetDetails().GetResults()[1].GetError().GetErrorCode())

	response, err = read("personnumber", func(w *commonsv1.PersonWhere) {
		w.OnlyActivePerson, w.SnapshotDate = proto.Bool(true), "2026-06-01"
	}, "N-0412", "x")
	require.NoError(t, err)
	require.Len(t, response.GetPersons(), 1, "one is terminated on that day")

	for name, c := range map[string]struct {
		key    string
		values []string
		code   string
	}{
		"bad key":     {"badge", []string{"1"}, "WCO-101203"},
		"no values":   {"personid", nil, "WCO-101202"},
		"empty value": {"personnumber", []string{""}, "WCO-101202"},
		"no id":       {"personid", []string{"x"}, "WCO-101202"},
		"all unknown": {"personnumber", []string{"y"}, "WCO-101271"},
		"too many":    {"personnumber", slices.Repeat([]string{"x"}, 1001), "WCO-101207"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(c.key, nil, c.values...)
			assert.True(t, fault.HasCode(err, c.code), err)
		})
	}
}

func TestTenantsAreApart(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	for _, id := range []int64{1, 2} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			_, err := b.persons.CreatePerson(inTenant(t, id), ada(func(p *commonsv1.Person) { p.User = nil }))
			require.NoError(t, err, "person numbers are unique in a tenant only")
		})
	}
	// The statement has no WHERE, so only row-level security keeps tenants apart.
	for _, table := range []string{"person", "employment_status", "user_account_status", "badge_assignment", "primary_labor_account", "base_wage_rate"} {
		t.Run(table, func(t *testing.T) {
			var one, two, none int
			for ctx, into := range map[context.Context]*int{inTenant(t, 1): &one, inTenant(t, 2): &two, t.Context(): &none} {
				require.NoError(t, b.pool.QueryRow(ctx, `SELECT count(DISTINCT tenant_id) FROM `+table).Scan(into))
			}
			assert.Equal(t, []int{1, 1, 0}, []int{one, two, none}, table)
		})
	}
}
