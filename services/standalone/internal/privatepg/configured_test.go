package privatepg_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

// foreign is a server that is not ours.
type foreign struct {
	t      *testing.T
	server *localpg.Server
}

func newForeign(t *testing.T) foreign {
	t.Helper()
	dir := t.TempDir()
	// If the test runs as root, the server runs as another user, who needs access.
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	server, err := localpg.Start(t.Context(), localpg.Config{Dir: dir, Disposable: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop(context.Background())) })
	return foreign{t, server}
}

// url is how a role connects.
func (f foreign) url(role, database string) obs.Secret {
	f.t.Helper()
	u, err := url.Parse(f.server.AdminURL(database))
	require.NoError(f.t, err)
	query := u.Query()
	query.Set("user", role)
	u.RawQuery = query.Encode()
	return obs.Secret(u.String())
}

func (f foreign) start(url obs.Secret, services ...string) (*privatepg.Databases, error) {
	f.t.Helper()
	return privatepg.Start(f.t.Context(), privatepg.Config{URL: url}, "", pgtest.Log(f.t), services...)
}

// ask returns the text that a query returns.
func (f foreign) ask(url obs.Secret, query string) string {
	f.t.Helper()
	conn, err := pgx.Connect(f.t.Context(), url.Reveal())
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, conn.Close(context.Background())) }()
	var value string
	require.NoError(f.t, conn.QueryRow(f.t.Context(), query).Scan(&value))
	return value
}

func (f foreign) exec(statement string) {
	f.t.Helper()
	conn, err := pgx.Connect(f.t.Context(), f.server.AdminURL("postgres"))
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, conn.Close(context.Background())) }()
	_, err = conn.Exec(f.t.Context(), statement)
	require.NoError(f.t, err)
}

const selectSession = `SELECT current_user::text || ' ' || current_database()::text || ' ' || row_security_active('mine')::text`

func TestSuperuserWorksAsAWeakRole(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	for range 2 { // A second start finds everything there.
		databases, err := f.start(obs.Secret(f.server.AdminURL("")), "one", "two")
		require.NoError(t, err)
		assert.NoError(t, databases.Stop(t.Context()))
		for _, service := range []string{"one", "two"} {
			conn, err := pgx.Connect(t.Context(), databases.URL(service).Reveal())
			require.NoError(t, err)
			_, err = conn.Exec(t.Context(), `CREATE TABLE IF NOT EXISTS mine (); ALTER TABLE mine ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`)
			require.NoError(t, err)
			require.NoError(t, conn.Close(t.Context()))
			assert.Equal(t, "rotaloom rotaloom_"+service+" true", f.ask(databases.URL(service), selectSession))
		}
	}
	f.exec("CREATE DATABASE rotaloom_three")
	_, err := f.start(obs.Secret(f.server.AdminURL("postgres")), "three")
	assert.ErrorContains(t, err, "the database rotaloom_three belongs to postgres")

	f.exec("ALTER ROLE rotaloom BYPASSRLS")
	_, err = f.start(obs.Secret(f.server.AdminURL("postgres")), "one")
	assert.ErrorContains(t, err, "bypasses row-level security")
}

func TestOtherRolesWorkAsThemselves(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	f.exec("CREATE ROLE maker LOGIN CREATEDB; CREATE ROLE user_only LOGIN; CREATE ROLE strong LOGIN CREATEDB BYPASSRLS")
	databases, err := f.start(f.url("maker", "postgres"), "one")
	require.NoError(t, err)
	assert.Equal(t, "maker rotaloom_one", f.ask(databases.URL("one"), "SELECT current_user::text || ' ' || current_database()::text"))

	_, err = f.start(f.url("user_only", "postgres"), "one")
	require.NoError(t, err, "nothing is missing")
	_, err = f.start(f.url("user_only", "postgres"), "one", "two")
	assert.ErrorContains(t, err, "create the missing database rotaloom_two, which needs a role with CREATEDB")
	_, err = f.start(f.url("strong", "postgres"), "one")
	assert.ErrorContains(t, err, "the role strong of the database URL bypasses row-level security")
	_, err = f.start("host=elsewhere", "one")
	assert.ErrorContains(t, err, "postgres://user@host")
}
