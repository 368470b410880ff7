package revoked

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func newHandler(t *testing.T, page int) (*Handler, *pg.Pool) {
	t.Helper()
	pool := pooltest.New(t)
	for _, id := range []int64{1, 2} {
		_, err := pool.Exec(tenant.With(t.Context(), id), `INSERT INTO tenant (id, name, host) VALUES ($1::bigint, 'T', $1::text)`, id)
		require.NoError(t, err)
	}
	return &Handler{store: NewStore(pool, clock.System{}, pgtest.Log(t)), page: page}, pool
}

func (h *Handler) revoke(t *testing.T, tenantID int64, jti string) {
	t.Helper()
	require.NoError(t, h.store.Token(tenant.With(t.Context(), tenantID), audit.Event{Tenant: tenantID, At: time.Now()}, jti, time.Now().Add(time.Hour)))
}

// round reads all revocations, as a process does.
func (h *Handler) round(t *testing.T, since int64) (keys []string, horizon int64) {
	t.Helper()
	req := &authv1.ListRevocationsRequest{Since: since}
	for {
		response, err := h.ListRevocations(t.Context(), req)
		require.NoError(t, err)
		for _, r := range response.GetRevocations() {
			keys = append(keys, r.GetKey())
		}
		if req.GetAfter() == nil {
			horizon = response.GetHorizon()
		}
		if response.GetNext() == nil {
			return keys, horizon
		}
		req.After = response.GetNext()
	}
}

func TestPagesHaveEveryRevocationOnce(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, 3)
	var want []string
	for i := range 9 {
		h.revoke(t, int64(i%2+1), fmt.Sprint(i))
		want = append(want, fmt.Sprint("j.", i))
	}
	got, _ := h.round(t, 0)
	assert.Equal(t, want, got, "of all tenants, in the order of their transactions")
}

// A transaction that was open while others were listed is listed when it has
// ended, although it began before them.
func TestALateCommitIsNotMissed(t *testing.T) {
	t.Parallel()
	h, pool := newHandler(t, 2)
	ctx := tenant.With(t.Context(), 1)
	late, err := pool.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = late.Rollback(ctx) }() // It has ended when all is well.
	_, err = late.Exec(ctx, `INSERT INTO revocation (tenant_id, key, created_at, expires_at)
		VALUES (1, 'j.late', now(), now() + interval '1 hour')`)
	require.NoError(t, err)
	for i := range 5 {
		h.revoke(t, 1, fmt.Sprint(i))
	}
	before, horizon := h.round(t, 0)
	assert.Len(t, before, 5)
	require.NoError(t, late.Commit(ctx))
	after, _ := h.round(t, horizon)
	assert.Contains(t, after, "j.late")
}
