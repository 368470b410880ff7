package filelock_test

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/filelock"
)

func TestOneHasTheLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := filelock.Try(path)
	require.NoError(t, err)
	_, err = filelock.Try(path)
	require.ErrorIs(t, err, filelock.ErrLocked)
	require.NoError(t, lock.Close())
	again, err := filelock.Try(path)
	require.NoError(t, err)
	require.NoError(t, again.Close())
	_, err = filelock.Try(filepath.Join(path, "below a file"))
	require.Error(t, err)
	assert.NotErrorIs(t, err, filelock.ErrLocked)
}

// Child processes that were started in the meantime do not keep a closed lock.
func TestAClosedLockIsFree(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	done := make(chan struct{})
	var starters sync.WaitGroup
	for range 4 {
		starters.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					assert.NoError(t, exec.Command("true").Run())
				}
			}
		})
	}
	for range 500 {
		lock, err := filelock.Try(path)
		if !assert.NoError(t, err) {
			break
		}
		require.NoError(t, lock.Close())
	}
	close(done)
	starters.Wait()
}
