package want

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/commons/migrations"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestWhatIsWantedIsAskedForOnce(t *testing.T) {
	t.Parallel()
	sets, err := serve.Migrations("commons_version", migrations.FS)
	require.NoError(t, err)
	pool := pgtest.New(t, sets...)
	for tenantID := range int64(2) {
		of := tenant.With(t.Context(), tenantID+1)
		require.NoError(t, Note(of, pool, tenantID+1, []string{"memberships"}))
		require.NoError(t, Note(of, pool, tenantID+1, []string{"memberships", "schedules", "schedules"}))
		require.ErrorContains(t, Note(of, pool, tenantID+1, []string{"memberships", "dreams"}), "no topic")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var woken atomic.Int64
	done := make(chan error, 1)
	go func() { done <- Run(ctx, pool, func() { woken.Add(1) }, pgtest.Log(t)) }()
	require.Eventually(t, func() bool { return woken.Load() == 4 }, 20*time.Second, 5*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
	var events, wants int
	all := tenant.All(t.Context())
	require.NoError(t, pool.QueryRow(all, `SELECT count(DISTINCT (tenant_id, payload)) FROM outbox WHERE event = 'rotaloom.commons.v1.ProjectionWanted'`).Scan(&events))
	require.NoError(t, pool.QueryRow(all, `SELECT count(*) FROM projection_want`).Scan(&wants))
	assert.Equal(t, [2]int{4, 0}, [2]int{events, wants})
}
