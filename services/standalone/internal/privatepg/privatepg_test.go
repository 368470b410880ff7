package privatepg_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

func TestEveryServiceHasItsDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Root runs the server as another user, who must get there.
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	databases, err := privatepg.Start(t.Context(), privatepg.Config{}, dir, pgtest.Log(t), "one", "two")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, databases.Stop(context.Background())) })

	for _, service := range []string{"one", "two"} {
		pool, err := pg.Open(t.Context(), pg.Config{URL: databases.URL(service)}, pgtest.Log(t))
		require.NoError(t, err)
		defer pool.Close()
		var name string
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT current_database()::text").Scan(&name))
		assert.Equal(t, "rotaloom_"+service, name)
		_, err = pool.Exec(t.Context(), "CREATE TABLE mine ()")
		assert.NoError(t, err, "the service owns its database")
	}
}
