//go:build unix

package localpg_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/rotaloom/rotaloom/pkg/localpg"
)

// childDir makes this test binary a parent of a server that a test can kill.
const childDir = "LOCALPG_TEST_CHILD_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		runAsParent(dir)
	}
	goleak.VerifyTestMain(m)
}

// runAsParent starts a server, says so, and waits to be killed.
func runAsParent(dir string) {
	server, err := localpg.Start(context.Background(), localpg.Config{Dir: dir})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	<-server.Done()
	os.Exit(0)
}

// folder is t.TempDir, but also accessible for the user of servers that root starts.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	return dir
}

func start(t *testing.T, cfg localpg.Config) *localpg.Server {
	t.Helper()
	server, err := localpg.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop(context.Background())) })
	return server
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func read[T any](t *testing.T, conn *pgx.Conn, sql string) T {
	t.Helper()
	var value T
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&value))
	return value
}

func TestServerKeepsItsDataOverARestart(t *testing.T) {
	t.Parallel()
	// A durable cluster, as in production; everything else here is disposable.
	cfg := localpg.Config{Dir: filepath.Join(folder(t), "state", "postgres")}

	first := start(t, cfg)
	require.NoError(t, first.EnsureDatabases(t.Context(), "one", "two words"))
	conn := connect(t, first.URL("two words"))
	_, err := conn.Exec(t.Context(), "CREATE TABLE kept AS SELECT 42 AS answer")
	require.NoError(t, err)
	require.NoError(t, first.Stop(t.Context()))
	<-first.Done()
	_, err = pgx.Connect(t.Context(), first.URL("one"))
	require.Error(t, err, "the server still returns after Stop")

	second := start(t, cfg)
	require.NoError(t, second.EnsureDatabases(t.Context(), "one", "two words"), "it can be repeated")
	conn = connect(t, second.URL("two words"))
	assert.Equal(t, 42, read[int](t, conn, "SELECT answer FROM kept"))
	assert.Equal(t, "on", read[string](t, conn, "SHOW fsync"))
	assert.Equal(t, "UTF8", read[string](t, conn, "SHOW server_encoding"))
}

func TestServerIsPrivateAndItsRoleHarmless(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	server := start(t, localpg.Config{Dir: dir, Disposable: true})
	require.NoError(t, server.EnsureDatabases(t.Context(), "one"))
	conn := connect(t, server.URL("one"))

	assert.Empty(t, read[string](t, conn, "SHOW listen_addresses"))
	assert.Equal(t, localpg.Role, read[string](t, conn, "SELECT current_user::text"))
	assert.False(t, read[bool](t, conn, "SELECT rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole FROM pg_roles WHERE rolname = current_user"))
	assert.True(t, read[bool](t, conn, "SELECT pg_get_userbyid(datdba) = current_user FROM pg_database WHERE datname = current_database()"))

	admin := connect(t, server.AdminURL("postgres"))
	socket, err := os.Stat(read[string](t, admin, "SHOW unix_socket_directories"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), socket.Mode().Perm())
}

func TestFolderIsUsedByOneServer(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	start(t, localpg.Config{Dir: dir, Disposable: true})

	_, err := localpg.Start(t.Context(), localpg.Config{Dir: dir, Disposable: true})
	assert.ErrorContains(t, err, "in use by another process")
}

func TestLongPathsGetAShortSocket(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(folder(t), strings.Repeat("long/", 30))
	server := start(t, localpg.Config{Dir: dir, Disposable: true})
	conn := connect(t, server.AdminURL("postgres"))

	socket := read[string](t, conn, "SHOW unix_socket_directories")
	assert.Less(t, len(socket), 80)
	require.NoError(t, server.Stop(t.Context()))
	assert.NoDirExists(t, socket)
}

// TestKilledParent kills a parent the hard way, over and over on one folder:
// the server must go with it, and the next must come up with the data.
func TestKilledParent(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	var last int
	for range 2 {
		last = killParent(t, dir)
		require.Eventually(t, func() bool { return errors.Is(syscall.Kill(last, 0), syscall.ESRCH) },
			20*time.Second, 5*time.Millisecond, "the server outlives its parent")
	}

	// A crash of the machine leaves a pid file. Its number may now belong to another process: in
	// this test, the test itself. It must survive, and the server must start.
	pidFile := filepath.Join(dir, "data", "postmaster.pid")
	require.NoError(t, os.WriteFile(pidFile, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600))
	server := start(t, localpg.Config{Dir: dir})
	connect(t, server.AdminURL("postgres"))
}

// killParent starts a parent on the folder, kills it once the server responds,
// and returns the process id that the server had.
func killParent(t *testing.T, dir string) (pid int) {
	t.Helper()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), childDir+"="+dir)
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)

	text, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	require.NoError(t, err)
	_, err = fmt.Sscan(string(text), &pid)
	require.NoError(t, err)
	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait() // It reports the kill.
	return pid
}

