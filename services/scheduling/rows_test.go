package scheduling_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/membership"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

func TestTermsOfOtherPersonsAreHidden(t *testing.T) {
	t.Parallel()
	sets, err := scheduling.Migrations()
	require.NoError(t, err)
	pool := pgtest.New(t, sets...)
	handler := membership.New(pool, projection.NewResolver(pool, schedtest.NoPersons{}, nil))
	ctx := inTenant(t, tenant.Default)
	require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		return replica.Put(ctx, tx, scheduling.Copies(pool)[0], []*commonsv1.PersonState{
			{PersonId: 1, PersonNumber: "P1", Version: 1}, {PersonId: 2, PersonNumber: "P2", Version: 1},
		})
	}))
	own := authn.With(ctx, &authn.Principal{Tenant: tenant.Default, Subject: "one", PersonID: 1, Rows: "own"}, "")

	_, err = handler.GetEmploymentTermAssignments(own, &schedulingv1.GetEmploymentTermAssignmentsRequest{PersonId: 1})
	require.NoError(t, err)
	_, err = handler.GetEmploymentTermAssignments(own, &schedulingv1.GetEmploymentTermAssignmentsRequest{PersonId: 2})
	_, same := handler.GetEmploymentTermAssignments(own, &schedulingv1.GetEmploymentTermAssignmentsRequest{PersonId: 99})
	assert.True(t, fault.HasCode(err, membership.CodeUnknown), err)
	assert.Equal(t, strings.Replace(fault.FromError(same).Error(), "99", "2", 1), fault.FromError(err).Error())
	_, err = handler.FindEmploymentTermAssignments(own, &schedulingv1.FindEmploymentTermAssignmentsRequest{PersonNumber: "P2"})
	assert.True(t, fault.HasCode(err, membership.CodeUnknown), err)
	_, err = handler.MultiUpsertEmploymentTermAssignments(own, &schedulingv1.PersonEmploymentTermsList{Persons: []*schedulingv1.PersonEmploymentTerms{
		{PersonIdentity: &commonsv1.PersonIdentity{PersonNumber: proto.String("P2")}},
	}})
	require.Error(t, err)
	assert.Equal(t, membership.CodeUnknown, fault.FromError(err).Details.GetResults()[0].GetError().GetErrorCode())
}
