package commons_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/bustest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// knowsTerm has the service know a term, as an event would.
func (b *fixture) knowsTerm(t *testing.T, ctx context.Context, id int64, name string) {
	t.Helper()
	_, err := b.pool.Exec(ctx, `INSERT INTO employment_term (tenant_id, id, name, deleted, version) VALUES (1, $1, $2, false, 1)`, id, name)
	require.NoError(t, err)
}

// onTerms puts a person on terms.
func onTerms(terms ...*commonsv1.TermAssignment) func(*commonsv1.Person) {
	return func(p *commonsv1.Person) {
		p.JobAssignment = &commonsv1.JobAssignment{EmploymentTermAssignments: terms}
	}
}

// terms returns the terms that a person is shown with.
func terms(p *commonsv1.Person) (out []string) {
	for _, a := range p.GetJobAssignment().GetEmploymentTermAssignments() {
		out = append(out, a.GetName()+" "+a.GetStartDate()+" "+a.GetEndDate())
	}
	return out
}

func TestTermsAreAskedForUntilTheyAreThere(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	b.knowsTerm(t, ctx, 7, "Full")
	made, err := b.persons.CreatePerson(ctx, plain("x", onTerms(&commonsv1.TermAssignment{Name: "FULL", StartDate: "2026-01-01"})))
	require.NoError(t, err)
	id := made.GetPersonIdentity().GetPersonKey()
	want := []string{"Full 2026-01-01 3000-01-01"}
	assert.Equal(t, want, terms(made))
	listed := func() []*commonsv1.TermRequest {
		response, err := b.termRequests.ListTermRequests(ctx, &commonsv1.ListTermRequestsRequest{PersonIds: []int64{id}})
		require.NoError(t, err)
		return response.GetRequests()
	}
	require.Len(t, listed(), 1)
	assert.Equal(t, "", diff(&commonsv1.TermRequest{PersonId: id, Number: 1, Terms: []*commonsv1.RequestedTerm{
		{EmploymentTermId: 7, From: "2026-01-01", To: "3000-01-01"},
	}}, listed()[0]))
	changed, err := b.persons.UpdatePerson(ctx, &commonsv1.UpdatePersonRequest{PersonId: id, Person: &commonsv1.Person{
		PersonInformation: custom("a", "b"),
	}})
	require.NoError(t, err)
	assert.Equal(t, want, terms(changed), "a change of something else asks for nothing")
	assert.Len(t, listed(), 1)
	changed, err = b.persons.UpdatePerson(ctx, &commonsv1.UpdatePersonRequest{PersonId: id, Person: plainTerms(&commonsv1.TermAssignment{StartDate: "2026-02-01", EndDate: "2026-03-01"})})
	require.NoError(t, err)
	want = []string{"Full 2026-01-01 2026-02-01", "Full 2026-03-01 3000-01-01"}
	assert.Equal(t, want, terms(changed))
	require.Len(t, listed(), 2)
	number := listed()[1].GetNumber()
	assert.EqualValues(t, 3, number)

	// Timekeeping carries both out, and says so.
	state := &schedulingv1.PersonMemberships{PersonId: id, Version: 1, TermRequest: number, Memberships: []*schedulingv1.Membership{
		{EmploymentTermId: 7, From: "2026-01-01", To: "2026-02-01"}, {EmploymentTermId: 7, From: "2026-03-01", To: "2026-12-01"},
	}}
	b.runs(t)
	bustest.Publish(t, b.nats, &schedulingv1.MembershipsChanged{Persons: []*schedulingv1.PersonMemberships{state}})
	require.Eventually(t, func() bool { return len(listed()) == 0 }, 10*time.Second, 5*time.Millisecond)
	read, err := b.persons.GetPerson(ctx, &commonsv1.GetPersonRequest{PersonId: id})
	require.NoError(t, err)
	assert.Equal(t, []string{"Full 2026-01-01 2026-02-01", "Full 2026-03-01 2026-12-01"}, terms(read), "what timekeeping says")
}

func plainTerms(terms ...*commonsv1.TermAssignment) *commonsv1.Person {
	p := &commonsv1.Person{}
	onTerms(terms...)(p)
	return p
}

func TestTermsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	full := onTerms(&commonsv1.TermAssignment{Name: "Full"})
	_, err := b.persons.CreatePerson(ctx, plain("x", full))
	require.True(t, fault.HasCode(err, "WCO-101232"), err)
	assert.Contains(t, err.Error(), `"Full"`)

	// A term whose event is on its way is waited for.
	made := make(chan *commonsv1.Person, 1)
	go func() {
		p, err := b.persons.CreatePerson(ctx, plain("x", full))
		assert.NoError(t, err)
		made <- p
	}()
	b.knowsTerm(t, ctx, 7, "Full")
	assert.Equal(t, []string{"Full 1900-01-01 3000-01-01"}, terms(<-made))
}
