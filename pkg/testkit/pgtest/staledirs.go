package pgtest

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// serverDirPattern is the pattern of the folders of private servers. Nothing runs when
// a test process ends, so each cleans up after those that ended before.
const serverDirPattern = "rotaloom-pgtest-*"

func removeStaleDirs() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), serverDirPattern)) // Its only error is a malformed pattern.
	for _, dir := range dirs {
		if abandoned(dir) {
			_ = os.RemoveAll(dir) // What cannot be removed stays for the next.
		}
	}
}

// abandoned reports whether the process that a folder belonged to is gone: it
// held a lock on a file in it as long as it lived.
func abandoned(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || time.Since(info.ModTime()) < time.Minute {
		return false // Perhaps its owner has not come to locking it.
	}
	file, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
