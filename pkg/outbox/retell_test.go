package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

// What is asked for is told page by page, to the tenant that asked, by any
// number of replicas; a page that fails is told again, and none is lost.
func TestStatesAreToldAnew(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var failures, woken atomic.Int64
	topic := outbox.Topic{Name: "numbers", Page: func(ctx context.Context, tx pgx.Tx, tenantID, after int64) (int64, bool, error) {
		if after == 2 && failures.Add(1) == 1 {
			return 0, false, errors.New("once")
		}
		return after + 1, after < 4, outbox.Append(ctx, tx, tenantID, b.event(fmt.Sprint(tenantID, "-", after+1)))
	}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	replicas := make([]*outbox.Reteller, 2)
	for i := range replicas {
		replicas[i] = outbox.NewReteller(b.pool, func() { woken.Add(1) }, pgtest.Log(t), topic)
	}
	require.Error(t, replicas[0].Ask(ctx, "numbers"), "whose?")
	for tenantID := range int64(2) {
		of := tenant.With(ctx, tenantID+1)
		require.NoError(t, replicas[0].Ask(of, "numbers"))
		require.NoError(t, replicas[0].Ask(of, "letters"), "somebody else's")
		require.NoError(t, replicas[1].Ask(of, "numbers"), "asked again before it began")
	}
	done := make(chan error, len(replicas))
	for _, r := range replicas {
		go func() { done <- r.Run(ctx) }()
	}
	require.Eventually(t, func() bool {
		var open int
		err := b.pool.QueryRow(tenant.All(ctx), `SELECT count(*) FROM retelling`).Scan(&open)
		return err == nil && open == 0
	}, patience, 5*time.Millisecond)
	cancel()
	for range replicas {
		require.NoError(t, <-done)
	}
	assert.Equal(t, 10, b.count("true"))
	assert.Equal(t, 5, b.count("tenant_id = 2"))
	assert.GreaterOrEqual(t, woken.Load(), int64(10))
}
