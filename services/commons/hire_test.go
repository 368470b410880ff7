package commons_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// newHireOf returns the hire of a person with a number and an employment term.
func newHireOf(number, term string) *commonsv1.HirePersonRequest {
	return &commonsv1.HirePersonRequest{Key: uuid.NewString(), EmploymentTerm: term, Employee: &commonsv1.NewHire{
		CompanyIdentifier: &commonsv1.NewHireCompany{CompanyCode: "ACME1"}, FirstName: "Ada", LastName: "Moreno", AddressLine1: "1 River St", City: "Ames",
		BirthDate: "1990-05-02", BenefitSeniorityDate: "2026-03-02", HireDate: "2026-03-02", EmployeeNumber: number,
	}}
}

func TestAHireCreatesOnePerson(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	b.knowsTerm(t, ctx, 7, "Ward")
	req := newHireOf("H1", "ward")
	ids := make([]int64, 4)
	var group errgroup.Group
	for i := range ids {
		group.Go(func() error {
			out, err := b.newHires.HirePerson(ctx, req)
			ids[i] = out.GetPersonId()
			return err
		})
	}
	require.NoError(t, group.Wait())
	for _, id := range ids {
		assert.Equal(t, ids[0], id)
	}
	response, err := b.termRequests.ListTermRequests(ctx, &commonsv1.ListTermRequestsRequest{PersonIds: ids[:1]})
	require.NoError(t, err)
	require.Len(t, response.GetRequests(), 1)
	assert.EqualValues(t, 7, response.GetRequests()[0].GetTerms()[0].GetEmploymentTermId())

	_, err = b.newHires.HirePerson(ctx, newHireOf("H1", ""))
	require.True(t, fault.HasStatus(err, 400), "another hire cannot take the number: %v", err)
	_, err = b.newHires.HirePerson(ctx, newHireOf("H2", "Nothing"))
	require.True(t, fault.HasStatus(err, 400), "%v", err)
	without := newHireOf("H3", "")
	without.Employee.BirthDate = ""
	_, err = b.newHires.HirePerson(ctx, without)
	require.True(t, fault.HasStatus(err, 400), "%v", err)
}
