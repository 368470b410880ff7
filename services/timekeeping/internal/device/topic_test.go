package device_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/device"
)

// The copy of device groups is compared across all tenants, and repaired.
func TestCopiesOfDeviceGroupsAreRepaired(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other, err := f.groups.CreateDeviceGroup(tenant.With(t.Context(), 2), &udmv1.DeviceGroup{Name: "Elsewhere"})
	require.NoError(t, err)
	topic := device.Topic()
	tenants, err := pg.Collect(tenant.All(t.Context()), f.pool, pgx.RowTo[int64], topic.Tenants)
	require.NoError(t, err)
	assert.ElementsMatch(t, []int64{1, 2}, tenants)

	gone := other.GetId() + 1
	var events []proto.Message
	require.NoError(t, pg.InTx(tenant.With(t.Context(), 2), f.pool, func(ctx context.Context, tx pgx.Tx) error {
		events, err = topic.States(ctx, tx, []replica.Gap{{Key: other.GetId(), Version: 7}, {Key: gone, Version: 3}})
		return err
	}))
	require.Len(t, events, 2)
	assert.True(t, proto.Equal(&udmv1.DeviceGroupChanged{Id: other.GetId(), Name: "Elsewhere", Version: 8}, events[0]), "%v", events[0])
	assert.True(t, proto.Equal(&udmv1.DeviceGroupChanged{Id: gone, Version: 4, Deleted: true}, events[1]), "%v", events[1])
	raised, err := f.groups.GetDeviceGroup(tenant.With(t.Context(), 2), &udmv1.GetDeviceGroupRequest{Id: other.GetId()})
	require.NoError(t, err)
	assert.Equal(t, int64(8), raised.GetVersion(), "the owner stores the version above the copy's")
}
