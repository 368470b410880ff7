package privatepg_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

// A server that is killed is started again in the same place, with what was committed;
// one that ends over and over is not.
func TestAServerThatEndsIsStartedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Root runs the server as another user, who must get there.
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	databases, err := privatepg.Start(t.Context(), privatepg.Config{}, dir, pgtest.Log(t), "one")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, databases.Stop(context.Background())) })
	watched := make(chan error, 1)
	go func() { watched <- databases.Watch(t.Context(), pgtest.Log(t)) }()

	pool, err := pg.Open(t.Context(), pg.Config{URL: databases.URL("one")}, pgtest.Log(t))
	require.NoError(t, err)
	defer pool.Close()
	_, err = pool.Exec(t.Context(), "CREATE TABLE kept AS SELECT 42 AS answer")
	require.NoError(t, err)
	killed := serverOf(dir)
	require.NoError(t, syscall.Kill(killed, syscall.SIGKILL))
	require.Eventually(t, func() bool {
		var answer int
		err := pool.QueryRow(t.Context(), "SELECT answer FROM kept").Scan(&answer)
		pid := serverOf(dir)
		return err == nil && answer == 42 && pid != 0 && pid != killed
	}, time.Minute, 20*time.Millisecond)

	require.Eventually(t, func() bool {
		select {
		case err = <-watched:
			return true
		default:
		}
		if pid := serverOf(dir); pid != 0 && pid != killed && pool.Ping(t.Context()) == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed = pid
		}
		return false
	}, 2*time.Minute, 20*time.Millisecond)
	require.ErrorContains(t, err, "private PostgreSQL")
}

// serverOf is the first process of the server in a folder, or 0.
func serverOf(dir string) (pid int) {
	text, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		return 0
	}
	_, _ = fmt.Sscan(string(text), &pid) // Half a file has no number, or none that runs.
	return pid
}

func TestEveryServiceHasItsDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Root runs the server as another user, who must get there.
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	databases, err := privatepg.Start(t.Context(), privatepg.Config{}, dir, pgtest.Log(t), "one", "two")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, databases.Stop(context.Background())) })

	for _, service := range []string{"one", "two"} {
		t.Run(service, func(t *testing.T) {
			pool, err := pg.Open(t.Context(), pg.Config{URL: databases.URL(service)}, pgtest.Log(t))
			require.NoError(t, err)
			defer pool.Close()
			var name string
			require.NoError(t, pool.QueryRow(t.Context(), "SELECT current_database()::text").Scan(&name))
			assert.Equal(t, "rotaloom_"+service, name)
			_, err = pool.Exec(t.Context(), "CREATE TABLE mine ()")
			assert.NoError(t, err, "the service owns its database")
		})
	}
}
