package launch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/filelock"
)

// Ports of tests are below the ephemeral ports of kernels (from 32768 on Linux, from 49152
// elsewhere), so no program gets one by chance.
const (
	firstPort = 20_000
	ports     = 10_000
)

// freePort returns a port that belongs to this test until it ends. Programs take addresses instead
// of listeners, and are restarted, so a listener cannot reserve the port for them: a lock that all
// tests of the machine respect does.
func freePort(t testing.TB) int {
	t.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("rotaloom-test-ports-%d", os.Geteuid()))
	require.NoError(t, os.MkdirAll(dir, 0o700))
	first := rand.IntN(ports)
	for i := range ports {
		port := firstPort + (first+i)%ports
		lock, err := lockPort(dir, port)
		if errors.Is(err, errTaken) {
			continue
		}
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, lock.Close()) })
		return port
	}
	require.FailNow(t, "every port is in use")
	return 0
}

var errTaken = errors.New("the port is in use")

// lockPort locks an unused port.
func lockPort(dir string, port int) (*filelock.Lock, error) {
	lock, err := filelock.Try(filepath.Join(dir, strconv.Itoa(port)))
	if errors.Is(err, filelock.ErrLocked) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, errors.Join(errTaken, lock.Close())
	}
	return lock, listener.Close()
}

// FreeAddress returns a loopback address that belongs to this test until it ends.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", freePort(t))
}
