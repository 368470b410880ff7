package operation

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localnats"
	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// The program uses a database server and a broker that are named, makes the
// databases that are missing, and leaves both running.
func TestUsesGivenEngines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Root runs the database as another user, who must get there.
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

	server = launch.StandaloneIn(t, state, nil, args...)
	shifts, err := scenario.ReadShifts(t.Context(), scenario.API{Target: server.Target(t)}, crew.Persons, day, day)
	require.NoError(t, err)
	require.Len(t, shifts, 10)
}
