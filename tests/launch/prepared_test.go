package launch

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A process that creates a prepared folder keeps its lock, also if it removes the folder of older
// binaries before.
func TestOneProcessCreatesAPreparedFolder(t *testing.T) {
	const kind = "folder-of-a-test"
	place := filepath.Join(Root(t), "bin", "test", "prepared", kind)
	t.Setenv(passwordMemory, "") // It would change the place.
	t.Cleanup(func() {
		assert.NoError(t, os.RemoveAll(place))
		assert.NoError(t, os.Remove(lockPath(place)))
	})
	binary := filepath.Join(t.TempDir(), "binary")
	for _, content := range []string{"older", "newer"} {
		require.NoError(t, os.WriteFile(binary, []byte(content), 0o600))
		created := 0
		for range 2 {
			dir := t.TempDir()
			copyPrepared(t, kind, dir, []string{binary}, func(dir string) {
				created++
				lock, err := os.Create(lockPath(place))
				require.NoError(t, err)
				defer lock.Close()
				assert.ErrorIs(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
				require.NoError(t, os.MkdirAll(dir, 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "content"), []byte(content), 0o600))
			})
			got, err := os.ReadFile(filepath.Join(dir, "content"))
			require.NoError(t, err)
			assert.Equal(t, content, string(got))
		}
		assert.Equal(t, 1, created, "for %s", content)
	}
}

// make postgres-versions runs the same binaries on two versions of PostgreSQL.
func TestAPreparedFolderBelongsToItsPostgreSQL(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "binary")
	require.NoError(t, os.WriteFile(binary, nil, 0o600))
	before := fingerprint(t, []string{binary})
	assert.Equal(t, before, fingerprint(t, []string{binary}))
	other := t.TempDir()
	for _, program := range []string{"initdb", "postgres"} {
		require.NoError(t, os.WriteFile(filepath.Join(other, program), nil, 0o700))
	}
	t.Setenv("PATH", other+string(os.PathListSeparator)+os.Getenv("PATH"))
	assert.NotEqual(t, before, fingerprint(t, []string{binary}))
}
