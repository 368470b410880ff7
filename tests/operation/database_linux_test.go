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

// The private database is killed, as the kernel does when memory runs out. The server logs it,
// starts the database again, and continues with the same data. The folder's name has a space, which
// must not matter.
func TestItsDatabaseIsStartedAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "the state")
	// Root runs the database as another user, who needs access to the folder.
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
