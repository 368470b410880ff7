package commons_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// runs runs the service until the test ends.
func (b *fixture) runs(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- b.service.Run(ctx) }()
	go func() { done <- b.service.Relay(ctx) }()
	t.Cleanup(func() {
		stop()
		for range 2 {
			<-done
		}
	})
}

func byNumber(number string, change func(*commonsv1.Person)) *commonsv1.Person {
	p := &commonsv1.Person{PersonIdentity: &commonsv1.PersonIdentity{PersonNumber: &number}}
	change(p)
	return p
}

func custom(name, text string) *commonsv1.PersonInformation {
	return &commonsv1.PersonInformation{CustomDataList: []*commonsv1.CustomData{{CustomDataTypeName: name, Text: text}}}
}

// TestUpdatesAtOnceAllLast lets many change different things of one person at
// the same time.
func TestUpdatesAtOnceAllLast(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	made, err := b.persons.CreatePerson(ctx, plain("x"))
	require.NoError(t, err)
	const writers = 6
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			for {
				_, err := b.persons.MultiUpdatePersons(ctx, &commonsv1.PersonList{Persons: []*commonsv1.Person{
					byNumber("x", func(p *commonsv1.Person) { p.PersonInformation = custom(fmt.Sprint("c", i), "v") }),
				}})
				if !fault.HasCode(err, "WCO-101513") { // So many at once that one was too slow.
					assert.NoError(t, err)
					return
				}
			}
		})
	}
	group.Wait()
	read, err := b.persons.GetPerson(ctx, &commonsv1.GetPersonRequest{PersonId: made.GetPersonIdentity().GetPersonKey()})
	require.NoError(t, err)
	assert.Len(t, read.GetPersonInformation().GetCustomDataList(), writers)
	events := b.events(t)
	assert.Equal(t, int64(writers+1), events[len(events)-1].GetPersons()[0].GetVersion())
}

func TestRenamesAndDeletions(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	_, err := b.persons.MultiCreatePersons(ctx, &commonsv1.PersonList{Persons: []*commonsv1.Person{
		plain("boss", withUser("boss.user")), ada(func(p *commonsv1.Person) {
			p.JobAssignment.JobAssignmentDetails.SupervisorPersonNumber = "boss"
		}),
	}})
	require.NoError(t, err)
	response, err := b.persons.MultiUpsertPersons(ctx, &commonsv1.PersonList{Persons: []*commonsv1.Person{
		byNumber("boss", func(p *commonsv1.Person) {
			p.PersonInformation = &commonsv1.PersonInformation{Person: &commonsv1.PersonDetails{PersonNumber: "chief"}}
		}),
		byNumber("boss", func(*commonsv1.Person) {}),
		byNumber("N-0412", func(p *commonsv1.Person) {
			p.PersonInformation = &commonsv1.PersonInformation{Person: &commonsv1.PersonDetails{PersonNumber: "chief"}}
		}),
	}})
	require.NoError(t, err)
	results := response.GetFailure().GetDetails().GetResults()
	require.Len(t, results, 3)
	assert.Nil(t, results[0].GetError())
	assert.Equal(t, "WCO-101236", results[1].GetError().GetErrorCode(), "the same person twice")
	assert.Equal(t, "WCO-101247", results[2].GetError().GetErrorCode(), "the number is the other's from now on")

	read, err := b.persons.MultiReadPersons(ctx, &commonsv1.MultiReadPersonsRequest{Where: &commonsv1.PersonWhere{
		Employees: &commonsv1.PersonCriterion{Key: "personnumber", Values: []string{"N-0412", "chief"}},
	}})
	require.NoError(t, err)
	assert.Equal(t, "chief", read.GetPersons()[0].GetJobAssignment().GetJobAssignmentDetails().GetSupervisorPersonNumber())
	assert.Equal(t, []string{"aokafor", "boss.user"}, b.users.names())

	_, err = b.persons.DeletePerson(ctx, &commonsv1.DeletePersonRequest{PersonId: read.GetPersons()[1].GetPersonIdentity().GetPersonKey()})
	require.NoError(t, err)
	assert.Equal(t, []string{"aokafor"}, b.users.names())
	assert.Zero(t, b.intents(t))
	events := b.events(t)
	last := events[len(events)-1].GetPersons()[0]
	assert.True(t, last.GetDeleted())
	assert.EqualValues(t, 3, last.GetVersion())
	assert.Empty(t, last.GetPersonNumber())
}

// TestAuthIsNotifiedOfLockouts follows a termination from the request to what
// auth gets, in the person's time zone.
func TestAuthIsNotifiedOfLockouts(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.runs(t)
	ctx := inTenant(t, 1)
	made, err := b.persons.CreatePerson(ctx, ada(func(p *commonsv1.Person) { p.PersonInformation.EmploymentStatusList = nil }))
	require.NoError(t, err)
	id := made.GetPersonIdentity().GetPersonKey()
	_, err = b.persons.UpdatePerson(ctx, &commonsv1.UpdatePersonRequest{PersonId: id, Person: &commonsv1.Person{
		PersonInformation: &commonsv1.PersonInformation{EmploymentStatusList: []*commonsv1.EmploymentStatus{
			{EmploymentStatusName: "Terminated", EffectiveDate: "2026-07-01", ExpirationDate: "2026-08-01"},
		}},
	}})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return b.users.lockout(id) != nil }, 20*time.Second, 5*time.Millisecond)
	lockout := b.users.lockout(id)
	assert.EqualValues(t, 2, lockout.GetVersion())
	newYork, err := tzdb.Load("America/New_York")
	require.NoError(t, err)
	require.Len(t, lockout.GetPeriods(), 1)
	assert.Equal(t, time.Date(2026, 7, 1, 0, 0, 0, 0, newYork).Unix(), lockout.GetPeriods()[0].GetFrom())
	assert.Equal(t, time.Date(2026, 8, 1, 0, 0, 0, 0, newYork).Unix(), lockout.GetPeriods()[0].GetTo())
}
