package reconcile

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// Each span of a batch is looked up, instead of compared with all spans. This also holds for the
// generic plan, and for a table that was filled just before.
func TestSpansOfABatchAreLookedUp(t *testing.T) {
	t.Parallel()
	pool := schedtest.NewPool(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count, assignment_id, inherited, propagation_id)
SELECT $1, g, 0, '2026-01-01', '2027-01-01', 1, 0, 7, 1, false, 1 FROM generate_series(1, 2000) g`, tenant.Default)
		require.NoError(t, err)
		plan := pgtest.GenericPlan(t, tx, moveToPast, 6)
		assert.NotContains(t, plan, "Join Filter", plan)
		return nil
	}))
}
