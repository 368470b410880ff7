package operation

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

const program = "services/standalone/cmd/rotaloom"

// quickly bounds the time until a program reports why it cannot start.
const quickly = 10 * time.Second

// The program says in one line why it cannot start.
func TestRefusesToStartInOneLine(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	old := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(old, "VERSION"), []byte("rotaloom-state 1\n"), 0o600))
	newer := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(newer, "VERSION"), []byte("rotaloom-state 99\n"), 0o600))
	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "thesis.txt"), nil, 0o600))
	otherDatabase := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(otherDatabase, "VERSION"), []byte("rotaloom-state 2\n"), 0o600))
	data := filepath.Join(otherDatabase, "postgresql", "data")
	require.NoError(t, os.MkdirAll(data, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte("14\n"), 0o600))
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	empty := t.TempDir()

	for name, c := range map[string]struct {
		env  []string
		args []string
		says []string
	}{
		"the port is in use":                  {nil, []string{"--listen", listener.Addr().String()}, []string{listener.Addr().String(), "another program listens", "--listen"}},
		"no PostgreSQL where it is said":      {[]string{"PATH="}, []string{"--database-bin-dir", empty}, []string{"PostgreSQL", empty}},
		"a folder of another version":         {nil, []string{"--state-dir", old}, []string{old, "rotaloom-state 1", "another version", "CHANGELOG.md"}},
		"a folder of a newer program":         {nil, []string{"--state-dir", newer}, []string{newer, "newer program", "Run that program"}},
		"a folder with another owner's files": {nil, []string{"--state-dir", foreign}, []string{foreign, "thesis.txt"}},
		"data of another PostgreSQL":          {nil, []string{"--state-dir", otherDatabase}, []string{data, "created by PostgreSQL 14", "pg_upgrade"}},
		"a file instead of a folder":          {nil, []string{"--state-dir", file}, []string{file}},
		"a URL that is none":                  {nil, []string{"--database-url", "host=elsewhere"}, []string{"postgres://"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefusal(t, c.env, c.args, c.says...)
		})
	}
}

func TestRefusesAFolderInUse(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	requireRefusal(t, nil, []string{"--state-dir", server.StateDir}, server.StateDir, "in use by another process")
	require.True(t, launch.LoginWorks(t, server.Client, server.Ready), "the first one is left alone")
	assert.FileExists(t, filepath.Join(server.StateDir, "ready.json"))
}

func requireRefusal(t *testing.T, env, args []string, says ...string) {
	t.Helper()
	binary := launch.Build(t, program)
	all := append([]string{"serve", "--admin-address", "", "--listen", "127.0.0.1:0", "--state-dir", t.TempDir()}, args...)
	began := time.Now()
	out, errs, code := launch.Run(t, binary, env, all...)
	assert.Less(t, time.Since(began), quickly)
	assert.Equal(t, 1, code)
	assert.Empty(t, out)
	assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
	assert.True(t, strings.HasPrefix(errs, "rotaloom: "), errs)
	for _, text := range says {
		assert.Contains(t, errs, text)
	}
}
