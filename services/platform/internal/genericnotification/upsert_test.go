package genericnotification

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/migrations"
)

// Whoever upserts a name at the same time as others replaces what they created.
func TestUpsertsOfOneNameMeet(t *testing.T) {
	t.Parallel()
	local := rpctest.Local(t)
	platformv1.RegisterGenericNotificationServiceServer(local, New(pgtest.New(t, pg.Migrations{Table: "platform_version", FS: migrations.FS})))
	h := platformv1.NewGenericNotificationServiceClient(local.Conn("test", nil))
	ctx := tenant.With(t.Context(), 1)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			n := good()
			n.Description = fmt.Sprint(i)
			list, err := h.MultiUpsertGenericNotifications(ctx, &platformv1.MultiUpsertGenericNotificationsRequest{
				Body: &platformv1.GenericNotificationBatch{Items: []*platformv1.GenericNotification{n}},
			})
			assert.NoError(t, err)
			assert.Len(t, list.GetItems(), 1)
		})
	}
	wg.Wait()
	all, err := h.ListGenericNotifications(ctx, &platformv1.ListGenericNotificationsRequest{})
	require.NoError(t, err)
	require.Len(t, all.GetItems(), 1)
	assert.EqualValues(t, 8, all.GetItems()[0].GetVersion())
	others, err := h.ListGenericNotifications(tenant.With(t.Context(), 2), &platformv1.ListGenericNotificationsRequest{})
	require.NoError(t, err)
	assert.Empty(t, others.GetItems())
}
