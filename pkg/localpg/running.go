//go:build unix

package localpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// RunningURL is how the owner of the databases connects to one of them on a server
// that another process runs in dir. Whether it does shows when connecting.
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
	return (&Server{layout: layout{socket: socketOf(root)}}).URL(database), nil
}
