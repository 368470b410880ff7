package operation

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localnats"
	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/tests/launch"
)

// A process logs one line when its database server becomes unreachable, and one when it is back,
// also if many parts try again in between. So it does at the start.
func TestOutagesAreLoggedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Root runs the database as another user, who needs access to the folder.
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	cfg := localpg.Config{Dir: filepath.Join(dir, "pg")}
	start := func() *localpg.Server {
		server, err := localpg.Start(t.Context(), cfg)
		require.NoError(t, err)
		return server
	}
	database := start()
	url := database.AdminURL("postgres")
	_, port, err := net.SplitHostPort(launch.FreeAddress(t))
	require.NoError(t, err)
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	broker, err := localnats.Start(localnats.Config{Dir: filepath.Join(dir, "nats"), Port: number})
	require.NoError(t, err)
	require.NoError(t, database.Stop(context.Background()))

	binary := launch.Build(t, "services/standalone/cmd/rotaloom")
	admin := launch.FreeAddress(t)
	process := launch.Start(t, binary, []string{"ROTALOOM_LOG_LEVEL=debug"}, "serve", "--state-dir", filepath.Join(dir, "state"), "--listen", launch.FreeAddress(t),
		"--admin-address", admin, "--database-url", url, "--nats-url", broker.URL())
	const away, back = `the database server is unreachable`, `the database server is reachable again`
	launch.Await(t, time.Minute, "the process has found no database", func() bool { return process.Wrote(away) })
	select {
	case <-process.Exited():
		t.Fatal("the process has ended, although it said that it tries again")
	case <-time.After(pg.CommandWait + 5*time.Second): // Commands would have ended.
	}
	database = start()
	ready := func() bool {
		response, err := http.Get("http://" + admin + "/readyz")
		if err != nil {
			return false
		}
		require.NoError(t, response.Body.Close())
		return response.StatusCode == http.StatusOK
	}
	launch.Await(t, time.Minute, "the process is ready", ready)
	log := func(from int) string {
		text, err := os.ReadFile(process.Log)
		require.NoError(t, err)
		return string(text[from:])
	}
	requireOneOutage(t, log(0), away, back)

	before := len(log(0))
	require.NoError(t, database.Stop(context.Background()))
	launch.Await(t, time.Minute, "work has been tried again", func() bool {
		return !ready() && strings.Count(log(before), `ListRevocations","code":"Unavailable"`) >= 2
	})
	database = start()
	t.Cleanup(func() { require.NoError(t, database.Stop(context.Background())) })
	launch.Await(t, time.Minute, "the process is ready again", func() bool { return ready() && strings.Contains(log(before), back) })
	requireOneOutage(t, log(before), away, back)

	before = len(log(0))
	broker.Stop()
	launch.Await(t, time.Minute, "the process has lost the broker", func() bool { return strings.Contains(log(before), "NATS is unavailable") })
	require.NoError(t, broker.Restart())
	launch.Await(t, time.Minute, "the broker is back", func() bool { return strings.Contains(log(before), "NATS is back") })
	t.Cleanup(broker.Stop)
	requireOneOutage(t, log(before), "NATS is unavailable", "NATS is back")
}

var logLevel = regexp.MustCompile(`"level":"(WARN|ERROR)"`)

// requireOneOutage requires one line of each kind. There are few other warnings: an error before a connection
// has noticed the outage, and the consequence that tokens may be rejected.
func requireOneOutage(t *testing.T, log, away, back string) {
	t.Helper()
	assert.Equal(t, 1, strings.Count(log, away))
	assert.Equal(t, 1, strings.Count(log, back))
	var others []string
	for line := range strings.Lines(log) {
		if logLevel.MatchString(line) && !strings.Contains(line, away) {
			others = append(others, line)
		}
	}
	assert.LessOrEqual(t, len(others), 2, strings.Join(others, ""))
}
