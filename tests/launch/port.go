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

// Ports of tests lie below those that kernels hand out by themselves (from 32768 on
// Linux, from 49152 elsewhere), so no program gets one by chance.
const (
	firstPort = 20_000
	ports     = 10_000
)

// freePort is a port that is this test's until it ends. Programs take addresses, not
// listeners, and are ended and started again, so no listener can keep the port for them:
// a lock that all tests of the machine respect does.
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

// lockPort locks a port that nobody listens on.
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

// FreeAddress is an address of this machine alone that is this test's until it ends.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", freePort(t))
}
