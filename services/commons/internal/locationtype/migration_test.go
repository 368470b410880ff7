package locationtype_test

import (
	"io/fs"
	"path"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/commons/migrations"
)

// Types could share a persistent id before the migrations 24 and 25.
func TestTypesThatSharePersistentIDsAreToldApart(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(migrations.FS, "*.sql")
	require.NoError(t, err)
	earlier := fstest.MapFS{}
	for _, name := range names {
		if path.Base(name) < "0024" {
			text, err := migrations.FS.ReadFile(name)
			require.NoError(t, err)
			earlier[name] = &fstest.MapFile{Data: text}
		}
	}
	before, err := serve.Migrations("commons_version", earlier)
	require.NoError(t, err)
	now, err := serve.Migrations("commons_version", migrations.FS)
	require.NoError(t, err)
	cfg := pgtest.Config(t, before...)
	pool, err := pg.Open(t.Context(), cfg, pgtest.Log(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	for tenantID := range int64(2) {
		_, err := pool.Exec(tenant.With(t.Context(), tenantID+1), `INSERT INTO location_type (tenant_id, id, name, persistent_id)
			VALUES ($1, 1, 'A', 'x'), ($1, 2, 'B', 'x'), ($1, 3, 'C', 'y'), ($1, 4, 'D', 'x')`, tenantID+1)
		require.NoError(t, err)
	}

	require.NoError(t, pg.Migrate(t.Context(), cfg, pgtest.Log(t), now...))
	for tenantID := range int64(2) {
		rows, err := pool.Query(tenant.With(t.Context(), tenantID+1), `SELECT persistent_id FROM location_type WHERE tenant_id = $1 ORDER BY id`, tenantID+1)
		require.NoError(t, err)
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.Len(t, got, 4)
		assert.Equal(t, []string{"x", "y"}, []string{got[0], got[2]}, "the oldest keeps it, and so does who shares none")
		assert.NotContains(t, []string{"x", "y", ""}, got[1])
		assert.NotContains(t, []string{"x", "y", "", got[1]}, got[3])
	}
}
