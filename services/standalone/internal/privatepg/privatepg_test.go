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

// A server that is killed is restarted in the same place with its committed data, any number of times. Watch
// gives up only if the data is lost.
func TestAServerThatEndsIsStartedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// If the test runs as root, the server runs as another user, who needs access.
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
	kill := func() (killed int) {
		require.Eventually(t, func() bool {
			killed = serverPID(dir)
			return killed != 0 && syscall.Kill(killed, syscall.SIGKILL) == nil
		}, time.Minute, time.Millisecond)
		return killed
	}
	for range 7 {
		killed := kill()
		require.Eventually(t, func() bool { return databases.Check(t.Context()) != nil }, time.Minute, time.Millisecond, "it shows")
		require.Eventually(t, func() bool {
			var answer int
			err := pool.QueryRow(t.Context(), "SELECT answer FROM kept").Scan(&answer)
			pid := serverPID(dir)
			return err == nil && answer == 42 && pid != 0 && pid != killed && databases.Check(t.Context()) == nil
		}, time.Minute, 20*time.Millisecond)
		require.Empty(t, watched)
	}

	// A folder that is unusable for a while must not make Watch give up.
	data, aside := filepath.Join(dir, "data", "global"), filepath.Join(dir, "aside")
	require.NoError(t, os.Rename(data, aside))
	kill()
	require.Eventually(t, func() bool { return databases.Check(t.Context()) != nil }, time.Minute, time.Millisecond)
	require.Never(t, func() bool { return len(watched) > 0 }, 2*time.Second, 20*time.Millisecond)
	require.NoError(t, os.Rename(aside, data))
	require.Eventually(t, func() bool { return pool.Ping(t.Context()) == nil }, time.Minute, 20*time.Millisecond)

	pid := serverPID(dir)
	require.NoError(t, os.Rename(filepath.Join(dir, "data"), aside))
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	select {
	case err = <-watched:
		require.ErrorContains(t, err, "restore a backup")
	case <-time.After(2 * time.Minute):
		t.Fatal("a server without data is not given up")
	}
	require.NoDirExists(t, filepath.Join(dir, "data"), "no empty cluster takes its place")
}

// serverPID is the first process of the server in a folder, or 0.
func serverPID(dir string) (pid int) {
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
	// If the test runs as root, the server runs as another user, who needs access.
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
