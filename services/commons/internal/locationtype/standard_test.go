package locationtype_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationtype"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// Each tenant has the type Job, without a request that creates it, and it cannot be deleted.
func TestEveryTenantHasTheTypeOfJobs(t *testing.T) {
	t.Parallel()
	ctx, pool, h := newTypes(t)
	read, err := h.MultiReadLocationTypes(ctx, &commonsv1.MultiReadLocationTypesRequest{Where: &commonsv1.LocationTypeWhere{Qualifiers: []string{"Job"}}})
	require.NoError(t, err)
	require.Len(t, read.GetLocationTypes(), 1)
	id := read.GetLocationTypes()[0].GetId()

	listed, err := h.ListLocationTypes(ctx, &commonsv1.ListLocationTypesRequest{})
	require.NoError(t, err)
	require.Len(t, listed.GetLocationTypes(), 1)
	assert.Equal(t, id, listed.GetLocationTypes()[0].GetId())

	found, err := locationtype.Resolve(tenant.With(t.Context(), 2), pool, []*commonv1.Ref{byName("Job")})
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.NotEqual(t, id, found[0], "each tenant has its own")

	_, err = h.DeleteLocationType(ctx, &commonsv1.DeleteLocationTypeRequest{Id: id})
	assert.True(t, fault.HasCode(err, structure.CodeInUse), "%v", err)
}
