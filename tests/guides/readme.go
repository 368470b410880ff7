// Package guides runs the commands of README and of docs/guides unchanged.
package guides

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// Address is the address of the server on the pages.
const Address = "https://127.0.0.1:8443"

// FirstSession returns the commands of README's first session with a server, which are indented
// there. They read the server's state folder, .state, and call the server at [Address].
func FirstSession(t testing.TB) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(launch.Root(t), "README.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "## A first session\n")
	require.True(t, found, "README has no first session")
	section, _, _ = strings.Cut(section, "\n## ")
	var commands strings.Builder
	for line := range strings.Lines(section) {
		if rest, ok := strings.CutPrefix(line, "    "); ok {
			commands.WriteString(rest)
		}
	}
	require.Contains(t, commands.String(), Address)
	return commands.String()
}
