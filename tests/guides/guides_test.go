package guides

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	esbuild "github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

var codeBlock = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// place is a folder that looks as if `make run` had started a server in it.
type place struct {
	dir, url string
}

func newPlace(t *testing.T, server *launch.Server) place {
	t.Helper()
	p := place{dir: t.TempDir(), url: server.BaseURL}
	require.NoError(t, os.Symlink(server.StateDir, filepath.Join(p.dir, ".state")))
	require.NoError(t, os.Symlink(filepath.Dir(launch.Build(t, "services/standalone/cmd/rotaloom")), filepath.Join(p.dir, "bin")))
	return p
}

// run runs a program in the place, with what curl reads first as its configuration.
func (p place) run(t *testing.T, curl string, env []string, name string, args ...string) string {
	t.Helper()
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, ".curlrc"), []byte(curl+"\n"), 0o600))
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = p.dir
	cmd.Env = append(append(os.Environ(), "CURL_HOME="+home), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// shortened are the sizes that pages leave to whoever runs them.
var shortened = []string{"PEOPLE=1000"}

// bash runs commands of a page, which stops at the first that fails.
func (p place) bash(t *testing.T, curl, commands string) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "page.sh")
	text := "set -euo pipefail\n" + strings.ReplaceAll(commands, Address, p.url)
	require.NoError(t, os.WriteFile(script, []byte(text), 0o600))
	return p.run(t, curl, shortened, "bash", script)
}

// versions are the versions of HTTP, as curl is told them.
var versions = []string{"http1.1", "http2"}

// startServers starts a server with the demonstration for each version of HTTP. All pages share the
// servers, because a server for each page would take most of the time of the test.
func startServers(t *testing.T) map[string]*launch.Server {
	t.Helper()
	servers := map[string]*launch.Server{}
	for _, version := range versions {
		servers[version] = launch.Standalone(t, "--demo")
	}
	return servers
}

// The first session of README and each guide, with each version of HTTP.
func TestPages(t *testing.T) {
	t.Parallel()
	servers := startServers(t)
	guides, err := filepath.Glob(filepath.Join(launch.Root(t), "docs", "guides", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, guides)
	for _, version := range versions {
		t.Run("README "+version, func(t *testing.T) {
			t.Parallel()
			out := newPlace(t, servers[version]).bash(t, version, FirstSession(t))
			assert.Contains(t, out, `"shifts":[{`)
			assert.Contains(t, out, `"state":"`)
			assert.NotContains(t, out, "errorCode")
		})
		for _, guide := range guides {
			if name := filepath.Base(guide); name == serverGuide || name == clusterGuide {
				continue // These need other servers: see operate_test.go.
			}
			page, err := os.ReadFile(guide)
			require.NoError(t, err)
			blocks := codeBlock.FindAllStringSubmatch(string(page), -1)
			if !slices.ContainsFunc(blocks, func(b []string) bool { return b[1] == "bash" }) {
				continue
			}
			t.Run(filepath.Base(guide)+" "+version, func(t *testing.T) {
				t.Parallel()
				runGuide(t, newPlace(t, servers[version]), version, blocks)
			})
		}
	}
}

// endOfBlock is what the script prints behind the output of each block of commands.
const endOfBlock = "\n--- end of a block of commands\n"

// runGuide runs the commands of a guide, compares their responses, and then runs the programs of the guide.
func runGuide(t *testing.T, p place, version string, blocks [][]string) {
	t.Helper()
	var commands strings.Builder
	for _, block := range blocks {
		if block[1] == "bash" {
			fmt.Fprintf(&commands, "%sprintf %q\n", block[2], endOfBlock)
		}
	}
	compareResponses(t, blocks, strings.Split(p.bash(t, version, commands.String()), endOfBlock))
	for i, block := range blocks {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("page%d", i))
		switch block[1] {
		case "python":
			require.NoError(t, os.WriteFile(file+".py", []byte(block[2]), 0o600))
			p.run(t, version, nil, "python3", file+".py")
		case "go":
			require.NoError(t, os.WriteFile(file+".go", []byte(block[2]), 0o600))
			p.run(t, version, []string{"GOWORK=off"}, "go", "run", file+".go")
		case "typescript":
			p.typescript(t, version, file, block[2])
		}
	}
}

// typescript runs a TypeScript program with Node, which needs no compiler if it is new enough.
func (p place) typescript(t *testing.T, curl, file, program string) {
	t.Helper()
	env := []string{"NODE_EXTRA_CA_CERTS=" + filepath.Join(p.dir, ".state", "tls", "ca.pem")}
	if exec.CommandContext(t.Context(), "node", "--experimental-strip-types", "--eval", "0").Run() == nil {
		require.NoError(t, os.WriteFile(file+".mts", []byte(program), 0o600))
		p.run(t, curl, env, "node", "--experimental-strip-types", file+".mts")
		return
	}
	made := esbuild.Transform(program, esbuild.TransformOptions{Loader: esbuild.LoaderTS, Format: esbuild.FormatESModule})
	require.Empty(t, made.Errors)
	require.NoError(t, os.WriteFile(file+".mjs", made.Code, 0o600))
	p.run(t, curl, env, "node", file+".mjs")
}
