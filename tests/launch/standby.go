package launch

import (
	"context"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// DeployedWithStandby is Deployed with two database servers: one follows the other, so that both
// have every commit. Programs know both.
func DeployedWithStandby(t testing.TB, settings ...string) *Deployment {
	t.Helper()
	return newDeployed(t, how{standby: true}, settings)
}

// startStandby starts a server that follows the running one.
func (d *Deployment) startStandby(t testing.TB) {
	t.Helper()
	dir := sharedDir(t)
	data := filepath.Join(dir, "data")
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "pg_basebackup", "--dbname="+d.Postgres.AdminURL("postgres"),
		"--pgdata="+data, "--write-recovery-conf", "--checkpoint=fast").CombinedOutput()
	require.NoError(t, err, "%s", out)
	d.GiveToServer(t, data)
	d.standby, err = localpg.Start(t.Context(), localpg.Config{Dir: dir})
	require.NoError(t, err)
	standby := d.standby
	t.Cleanup(func() {
		require.NoError(t, standby.Stop(context.Background()))
		if d.Postgres == standby {
			d.Postgres = nil
		}
	})
	// Set it this late, so that the standby does not wait for its own standby once it is promoted.
	d.administer(t, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	d.administer(t, "SELECT pg_reload_conf()")
	Await(t, startTimeout, "both servers have every commit", func() bool {
		var n int
		d.administer(t, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", &n)
		return n == 1
	})
}

// postgresURL returns the URL of a database that is on one of several servers.
func postgresURL(t testing.TB, database string, servers ...*localpg.Server) string {
	t.Helper()
	var of *url.URL
	var hosts []string
	for _, server := range servers {
		var err error
		of, err = url.Parse(server.URL(database))
		require.NoError(t, err)
		hosts = append(hosts, of.Query().Get("host"))
	}
	query := of.Query()
	query.Set("host", strings.Join(hosts, ","))
	of.RawQuery = pg.EncodeQuery(query)
	return of.String()
}

// KillPostgres kills the active database server, like a crash of its machine. It does not come
// back.
func (d *Deployment) KillPostgres(t testing.TB) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.PostgresData(), "postmaster.pid"))
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	<-d.Postgres.Done()
	d.Postgres = nil
}

// Promote makes the standby the active server.
func (d *Deployment) Promote(t testing.TB) {
	t.Helper()
	d.Postgres, d.standby = d.standby, nil
	d.administer(t, "SELECT pg_promote()")
}

// administer executes a statement as the server's administrator.
func (d *Deployment) administer(t testing.TB, sql string, into ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, d.Postgres.AdminURL("postgres"))
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(ctx))
	if len(into) == 0 {
		_, err = conn.Exec(ctx, sql)
	} else {
		err = conn.QueryRow(ctx, sql).Scan(into...)
	}
	require.NoError(t, err, sql)
}

// GiveToServer gives a folder to the user of the database server. For root that is another user:
// the owner of the folder around the server's data.
func (d *Deployment) GiveToServer(t testing.TB, dir string) {
	t.Helper()
	info, err := os.Stat(filepath.Dir(d.PostgresData()))
	require.NoError(t, err)
	owner, ok := info.Sys().(*syscall.Stat_t)
	require.True(t, ok)
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(owner.Uid), int(owner.Gid))
	}))
}
