package guides

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// The guides for operators. Their commands need programs in the path, and servers that they may stop.
const (
	serverGuide  = "operate-one-server.md"
	clusterGuide = "operate-a-cluster.md"
)

// operate runs the commands of a guide for operators in an empty folder.
func operate(t *testing.T, guide, binary string, env ...string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(launch.Root(t), "docs", "guides", guide))
	require.NoError(t, err)
	commands := "set -euo pipefail\n"
	for _, block := range codeBlock.FindAllStringSubmatch(string(page), -1) {
		require.Equal(t, "bash", block[1])
		commands += block[2]
	}
	p := place{dir: t.TempDir()}
	// Root runs the database as another user, who needs access to the folder.
	require.NoError(t, os.Chmod(filepath.Dir(p.dir), 0o755))
	script := filepath.Join(t.TempDir(), "page.sh")
	require.NoError(t, os.WriteFile(script, []byte(commands), 0o600))
	env = append(env, "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
	return p.run(t, "", env, "bash", script)
}

// The commands back up a server and move it.
func TestOperatorsFollowTheGuideOfOneServer(t *testing.T) {
	t.Parallel()
	out := operate(t, serverGuide, launch.Build(t, "services/standalone/cmd/rotaloom"))
	for _, want := range []string{
		`(?m)^0 dead letters$`, `backed up 6 databases`, `restored 6 databases`, `finished: writes are accepted again`,
		`(?m)^1 +admin +Administrator +may log in$`, `(?m)^password: \S+$`, `(?m)^Rotaloom \d+\.\d+\.\d+`, `\{"version":"`,
	} {
		assert.Regexp(t, want, out)
	}
}

// The commands look at separate processes and back them up.
func TestOperatorsFollowTheGuideOfAClusterWithoutACluster(t *testing.T) {
	t.Parallel()
	d := launch.Deployed(t)
	var databases []string
	for _, service := range []string{"auth", "commons", "timekeeping", "scheduling", "recruiting", "platform"} {
		databases = append(databases, service+"="+d.Postgres.AdminURL(service))
	}
	out := operate(t, clusterGuide, launch.Build(t, "services/standalone/cmd/rotaloom"), "ROTALOOM_DATABASES="+strings.Join(databases, ";"),
		"AUTH_DATABASE="+d.DatabaseURL("auth"), "SCHEDULING_DATABASE="+d.DatabaseURL("scheduling"))
	for _, want := range []string{
		`Clients of the HTTP API trust`, `(?m)^7$`, `(?m)^1 +\(all others\) +enabled`, `(?m)^0 dead letters$`,
		`0 employees with 0 spans`, `backed up 6 databases`, `the database has the schema of this program`,
	} {
		assert.Regexp(t, want, out)
	}
}
