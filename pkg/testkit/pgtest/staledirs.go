package pgtest

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// serverDirPattern is the pattern of the folders of private servers. Nothing runs at the end of a
// test process, so each process removes the folders of earlier ones.
const serverDirPattern = "rotaloom-pgtest-*"

func removeStaleDirs() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), serverDirPattern)) // It fails only for a malformed pattern.
	for _, dir := range dirs {
		if isAbandoned(dir) {
			_ = os.RemoveAll(dir) // A folder that cannot be removed stays for the next process.
		}
	}
}

// isAbandoned reports whether the process that owned a folder has ended: a running process holds a
// lock on a file in it.
func isAbandoned(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || time.Since(info.ModTime()) < time.Minute {
		return false // Its owner may not have locked it yet.
	}
	file, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
