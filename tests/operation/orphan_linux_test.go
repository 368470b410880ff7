package operation

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// The next start ends a database server that has lost its program.
func TestEndsAnOrphanedDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Root runs the database as another user, who needs access to the folder.
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	server := launch.StandaloneIn(t, dir, nil)
	crew, _ := working(t, scenario.API{Target: server.Target(t)}, 1)
	data := filepath.Join(dir, "postgresql", "data")
	again := sameProgram(t, postmaster(t, data))
	server.Kill(t)
	launch.Await(t, time.Minute, "the database has gone with its parent", func() bool { return postmaster(t, data) == 0 })

	again.Dir = data
	require.NoError(t, again.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = again.Wait()
	}()
	t.Cleanup(func() {
		_ = again.Process.Kill() // only when the test has failed
		<-ended
	})
	launch.Await(t, time.Minute, "the orphan runs", func() bool { return postmaster(t, data) == again.Process.Pid })

	server = launch.StandaloneIn(t, dir, nil)
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the orphan is still there")
	}
	shifts, err := scenario.ReadShifts(t.Context(), scenario.API{Target: server.Target(t)}, crew.Persons, day, day)
	require.NoError(t, err)
	require.Len(t, shifts, 1)
}

// postmaster returns the main process of a cluster, or 0.
func postmaster(t *testing.T, data string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil || syscall.Kill(pid, 0) == syscall.ESRCH {
		return 0
	}
	return pid
}

// sameProgram prepares the program that a process runs, under the same user.
func sameProgram(t *testing.T, pid int) *exec.Cmd {
	t.Helper()
	require.NotZero(t, pid)
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	require.NoError(t, err)
	args := strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00")
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	require.NoError(t, err)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if owner := info.Sys().(*syscall.Stat_t); int(owner.Uid) != os.Geteuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}
	}
	return cmd
}
