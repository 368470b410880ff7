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

// rootDir is the way by which the server's user reaches the server's folder: usually the path. If
// this program runs as root, the folder may lie below a folder that only root can enter, such as
// root's home directory. Then the server inherits the folder as an open file, and reaches all its
// files through that.
type rootDir struct {
	root string
	// file is the open folder, or nil if the path is accessible.
	file *os.File
}

// inherited is the path of the folder in a process that inherited it as its first file after the
// standard ones.
const inherited = "/proc/self/fd/3"

// openRootDir finds a way to root for the owner.
func openRootDir(ctx context.Context, root string, as owner) (*rootDir, error) {
	d := &rootDir{root: root}
	// A trial covers every kind of permission.
	if !as.switched || as.command(ctx, "/", "/bin/sh", "-c", `cd -- "$1"`, "sh", root).Run() == nil {
		return d, nil
	}
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("PostgreSQL runs as user %s, because this program runs as root, and that user cannot enter %s: "+
			"choose a folder with parents that all users may enter", as.name, root)
	}
	var err error
	d.file, err = os.Open(root)
	return d, err
}

// command prepares a program that the owner runs in a folder below root.
func (d *rootDir) command(ctx context.Context, as owner, dir, program string, args ...string) *exec.Cmd {
	if d.file == nil {
		return as.command(ctx, dir, program, args...)
	}
	cmd := as.command(ctx, "/", program, args...)
	cmd.ExtraFiles = []*os.File{d.file}
	return cmd
}

// path converts a path for the owner's programs.
func (d *rootDir) path(path string) string {
	if d.file == nil || !strings.HasPrefix(path, d.root) {
		return path
	}
	return inherited + strings.TrimPrefix(path, d.root)
}

// close closes the folder. The server keeps its inherited file.
func (d *rootDir) close() error {
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}
