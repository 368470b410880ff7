package delegation

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

// A plan that scans the table looks for a number once, and not once for each person: that took
// longer than a request may.
func TestPersonsAreFoundByOneScan(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	_, err := pg.Unaudited("a test has many persons").Exec(ctx, pool, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body)
		SELECT 1, n, 'P' || n, 'Somebody', 'UTC', '' FROM generate_series(1, 4000) AS n`)
	require.NoError(t, err)
	require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		for _, setting := range []string{"enable_indexscan = off", "enable_bitmapscan = off", "enable_indexonlyscan = off", "statement_timeout = '5s'"} {
			if _, err := tx.Exec(ctx, "SET LOCAL "+setting); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, selectPerson, 1, 0, "nobody's number")
		return err
	}))
}
