package genericnotification

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/pooltest"
)

// newClient returns a database, and a client of the handler on it.
func newClient(t *testing.T) (*pg.Pool, platformv1.GenericNotificationServiceClient) {
	t.Helper()
	pool, local := pooltest.New(t), rpctest.Local(t)
	platformv1.RegisterGenericNotificationServiceServer(local, New(pool))
	return pool, platformv1.NewGenericNotificationServiceClient(local.Conn("test", nil))
}

// Of concurrent upserts of one name, the later ones replace the first.
func TestUpsertsOfOneNameMeet(t *testing.T) {
	t.Parallel()
	_, h := newClient(t)
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

// The number of named objects is bounded when one is created, so that lists of all of them can be
// read. This also holds for concurrent creations.
func TestTheNumberOfNotificationsIsBounded(t *testing.T) {
	t.Parallel()
	pool, h := newClient(t)
	named := func(i int) *platformv1.GenericNotification {
		n := good()
		n.Name = fmt.Sprintf("new %d", i)
		return n
	}
	const filling pg.Unaudited = "the test fills the table"
	ctx := tenant.With(t.Context(), 1)
	_, err := filling.Exec(ctx, pool, `INSERT INTO generic_notification (tenant_id, name, body) SELECT 1, 'old ' || n, '' FROM generate_series(1, $1) AS n`, setup.MaxListed-3)
	require.NoError(t, err)

	var created, refused atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			_, err := h.CreateGenericNotification(ctx, named(i))
			switch {
			case err == nil:
				created.Add(1)
			case isFull(err):
				refused.Add(1)
			default:
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 3, created.Load())
	assert.EqualValues(t, 5, refused.Load())
	list, err := h.ListGenericNotifications(ctx, &platformv1.ListGenericNotificationsRequest{})
	require.NoError(t, err, "all of them can be read")
	assert.Len(t, list.GetItems(), setup.MaxListed)

	upsert := func(ctx context.Context, items ...*platformv1.GenericNotification) error {
		_, err := h.MultiUpsertGenericNotifications(ctx, &platformv1.MultiUpsertGenericNotificationsRequest{
			Body: &platformv1.GenericNotificationBatch{Items: items},
		})
		return err
	}
	old := named(0)
	old.Name = "OLD 1"
	require.NoError(t, upsert(ctx, old), "what is there can be replaced")
	assert.True(t, isFull(upsert(ctx, old, named(100))))
	require.NoError(t, upsert(tenant.With(t.Context(), 2), named(100)), "of another tenant")
	_, err = h.DeleteGenericNotification(ctx, &platformv1.DeleteGenericNotificationRequest{Id: list.GetItems()[0].GetId()})
	require.NoError(t, err)
	require.NoError(t, upsert(ctx, named(100)), "what is deleted makes room")
}

func isFull(err error) bool {
	f := fault.FromError(err)
	return f.Code == fault.CodeFull && f.Status == http.StatusConflict
}
