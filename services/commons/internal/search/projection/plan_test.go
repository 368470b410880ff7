package projection

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

// Each span of a batch is looked up, instead of compared with all spans. This also holds for the
// generic plan, and for a table that was filled just before.
func TestSpansOfABatchAreLookedUp(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
INSERT INTO schedule_span (tenant_id, person_id, lane, from_date, to_date, pattern_id, position, day_count)
SELECT $1, g, 0, '2026-01-01', '2027-01-01', 1, 0, 7 FROM generate_series(1, 2000) g`, tenant.Default)
		require.NoError(t, err)
		for name, c := range map[string]struct {
			sql       string
			arguments int
		}{
			"update": {updateSpans, 10}, "delete": {deleteSpans, 7}, "insert": {insertSpans, 8},
		} {
			t.Run(name, func(t *testing.T) {
				plan := pgtest.GenericPlan(t, tx, c.sql, c.arguments)
				assert.NotContains(t, plan, "Join Filter", plan)
			})
		}
		return nil
	}))
}
