package guides

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// operatorGuide is the guide for operators of one server. Its commands start and stop servers.
const operatorGuide = "operate-one-server.md"

// The commands of the guide for operators back up a server and move it.
func TestOperatorsFollowTheGuide(t *testing.T) {
	t.Parallel()
	root := launch.Root(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "guides", operatorGuide))
	require.NoError(t, err)
	var commands strings.Builder
	for _, block := range codeBlock.FindAllStringSubmatch(string(page), -1) {
		require.Equal(t, "bash", block[1])
		commands.WriteString(block[2])
	}
	binary := launch.Build(t, "services/standalone/cmd/rotaloom")
	p := place{dir: t.TempDir()}
	// Root runs the database as another user, who needs access to the folder.
	require.NoError(t, os.Chmod(filepath.Dir(p.dir), 0o755))
	script := filepath.Join(t.TempDir(), "page.sh")
	require.NoError(t, os.WriteFile(script, []byte("set -euo pipefail\n"+commands.String()), 0o600))
	out := p.run(t, "", []string{"PATH=" + filepath.Dir(binary) + string(os.PathListSeparator) + os.Getenv("PATH")}, "bash", script)
	for _, want := range []string{
		`(?m)^0 dead letters$`, `backed up 6 databases`, `restored 6 databases`, `finished: writes are accepted again`,
		`(?m)^1 +admin +Administrator +may log in$`, `(?m)^password: \S+$`, `(?m)^Rotaloom \d+\.\d+\.\d+`, `\{"version":"`,
	} {
		assert.Regexp(t, regexp.MustCompile(want), out)
	}
}
