package genericnotification

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// An event has its generic notifications read, whatever else the tenant has.
func TestOfEvent(t *testing.T) {
	t.Parallel()
	pool, h := newClient(t)
	ctx := tenant.With(t.Context(), 1)
	create := func(ctx context.Context, name, domain, event string) *platformv1.GenericNotification {
		n := good()
		n.Name, n.Domain, n.Event = name, domain, event
		n, err := h.CreateGenericNotification(ctx, n)
		require.NoError(t, err)
		return n
	}
	create(ctx, "b", "Scheduling", "Posted")
	create(ctx, "A", "scheduling", "POSTED")
	moved := create(ctx, "c", "scheduling", "posted")
	create(ctx, "d", "scheduling", "drafted")
	create(ctx, "e", "", "")
	create(tenant.With(t.Context(), 2), "f", "scheduling", "posted")
	// A notification that cannot be read belongs to no requested event.
	const broken pg.Unaudited = "the test breaks a row"
	_, err := broken.Exec(ctx, pool, `INSERT INTO generic_notification (tenant_id, name, body, domain, event) VALUES (1, 'g', '\xff', 'scheduling', 'broken')`)
	require.NoError(t, err)
	moved.Event = "Moved"
	_, err = h.UpdateGenericNotification(ctx, &platformv1.UpdateGenericNotificationRequest{Id: moved.GetId(), Body: moved})
	require.NoError(t, err)

	for event, want := range map[string][]string{"posted": {"A", "b"}, "DRAFTED": {"d"}, "moved": {"c"}, "": nil, "nothing": nil} {
		t.Run(event, func(t *testing.T) {
			list, err := OfEvent(ctx, pool, "SCHEDULING", event, 10)
			require.NoError(t, err)
			var names []string
			for _, n := range list {
				names = append(names, n.GetName())
			}
			assert.Equal(t, want, names)
		})
	}
	few, err := OfEvent(ctx, pool, "scheduling", "posted", 1)
	require.NoError(t, err)
	assert.Len(t, few, 1)
}
