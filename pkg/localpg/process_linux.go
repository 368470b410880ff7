package localpg

import (
	"fmt"
	"os"
	"syscall"
)

// tieToParent makes the kernel signal the server when the thread that started it ends. It keeps the
// terminal's Ctrl-C away from the server, so that this program can stop it in order.
func tieToParent(attr *syscall.SysProcAttr, signal syscall.Signal) {
	attr.Setpgid = true
	attr.Pdeathsig = signal
}

// runsIn reports whether a process works in the folder, as the first process of a PostgreSQL server
// does in its cluster.
func runsIn(pid int, dir string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return err == nil && cwd == dir
}
