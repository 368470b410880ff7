package restore_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

// A crash of the server may set sequences back to values that were not published, but never below a
// published watermark.
func TestACrashOfTheServerIsNoRestore(t *testing.T) {
	t.Parallel()
	cfg := localpg.Config{Dir: filepath.Join(t.TempDir(), "pg")}
	server, err := localpg.Start(t.Context(), cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Stop(context.WithoutCancel(t.Context()))) }()
	require.NoError(t, server.EnsureDatabases(t.Context(), "crashing"))
	database := pg.Config{URL: obs.Secret(server.URL("crashing"))}
	require.NoError(t, pg.Migrate(t.Context(), database, pgtest.Log(t), restore.Migrations(), things))
	pool, err := pg.Open(t.Context(), database, pgtest.Log(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	f := &fixture{t: t, service: "one", nats: natstest.New(t), pool: pool}
	f.start()
	f.awaitOpen()

	writing, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	defer writers.Wait()
	defer stop()
	for range 3 {
		writers.Go(func() {
			for writing.Err() == nil {
				// It fails while the server is away.
				err := pg.InTx(tenant.All(writing), pool, func(ctx context.Context, tx pgx.Tx) error {
					_, err := tx.Exec(ctx, `INSERT INTO thing (name) SELECT 'x' FROM generate_series(1, 7)`)
					return err
				})
				if err != nil {
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	progress := func() (n int64) {
		if pool.QueryRow(t.Context(), `SELECT progress FROM restore_state`).Scan(&n) != nil {
			return 0
		}
		return n
	}
	for range 4 {
		before := progress()
		require.Eventually(t, func() bool { return progress() > before+1 }, waitTimeout, 20*time.Millisecond)
		kill(t, filepath.Join(cfg.Dir, "data", "postmaster.pid"))
		<-server.Done()
		require.NoError(t, server.Stop(t.Context()))
		require.Eventually(t, func() bool {
			started, err := localpg.Start(t.Context(), cfg)
			if err == nil {
				server = started
			}
			return err == nil
		}, time.Minute, 100*time.Millisecond)
		restarted := progress()
		require.Eventually(t, func() bool { return progress() > restarted+1 }, waitTimeout, 20*time.Millisecond)
		assert.Empty(t, f.guard.Notice())
		require.NoError(t, f.guard.CheckWrite(t.Context()))
	}
}

// kill ends a server as a crash does.
func kill(t *testing.T, pidFile string) {
	t.Helper()
	text, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}
