package operation

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localnats"
	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// The program uses the database server and the broker from its settings, creates missing databases,
// and leaves both running when it stops.
func TestUsesGivenEngines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Root runs the database as another user, who needs access to the folder.
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	database, err := localpg.Start(t.Context(), localpg.Config{Dir: filepath.Join(dir, "pg"), Disposable: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Stop(context.Background())) })
	broker, err := localnats.Start(localnats.Config{Dir: filepath.Join(dir, "nats"), Port: localnats.Random})
	require.NoError(t, err)
	t.Cleanup(broker.Stop)
	state := filepath.Join(dir, "state")
	args := []string{"--database-url", database.AdminURL("postgres"), "--nats-url", broker.URL()}

	server := launch.StandaloneIn(t, state, nil, args...)
	crew, _ := working(t, scenario.API{Target: server.Target(t)}, 10)
	stop(t, server)
	require.NoDirExists(t, filepath.Join(state, "postgresql"))
	require.NoDirExists(t, filepath.Join(state, "nats"))
	requireEncryptedSigningKeys(t, database.AdminURL("rotaloom_auth"), state)

	server = launch.StandaloneIn(t, state, nil, args...)
	shifts, err := scenario.ReadShifts(t.Context(), scenario.API{Target: server.Target(t)}, crew.Persons, day, day)
	require.NoError(t, err)
	require.Len(t, shifts, 10)
}

// requireEncryptedSigningKeys requires that the auth database holds no signing key in the clear,
// and that only the owner of the state folder can read the key that decrypts them.
func requireEncryptedSigningKeys(t *testing.T, url, state string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer db.Close(context.WithoutCancel(t.Context()))
	var keys, encrypted int
	require.NoError(t, db.QueryRow(t.Context(),
		`SELECT count(*), count(*) FILTER (WHERE wrapped AND length(private_key) > 32) FROM signing_key`).Scan(&keys, &encrypted))
	require.NotZero(t, keys)
	require.Equal(t, keys, encrypted)
	info, err := os.Stat(filepath.Join(state, "key-encryption"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
