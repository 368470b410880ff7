//go:build unix

package localpg

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/rotaloom/rotaloom/pkg/filelock"
)

// layout holds the paths of one server.
type layout struct {
	root    string   // the root folder, absolute, with links resolved
	data    string   // the cluster
	socket  string   // the folder of the Unix socket
	rootDir *rootDir // the server user's way to root
}

// maxSocketPath is the longest path of a Unix socket that all systems support.
const maxSocketPath = 103

// port is part of the name of the socket; the server has no TCP port.
const port = "5432"

// newLayout creates the folders of a server.
func newLayout(dir string, as owner) (layout, error) {
	if dir == "" {
		return layout{}, errors.New("no folder is set")
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return layout{}, err
	}
	if err := as.makeDir(dir); err != nil {
		return layout{}, err
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return layout{}, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return layout{}, err
	}
	l := layout{root: root, data: filepath.Join(root, "data"), socket: socketDir(root)}
	if strings.HasPrefix(l.socket, root) {
		return l, as.makeDir(l.socket)
	}
	return l, as.makeSharedDir(l.socket)
}

// socketDir returns the folder of the Unix socket: inside root, unless its path is too long, or
// contains a separator of the settings of servers and clients.
func socketDir(root string) string {
	inside := filepath.Join(root, "run")
	if len(inside)+len("/.s.PGSQL."+port) <= maxSocketPath && !strings.ContainsAny(inside, `,"\'`) {
		return inside
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(os.TempDir(), "rotaloom-"+hex.EncodeToString(sum[:8]))
}

// makeSharedDir is makeDir in a folder where others may write too: it rejects a folder that another
// user prepared.
func (o owner) makeSharedDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		return o.makeDir(dir)
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != o.uid || info.Mode().Perm() != 0o700 {
		return fmt.Errorf("%s exists and is not a private folder of the server's user", dir)
	}
	return nil
}

// lock reserves the folder for this process, until the returned lock is closed or the process ends.
func (l layout) lock() (*filelock.Lock, error) {
	lock, err := filelock.Try(filepath.Join(l.root, "lock"))
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%s is in use by another process", l.root)
	}
	return lock, err
}

// major returns the PostgreSQL version that created the cluster, or 0 if there is no cluster yet.
func (l layout) major() (int, error) {
	text, err := os.ReadFile(filepath.Join(l.data, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
