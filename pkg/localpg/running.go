//go:build unix

package localpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// RunningURL returns the URL of a database for the role that owns the databases, on a server that
// another process runs in dir. It does not check that the server runs.
func RunningURL(dir, database string) (string, error) {
	root, err := filepath.Abs(dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err == nil {
		_, err = os.Stat(filepath.Join(root, "data", "PG_VERSION"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("localpg: there is no server in %s", dir)
	}
	if err != nil {
		return "", fmt.Errorf("localpg: %w", err)
	}
	return (&Server{layout: layout{socket: socketDir(root)}}).URL(database), nil
}

// RunningAdminURL is RunningURL for the superuser of the server, who bypasses row-level security.
func RunningAdminURL(dir, database string) (string, error) {
	if _, err := RunningURL(dir, database); err != nil {
		return "", err
	}
	root, err := filepath.Abs(dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return "", fmt.Errorf("localpg: %w", err)
	}
	return (&Server{layout: layout{socket: socketDir(root)}}).AdminURL(database), nil
}

// Program returns the path of one of PostgreSQL's programs, such as pg_dump: in dir, or else the
// newest version on PATH or in the usual places.
func Program(dir, name string) (string, error) {
	if dir != "" {
		path, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			return "", fmt.Errorf("localpg: %w", err)
		}
		return path, nil
	}
	for _, dir := range initdbDirs() {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s of PostgreSQL was not found on this machine; install PostgreSQL, or set the folder of its programs: %w", name, err)
	}
	return path, nil
}
