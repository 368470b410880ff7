package leavecasepolicy_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavepolicy"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person/persontest"
)

// absent is a commons that identifies persons by their key, and knows no further data than the
// copy.
type absent struct{ persontest.NobodyElse }

func (absent) IdentifyPersons(_ context.Context, req *commonsv1.IdentifyPersonsRequest, _ ...grpc.CallOption) (*commonsv1.IdentifyPersonsResponse, error) {
	out := &commonsv1.IdentifyPersonsResponse{}
	for _, id := range req.GetIdentities() {
		out.Persons = append(out.Persons, &commonsv1.IdentifiedPerson{PersonId: id.GetPersonKey()})
	}
	return out, nil
}

func TestProfilesOfEmployees(t *testing.T) {
	t.Parallel()
	ctx, w := newFixture(t)
	of := func(number string) string {
		found, err := w.assignments.FindLeaveProfileAssignment(ctx, &timekeepingv1.FindLeaveProfileAssignmentRequest{PersonNumber: number})
		require.NoError(t, err)
		return found.GetAssignmentProfile()
	}
	give := func(id int64, profile string) error {
		_, err := w.assignments.UpdateLeaveProfileAssignment(ctx, &timekeepingv1.LeaveProfileAssignment{
			PersonIdentity: &commonsv1.PersonIdentity{PersonKey: &id}, AssignmentProfile: profile,
		})
		return err
	}
	require.Equal(t, "Staff", of("T-7"))
	require.Empty(t, of("T-8"))
	for _, c := range []struct {
		name, profile, code string
		employee            int64
	}{
		{"no profile", "", leavepolicy.CodeMissing, withoutProfile},
		{"a profile that is not there", "Crew", leavepolicy.CodeProfileUnknown, withoutProfile},
		{"a profile that is not active", "Former", leavepolicy.CodeInvalid, withoutProfile},
		{"nobody who is known", "Staff", person.CodeUnknown, 99},
	} {
		t.Run(c.name, func(t *testing.T) {
			faulttest.RequireCode(t, c.code, give(c.employee, c.profile))
			assert.Empty(t, of("T-8"))
		})
	}
	require.NoError(t, give(withoutProfile, "staff"))
	assert.Equal(t, "Staff", of("T-8"))

	_, err := w.assignments.DeleteLeaveProfileAssignment(ctx, &timekeepingv1.DeleteLeaveProfileAssignmentRequest{PersonNumber: "T-7"})
	require.NoError(t, err)
	assert.Empty(t, of("T-7"))
	_, err = w.assignments.GetLeaveProfileAssignment(ctx, &timekeepingv1.GetLeaveProfileAssignmentRequest{PersonId: 99})
	faulttest.RequireCode(t, person.CodeUnknown, err)
}
