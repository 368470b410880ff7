//go:build unix

package localpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// owner is the user that runs the server and owns its files. PostgreSQL refuses to run as root, so
// for root it is another user.
type owner struct {
	uid, gid int
	name     string
	// switched reports whether the user differs from the user of this process.
	switched bool
}

// pickOwner returns the current user. For root, it returns the user of PostgreSQL packages or, if
// that does not exist, the user nobody.
func pickOwner() (owner, error) {
	if os.Geteuid() != 0 {
		return owner{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if uidErr == nil && gidErr == nil {
			return owner{uid: uid, gid: gid, name: name, switched: true}, nil
		}
	}
	return owner{}, fmt.Errorf("PostgreSQL does not run as root, and this machine has neither a user postgres nor a user nobody")
}

// command prepares a program that the owner runs in a folder, without the user's settings for
// PostgreSQL clients.
func (o owner) command(ctx context.Context, dir, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "PG") && !strings.HasPrefix(setting, "LC_") {
			cmd.Env = append(cmd.Env, setting)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if o.switched {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}
	}
	return cmd
}

// makeDir creates a folder that only the owner can enter. It uses an existing folder only if it
// belongs to the owner, or can be given to the owner.
func (o owner) makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if o.switched {
		if err := os.Lchown(dir, o.uid, o.gid); err != nil {
			return err
		}
	}
	return os.Chmod(dir, 0o700)
}
