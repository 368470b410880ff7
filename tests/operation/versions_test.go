package operation

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// The oldest NATS server that README names serves a change from end to end. All other tests use the
// newest.
func TestTheOldestNATSServerWillDo(t *testing.T) {
	t.Parallel()
	url, version := natsServer(t, "tools/nats-oldest")
	require.Equal(t, natsconn.MinServerVersion, version)
	server := launch.StandaloneIn(t, t.TempDir(), nil, "--nats-url", url)
	crew, _ := working(t, scenario.API{Target: server.Target(t)}, 10)
	shifts, err := scenario.ReadShifts(t.Context(), scenario.API{Target: server.Target(t)}, crew.Persons, day, day)
	require.NoError(t, err)
	require.Len(t, shifts, 10)
}

// An older server accepts consumers but sends them nothing, so the program does not start.
func TestAnOlderNATSServerIsRefused(t *testing.T) {
	t.Parallel()
	url, version := natsServer(t, "tools/nats-unsupported")
	requireRefusal(t, nil, []string{"--nats-url", url}, "NATS server", version, natsconn.MinServerVersion)
}

// Tests run on the machine's PostgreSQL, or on the major version in ROTALOOM_TEST_POSTGRES_MAJOR.
// This test fails if they run on another version.
func TestPostgreSQLIsTheOneAskedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Root runs the database as another user, who needs access to the folder.
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	server, err := localpg.Start(t.Context(), localpg.Config{Dir: dir, Disposable: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	conn, err := pgx.Connect(t.Context(), server.AdminURL("postgres"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })
	var number int
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT current_setting('server_version_num')::int").Scan(&number))
	require.GreaterOrEqual(t, number/10_000, pg.MinServerMajor)
	if asked := os.Getenv("ROTALOOM_TEST_POSTGRES_MAJOR"); asked != "" {
		require.Equal(t, asked, strconv.Itoa(number/10_000))
	}
}

// natsServer runs the server of a tool's module, and returns its URL and version.
func natsServer(t *testing.T, module string) (url, version string) {
	t.Helper()
	find := exec.CommandContext(t.Context(), "go", "-C", filepath.Join(launch.Root(t), module), "tool", "-n", "nats-server")
	find.Env = append(os.Environ(), "GOWORK=off")
	out, err := find.Output()
	require.NoError(t, err)
	binary := strings.TrimSpace(string(out))
	said, _, code := launch.Run(t, binary, nil, "--version")
	require.Zero(t, code)
	version = strings.TrimPrefix(strings.TrimSpace(said), "nats-server: v")

	dir := t.TempDir()
	launch.Start(t, binary, nil, "--addr", "127.0.0.1", "--port", "-1", "--ports_file_dir", dir, "--jetstream", "--store_dir", filepath.Join(dir, "store"))
	launch.Await(t, time.Minute, "the NATS server listens", func() bool {
		files, err := filepath.Glob(filepath.Join(dir, "*.ports"))
		if err != nil || len(files) == 0 {
			return false
		}
		var ports struct {
			NATS []string `json:"nats"`
		}
		data, err := os.ReadFile(files[0])
		if err != nil || json.Unmarshal(data, &ports) != nil || len(ports.NATS) == 0 {
			return false
		}
		url = ports.NATS[0]
		return true
	})
	return url, version
}
