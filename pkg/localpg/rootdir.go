//go:build unix

package localpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// rootDir is how the server's user gets to its folder. Mostly that is the path.
// When this program runs as root, the folder may lie below one that only root
// may enter, such as root's home or a temporary folder of root's: then the
// server inherits the folder as an open file and reaches everything through
// that.
type rootDir struct {
	root string
	// file is the open folder, or nil when the path leads there.
	file *os.File
}

// inherited is the folder as a process sees it that inherited it as its first
// file beyond the standard ones.
const inherited = "/proc/self/fd/3"

// openRootDir finds the way to root for the owner.
func openRootDir(ctx context.Context, root string, as owner) (*rootDir, error) {
	d := &rootDir{root: root}
	// Trying stands for every kind of permission.
	if !as.switched || as.command(ctx, "/", "/bin/sh", "-c", `cd -- "$1"`, "sh", root).Run() == nil {
		return d, nil
	}
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("PostgreSQL runs as user %s, because this program runs as root, and that user cannot enter %s: "+
			"choose a folder whose parents everybody may enter", as.name, root)
	}
	var err error
	d.file, err = os.Open(root)
	return d, err
}

// command prepares a program to be run by the owner in a folder below root.
func (d *rootDir) command(ctx context.Context, as owner, dir, program string, args ...string) *exec.Cmd {
	if d.file == nil {
		return as.command(ctx, dir, program, args...)
	}
	cmd := as.command(ctx, "/", program, args...)
	cmd.ExtraFiles = []*os.File{d.file}
	return cmd
}

// path is a path as the owner's programs reach it.
func (d *rootDir) path(path string) string {
	if d.file == nil || !strings.HasPrefix(path, d.root) {
		return path
	}
	return inherited + strings.TrimPrefix(path, d.root)
}

// close closes the folder. The server keeps what it inherited.
func (d *rootDir) close() error {
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}
