package operation

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// The private database is killed, as for want of memory. The server says so, starts it
// again, and works on with what it had. The folder's name has a space, as some have.
func TestItsDatabaseIsStartedAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "the state")
	// Root runs the database as another user, who must get there.
	require.NoError(t, os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755))
	server := launch.StandaloneIn(t, dir, nil)
	crew, _ := working(t, scenario.API{Target: server.Target(t)}, 3)

	data := filepath.Join(dir, "postgresql", "data")
	killed := postmaster(t, data)
	require.NotZero(t, killed)
	require.NoError(t, syscall.Kill(killed, syscall.SIGKILL))
	launch.Await(t, time.Minute, "log-ins work again", func() bool {
		running := postmaster(t, data)
		return running != 0 && running != killed && launch.LoginWorks(t, server.Client, server.Ready)
	})
	shifts, err := scenario.ReadShifts(t.Context(), scenario.API{Target: server.Target(t)}, crew.Persons, day, day)
	require.NoError(t, err)
	assert.Len(t, shifts, 3)
	assert.True(t, server.Wrote("the private PostgreSQL has stopped unexpectedly and is being restarted"))
	assert.True(t, server.Wrote("the private PostgreSQL runs again"))
}
