package operation

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// insideEnv is set in the process that may mount.
const insideEnv = "ROTALOOM_TEST_MOUNTS"

// capSysAdmin is the capability to mount.
const capSysAdmin = 21

// withMounts runs the test in a process with a mount namespace of its own, so that no other process
// sees its mounts, and they end with it. Root needs no further rights; other users get a user
// namespace, in which they keep their id. The result reports whether this is that process. Where
// neither is allowed the test fails, because it cannot fill a disk without one.
func withMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideEnv) == t.Name() {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), insideEnv+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Unshareflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Pdeathsig:   syscall.SIGKILL,
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
			AmbientCaps: []uintptr{capSysAdmin},
		}
	}
	out, err := cmd.CombinedOutput()
	if cmd.Process == nil {
		t.Fatalf("this test mounts a small file system, for which it needs root or a user namespace, and this machine "+
			"gives neither (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "+
			"kernel.apparmor_restrict_unprivileged_userns): %v", err)
	}
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
	t.Logf("%s", out)
	return false
}

// mountTmpfs mounts a file system of the given size in memory, on a new folder.
func mountTmpfs(t *testing.T, dir, megabytes string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "size="+megabytes+"m,mode=0755")
	require.NoError(t, err, "mount a small file system: it needs CAP_SYS_ADMIN")
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
}

// fill takes all room of a file system, also room that becomes free later, until free is called.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	name := filepath.Join(dir, "filler")
	file, err := os.Create(name)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	filled := make(chan struct{})
	go func() {
		defer close(filled)
		block := make([]byte, 64<<10)
		for ctx.Err() == nil {
			// The failing write is intended; the single byte takes the last page.
			if _, err := file.Write(block); err == nil {
				continue
			}
			if _, err := file.Write(block[:1]); err != nil {
				select {
				case <-ctx.Done():
				case <-time.After(10 * time.Millisecond): // between two checks for free room
				}
			}
		}
	}()
	return func() {
		cancel()
		<-filled
		require.NoError(t, file.Close())
		require.NoError(t, os.Remove(name))
	}
}
