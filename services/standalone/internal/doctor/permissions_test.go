package doctor

import (
	"context"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

func newExamination() *examination {
	return &examination{Command: &Command{}, clock: clock.System{}, log: slog.New(slog.DiscardHandler), findings: []Finding{}}
}

// A role without privileges is the cause, and not a server that does not run.
func TestMissingPrivilegesAreTheCause(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// If the test runs as root, the server runs as another user, who needs access.
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	engine, err := localpg.Start(t.Context(), localpg.Config{Dir: dir, Disposable: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, engine.Stop(context.Background())) })
	exec := func(database string, statements ...string) {
		conn, err := pgx.Connect(t.Context(), engine.AdminURL(database))
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close(context.Background())) }()
		for _, statement := range statements {
			_, err = conn.Exec(t.Context(), statement)
			require.NoError(t, err)
		}
	}
	exec("postgres", "CREATE ROLE weak LOGIN", "CREATE ROLE absent NOLOGIN", "CREATE DATABASE rotaloom_tables", "CREATE DATABASE rotaloom_closed",
		"REVOKE CONNECT ON DATABASE rotaloom_closed FROM public")
	exec("rotaloom_tables", "CREATE TABLE audit_version (version_id bigint)")
	for name, c := range map[string]struct{ role, service, want string }{
		"tables of another owner": {"weak", "tables", "ALTER DATABASE <database> OWNER TO <role>"},
		"no right to connect":     {"weak", "closed", "ALTER DATABASE <database> OWNER TO <role>"},
		"no such database":        {"weak", "nothing", "CREATE DATABASE <database> OWNER <role>"},
		"a role without log-in":   {"absent", "tables", "ALTER ROLE <role> LOGIN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, err := url.Parse(engine.AdminURL("postgres"))
			require.NoError(t, err)
			query := u.Query()
			query.Set("user", c.role)
			u.RawQuery = query.Encode()
			e := newExamination()
			e.Database.URL = obs.Secret(u.String())
			e.services = []Service{{Name: c.service, Migrations: []pg.Migrations{audit.Migrations()}}}
			e.databases(t.Context())
			found := Finding{}
			for _, f := range e.findings {
				if f.Check == "database "+c.service {
					found = f
				}
			}
			assert.Equal(t, Failed, found.State)
			assert.Contains(t, found.Do, c.want, found.Found)
		})
	}
}

func TestMissingPermissionsOfTheBrokerAreTheCause(t *testing.T) {
	t.Parallel()
	deny := &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{"other"}}}
	broker, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
		Users: []*server.User{{Username: "weak", Password: "secret", Permissions: deny}},
	})
	require.NoError(t, err)
	broker.Start()
	t.Cleanup(func() { broker.Shutdown(); broker.WaitForShutdown() })
	u, err := url.Parse(broker.ClientURL())
	require.NoError(t, err)
	for name, c := range map[string]struct {
		user *url.Userinfo
		want string
	}{
		"a user without subjects": {url.UserPassword("weak", "secret"), "permit the user the subject in the error"},
		"a wrong password":        {url.UserPassword("weak", "wrong"), "the servers refuse the user"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := *u
			address.User = c.user
			e := newExamination()
			e.NATS.URL = obs.Secret(address.String())
			e.broker(t.Context())
			require.Len(t, e.findings, 1)
			assert.Equal(t, Failed, e.findings[0].State)
			assert.Contains(t, e.findings[0].Do, c.want, e.findings[0].Found)
		})
	}
}

func TestUnreadableFilesAreTheCause(t *testing.T) {
	t.Parallel()
	err := &fs.PathError{Op: "open", Path: "/etc/rotaloom/key.pem", Err: fs.ErrPermission}
	assert.Regexp(t, "let the user .* read /etc/rotaloom/key.pem: run the command as the user of the server", permissionAdvice(err, "other"))
	assert.Equal(t, "other", permissionAdvice(&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, "other"))
}
