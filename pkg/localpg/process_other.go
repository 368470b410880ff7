//go:build unix && !linux

package localpg

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// tieToParent keeps the terminal's Ctrl-C away from the server, so that this program can stop it in
// order. These systems cannot tie a process to its parent; the next start ends an orphaned server.
func tieToParent(attr *syscall.SysProcAttr, _ syscall.Signal) { attr.Setpgid = true }

// runsIn reports whether a process was started for the cluster in the folder.
func runsIn(pid int, dir string) bool {
	args, err := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(args), dir)
}
