//go:build unix && !linux

package localpg

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// tieToParent keeps the terminal's Ctrl-C from reaching the server before this
// program has finished with it. These systems cannot tie a process to its
// parent; a server that was left behind is ended by the next start.
func tieToParent(attr *syscall.SysProcAttr, _ syscall.Signal) { attr.Setpgid = true }

// runsIn reports whether a process was started for the cluster in the folder.
func runsIn(pid int, dir string) bool {
	args, err := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(args), dir)
}
