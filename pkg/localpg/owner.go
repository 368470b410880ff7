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

// owner is the user under whom the server runs and who owns its files.
// PostgreSQL refuses to run as root, so for root it is another user.
type owner struct {
	uid, gid int
	name     string
	// switched reports whether the user differs from that of this process.
	switched bool
}

// pickOwner returns this user, or for root the user of PostgreSQL packages or,
// without one, nobody.
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

// command prepares a program to be run by the owner in a folder, untouched by
// the settings that a user keeps for PostgreSQL's clients.
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

// makeDir makes a folder that only the owner can enter. A folder that exists
// is taken only if it is the owner's, or can be given to the owner.
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
