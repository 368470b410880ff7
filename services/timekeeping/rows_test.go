package timekeeping_test

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
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/membership"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person/persontest"
)

func TestTermsOfOthersAreThoseOfNobody(t *testing.T) {
	t.Parallel()
	sets, err := timekeeping.Migrations()
	require.NoError(t, err)
	pool := pgtest.New(t, sets...)
	handler := membership.New(pool, person.NewDirectory(pool, persontest.NobodyElse{}, nil), func() {})
	ctx := inTenant(t, tenant.Default)
	require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		return replica.Put(ctx, tx, person.NewCopy(pool, nil), tenant.Default, []*commonsv1.PersonState{
			{PersonId: 1, PersonNumber: "P1", Version: 1}, {PersonId: 2, PersonNumber: "P2", Version: 1},
		})
	}))
	own := authn.With(ctx, &authn.Principal{Tenant: tenant.Default, Subject: "one", PersonID: 1, Rows: "own"}, "")

	_, err = handler.GetEmploymentTermAssignments(own, &timekeepingv1.GetEmploymentTermAssignmentsRequest{PersonId: 1})
	require.NoError(t, err)
	_, err = handler.GetEmploymentTermAssignments(own, &timekeepingv1.GetEmploymentTermAssignmentsRequest{PersonId: 2})
	_, same := handler.GetEmploymentTermAssignments(own, &timekeepingv1.GetEmploymentTermAssignmentsRequest{PersonId: 99})
	assert.True(t, fault.HasCode(err, person.CodeUnknown), err)
	assert.Equal(t, strings.Replace(fault.FromError(same).Error(), "99", "2", 1), fault.FromError(err).Error())
	_, err = handler.FindEmploymentTermAssignments(own, &timekeepingv1.FindEmploymentTermAssignmentsRequest{PersonNumber: "P2"})
	assert.True(t, fault.HasCode(err, person.CodeUnknown), err)
	_, err = handler.MultiUpsertEmploymentTermAssignments(own, &timekeepingv1.PersonEmploymentTermsList{Persons: []*timekeepingv1.PersonEmploymentTerms{
		{PersonIdentity: &commonsv1.PersonIdentity{PersonNumber: proto.String("P2")}},
	}})
	require.Error(t, err)
	assert.Equal(t, person.CodeUnknown, fault.FromError(err).Details.GetResults()[0].GetError().GetErrorCode())
}
