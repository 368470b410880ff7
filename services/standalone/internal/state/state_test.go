package state

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFolderBelongsToOneProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := Open(dir)
	require.NoError(t, err)
	_, err = Open(dir)
	require.ErrorContains(t, err, "in use by another process")
	require.NoError(t, first.Close())
	again, err := Open(dir)
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

func TestFolderOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "VERSION"), []byte("rotaloom-state 99\n"), 0o600))
	_, err := Open(dir)
	require.ErrorContains(t, err, "a newer program wrote the state folder")
}

func TestFolderOfOthersIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0o700))
	folder, err := Open(dir)
	require.NoError(t, err, "the root of a file system")
	require.NoError(t, folder.Close())

	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "thesis.txt"), nil, 0o600))
	_, err = Open(dir)
	require.ErrorContains(t, err, "not Rotaloom's (for example thesis.txt")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing was left there")
}

func TestCredentialsStay(t *testing.T) {
	t.Parallel()
	folder, err := Open(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, folder.Close()) })
	made, err := folder.Credentials()
	require.NoError(t, err)
	require.NotEmpty(t, made.Password)
	require.NotEqual(t, made.Password, made.ClientSecret)
	again, err := folder.Credentials()
	require.NoError(t, err)
	require.Equal(t, made, again)
	info, err := os.Stat(folder.Path("credentials.json"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestThePasswordOfTheDemonstrationIsMadeOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made, err := DemoPassword(dir)
	require.NoError(t, err)
	require.NotEmpty(t, made)
	again, err := DemoPassword(dir)
	require.NoError(t, err)
	require.Equal(t, made, again)
	info, err := os.Stat(DemoPath(dir))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestReadyFileGoesWithTheNextStart(t *testing.T) {
	t.Parallel()
	folder, err := Open(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, folder.WriteReady(Ready{BaseURL: "https://127.0.0.1:1"}))
	require.FileExists(t, folder.Path("ready.json"))
	require.NoError(t, folder.Close())
	again, err := Open(folder.Dir)
	require.NoError(t, err)
	require.NoFileExists(t, folder.Path("ready.json"))
	require.NoError(t, again.Close())
}

func TestTheKeyEncryptionIsMadeOnce(t *testing.T) {
	t.Parallel()
	folder, err := Open(t.TempDir())
	require.NoError(t, err)
	path, err := folder.KeyEncryption()
	require.NoError(t, err)
	made, err := os.ReadFile(path)
	require.NoError(t, err)
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(made)))
	require.NoError(t, err)
	require.Len(t, key, 32)
	_, err = folder.KeyEncryption()
	require.NoError(t, err)
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, made, again)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, folder.Close())
}