func TestServerThatDiesTellsSo(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	server := start(t, localpg.Config{Dir: dir, Disposable: true})

	text, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	require.NoError(t, err)
	var pid int
	_, err = fmt.Sscan(string(text), &pid)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGQUIT))

	select {
	case <-server.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("Done is not closed when the server dies")
	}
	assert.NoError(t, server.Stop(t.Context()), "stopping what has ended is no error")
}

func TestMissingServerIsExplained(t *testing.T) {
	t.Parallel()
	// A folder with one program of the two, as a link farm may have.
	lone := folder(t)
	require.NoError(t, os.Symlink("/bin/true", filepath.Join(lone, "initdb")))

	_, err := localpg.Start(t.Context(), localpg.Config{Dir: folder(t), BinDir: lone})
	var missing *localpg.NotFound
	require.ErrorAs(t, err, &missing)
	assert.ErrorContains(t, err, "Set the folder of initdb and postgres")
	assert.ErrorContains(t, err, lone)
}

// startOlderData starts a server on data of PostgreSQL 13, and returns the folder and the error.
func startOlderData(t *testing.T) (dir string, err error) {
	t.Helper()
	dir = folder(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "data"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data", "PG_VERSION"), []byte("13\n"), 0o600))
	_, err = localpg.Start(t.Context(), localpg.Config{Dir: dir})
	return dir, err
}

func TestDataOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	dir, err := startOlderData(t)
	var other *localpg.OtherVersion
	require.ErrorAs(t, err, &other)
	assert.ErrorContains(t, err, filepath.Join(dir, "data")+" was created by PostgreSQL 13, and this machine has version")
	assert.NotContains(t, err.Error(), "was found on this machine")
}

// Two folders may have the same version.
func TestInstalledVersionsAreNamedOnce(t *testing.T) {
	second := folder(t)
	for _, name := range []string{"initdb", "postgres"} {
		program, err := localpg.Program("", name)
		require.NoError(t, err)
		script := "#!/bin/sh\nexec '" + program + "' \"$@\"\n"
		require.NoError(t, os.WriteFile(filepath.Join(second, name), []byte(script), 0o755))
	}
	t.Setenv("PATH", second+string(os.PathListSeparator)+os.Getenv("PATH"))
	_, err := startOlderData(t)
	var other *localpg.OtherVersion
	require.ErrorAs(t, err, &other)
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(other.Found))), len(other.Found), "%v", other.Found)
}

// Folders may be called anything that the file system allows.
func TestServerInAFolderWithAnyName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with a space", "with+plus", "a,b", "100%25&x=y", "it's", "ümläut", "with\"quote"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, localpg.Config{Dir: filepath.Join(folder(t), name, "postgres"), Disposable: true, StartTimeout: 20 * time.Second})
			require.NoError(t, server.EnsureDatabases(t.Context(), "one"))
			assert.Equal(t, "one", read[string](t, connect(t, server.URL("one")), "SELECT current_database()::text"))
		})
	}
}

// The output of initdb is reported once, without its progress.
func TestAFailureOfInitdbIsReportedInShort(t *testing.T) {
	t.Parallel()
	programs := folder(t)
	for name, script := range map[string]string{
		"postgres": "echo 'postgres (PostgreSQL) 15.1'",
		"initdb": `case "$1" in
-V) echo 'initdb (PostgreSQL) 15.1' ;;
-s) mkdir -p '` + programs + `/share' && touch '` + programs + `/share/postgres.bki' && echo 'share_path=` + programs + `/share' ;;
*) for i in 1 2 3 4 5 6 7 8 9; do echo "creating configuration files number $i ... ok"; done
   echo 'initdb: error: could not write to file "pg_wal/xlogtemp.1": No space left on device' >&2
   echo 'initdb: removing data directory' >&2; exit 1 ;;
esac`,
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
		})
	}
	require.NoError(t, os.Chmod(programs, 0o777))
	_, err := localpg.Start(t.Context(), localpg.Config{Dir: folder(t), BinDir: programs})
	require.ErrorContains(t, err, "No space left on device")
	assert.Equal(t, 1, strings.Count(err.Error(), "No space left"))
	assert.NotContains(t, err.Error(), "creating configuration files")
	assert.Less(t, len(err.Error()), 400)
}

// Root runs the server as another user, who cannot enter root's own folders.
func TestServerInAFolderThatOnlyItsParentMayEnter(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(folder(t), "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	cfg := localpg.Config{Dir: filepath.Join(closed, "postgres"), Disposable: true}
	for range 2 { // A new cluster, and one that is there.
		server, err := localpg.Start(t.Context(), cfg)
		require.NoError(t, err)
		require.NoError(t, server.EnsureDatabases(t.Context(), "one"))
		conn, err := pgx.Connect(t.Context(), server.URL("one"))
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "CREATE TABLE IF NOT EXISTS kept (n int)")
		require.NoError(t, err)
		require.NoError(t, conn.Close(t.Context()))
		require.NoError(t, server.Stop(context.Background()))
	}
}
