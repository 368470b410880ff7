package commons_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/bustest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// powerful creates a person whose user no caller may change, and one whose user every caller may
// change.
func powerful(t *testing.T, b *fixture) (boss, clerk int64) {
	t.Helper()
	ctx := inTenant(t, 1)
	for i, number := range []string{"boss", "clerk"} {
		made, err := b.persons.CreatePerson(ctx, plain(number, withUser(number)))
		require.NoError(t, err)
		id := made.GetPersonIdentity().GetPersonKey()
		if i == 0 {
			boss = id
		} else {
			clerk = id
		}
	}
	b.users.powerful[boss] = true
	return boss, clerk
}

func lockedOut(change *commonsv1.PersonInformation) *commonsv1.Person {
	return &commonsv1.Person{PersonInformation: change}
}

func TestAuthIsAskedBeforePersonsGo(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	boss, clerk := powerful(t, b)
	before := len(b.events(t))

	_, err := b.persons.DeletePerson(ctx, &commonsv1.DeletePersonRequest{PersonId: boss})
	require.True(t, fault.HasCode(err, fault.CodeNoAccess), err)
	assert.True(t, fault.HasStatus(err, 403), err)
	for name, info := range map[string]*commonsv1.PersonInformation{
		"terminated": {EmploymentStatusList: []*commonsv1.EmploymentStatus{{EmploymentStatusName: "Terminated", EffectiveDate: "2026-03-01"}}},
		"inactive":   {UserAccountStatusList: []*commonsv1.UserAccountStatus{{UserAccountStatusName: "Inactive", EffectiveDate: "2026-03-01"}}},
		"in a year":  {UserAccountStatusList: []*commonsv1.UserAccountStatus{{UserAccountStatusName: "Inactive", EffectiveDate: "2027-03-01"}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.persons.UpdatePerson(ctx, &commonsv1.UpdatePersonRequest{PersonId: boss, Person: lockedOut(info)})
			assert.True(t, fault.HasCode(err, fault.CodeNoAccess), "%s: %v", name, err)
		})
	}
	assert.Len(t, b.events(t), before, "nothing was written")
	assert.Equal(t, []string{"boss", "clerk"}, b.users.names())
	assert.Zero(t, b.intents(t))

	t.Run("items fail by themselves", func(t *testing.T) {
		out, err := b.persons.MultiDeletePersons(ctx, &commonsv1.PersonList{Persons: []*commonsv1.Person{
			{PersonIdentity: &commonsv1.PersonIdentity{PersonKey: &boss}}, {PersonIdentity: &commonsv1.PersonIdentity{PersonKey: &clerk}},
		}})
		require.NoError(t, err)
		require.Len(t, out.GetFailure().GetDetails().GetResults(), 2)
		assert.Equal(t, fault.CodeNoAccess, out.GetFailure().GetDetails().GetResults()[0].GetError().GetErrorCode())
		assert.Equal(t, []string{"boss"}, b.users.names())
	})
	t.Run("what has nothing to do with log-ins is not asked for", func(t *testing.T) {
		_, err := b.persons.UpdatePerson(ctx, &commonsv1.UpdatePersonRequest{PersonId: boss, Person: &commonsv1.Person{
			PersonInformation: &commonsv1.PersonInformation{Person: &commonsv1.PersonDetails{FirstName: "Other"}},
		}})
		assert.NoError(t, err)
	})
}

// personServer is the registrar that keeps the server of persons, for calls with a
// principal of the test's choice.
type personServer struct{ commonsv1.PersonServiceServer }

func (p *personServer) RegisterService(_ *grpc.ServiceDesc, impl any) {
	if persons, ok := impl.(commonsv1.PersonServiceServer); ok {
		p.PersonServiceServer = persons
	}
}

func handlers(b *fixture) commonsv1.PersonServiceServer {
	p := &personServer{}
	b.service.Register(p)
	return p
}

// withRequest returns a context as the chain makes it for the request of a user.
func withRequest(ctx context.Context, requestID string) context.Context {
	ctx = obs.WithRequest(ctx, obs.Request{ID: requestID})
	return authn.With(ctx, &authn.Principal{Tenant: 1, Subject: "chief", PersonID: 77, Client: "portal", Rows: "all", Service: "test"}, "")
}

// The messages that auth receives later, from the worker or the sweep, name the user who caused
// them.
func TestIntentsNameTheirInitiators(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	_, clerk := powerful(t, b)
	ctx := withRequest(inTenant(t, 1), "request-0001")
	_, err := handlers(b).UpdatePerson(ctx, &commonsv1.UpdatePersonRequest{PersonId: clerk, Person: lockedOut(&commonsv1.PersonInformation{
		UserAccountStatusList: []*commonsv1.UserAccountStatus{{UserAccountStatusName: "Inactive", EffectiveDate: "2026-04-01"}},
	})})
	require.NoError(t, err)
	b.users.mu.Lock()
	b.users.lockErr = fault.Unavailable("away", time.Second)
	b.users.mu.Unlock()
	b.runs(t)
	want := &authv1.Initiator{UserName: "chief", PersonId: 77, ClientId: "portal", RequestId: "request-0001"}
	toldOf := func(what string) *authv1.Initiator {
		b.users.mu.Lock()
		defer b.users.mu.Unlock()
		return b.users.received[what]
	}
	require.Eventually(t, func() bool { return toldOf("lock") != nil }, 20*time.Second, 5*time.Millisecond)
	assert.Empty(t, diff(want, toldOf("lock")))
	assert.Nil(t, b.users.lockout(clerk))

	b.users.mu.Lock()
	b.users.lockErr = nil
	b.users.mu.Unlock()
	require.Eventually(t, func() bool { return b.users.lockout(clerk) != nil }, 20*time.Second, 5*time.Millisecond, "auth is notified again")
	require.Eventually(t, func() bool {
		var left int
		require.NoError(t, b.pool.QueryRow(tenant.All(t.Context()), `SELECT count(*) FROM lockout_intent`).Scan(&left))
		return left == 0
	}, 20*time.Second, 5*time.Millisecond)

	_, err = handlers(b).DeletePerson(ctx, &commonsv1.DeletePersonRequest{PersonId: clerk})
	require.NoError(t, err)
	assert.Empty(t, diff(want, toldOf("delete")))
}

// A forged event has no effect on auth: commons reads the persons, and sends what it reads.
func TestAForgedEventDoesNotGrantAccess(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	_, clerk := powerful(t, b)
	b.runs(t)
	ctx := inTenant(t, 1)
	bustest.Publish(t, b.nats, &commonsv1.PersonsChanged{Persons: []*commonsv1.PersonState{{
		PersonId: clerk, PersonNumber: "clerk", Version: 1 << 40, TimeZone: "UTC", LockedOut: []*commonsv1.PersonDays{{From: "2000-01-01", To: "3000-01-01"}},
	}}})
	_, err := b.persons.UpdatePerson(ctx, &commonsv1.UpdatePersonRequest{PersonId: clerk, Person: lockedOut(&commonsv1.PersonInformation{
		UserAccountStatusList: []*commonsv1.UserAccountStatus{{UserAccountStatusName: "Inactive", EffectiveDate: "2026-04-01"}},
	})})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return b.users.lockout(clerk) != nil }, 20*time.Second, 5*time.Millisecond)
	assert.EqualValues(t, 2, b.users.lockout(clerk).GetVersion())
}
