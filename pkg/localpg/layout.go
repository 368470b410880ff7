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

// layout is where the files of one server are.
type layout struct {
	root    string   // all of it, absolute and free of links
	data    string   // the cluster
	socket  string   // the folder of the unix socket
	rootDir *rootDir // how the server's user gets to root
}

// maxSocketPath is the longest path of a unix socket on all systems.
const maxSocketPath = 103

// port names the socket; there is no TCP port.
const port = "5432"

// newLayout makes the folders of a server.
func newLayout(dir string, as owner) (layout, error) {
	if dir == "" {
		return layout{}, errors.New("no folder is given")
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
	l := layout{root: root, data: filepath.Join(root, "data"), socket: socketOf(root)}
	if strings.HasPrefix(l.socket, root) {
		return l, as.makeDir(l.socket)
	}
	return l, as.makeSharedDir(l.socket)
}

// socketOf is the folder of the unix socket: in root, unless its path would be too
// long, or has what separates paths in the settings of servers and clients.
func socketOf(root string) string {
	inside := filepath.Join(root, "run")
	if len(inside)+len("/.s.PGSQL."+port) <= maxSocketPath && !strings.ContainsAny(inside, `,"\'`) {
		return inside
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(os.TempDir(), "rotaloom-"+hex.EncodeToString(sum[:8]))
}

// makeSharedDir is makeDir in a folder where others may write too: it takes
// nothing that somebody else prepared.
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

// lock makes this process the only one that uses the folder, until the
// returned lock is closed or the process ends.
func (l layout) lock() (*filelock.Lock, error) {
	lock, err := filelock.Try(filepath.Join(l.root, "lock"))
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%s is in use by another process", l.root)
	}
	return lock, err
}

// major returns the PostgreSQL version that made the cluster, or 0 when there
// is no cluster yet.
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
