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

// The first session of README, with each version of HTTP.
func TestREADME(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t, "--demo")
	commands := FirstSession(t)
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			out := newPlace(t, server).bash(t, version, commands)
			assert.Contains(t, out, `"shifts":[{`)
			assert.Contains(t, out, `"state":"`)
			assert.NotContains(t, out, "errorCode")
		})
	}
}

// demoPassword is the file with the password of the demonstration's users. Guides that read it need the demonstration.
const demoPassword = ".state/demo.json"

// Each guide, with each version of HTTP on a server of its own.
func TestGuides(t *testing.T) {
	t.Parallel()
	guides, err := filepath.Glob(filepath.Join(launch.Root(t), "docs", "guides", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, guides)
	for _, guide := range guides {
		page, err := os.ReadFile(guide)
		require.NoError(t, err)
		blocks := codeBlock.FindAllStringSubmatch(string(page), -1)
		if !slices.ContainsFunc(blocks, func(b []string) bool { return b[1] == "bash" }) {
			continue
		}
		var settings []string
		if strings.Contains(string(page), demoPassword) {
			settings = []string{"--demo"}
		}
		for _, version := range versions {
			t.Run(filepath.Base(guide)+" "+version, func(t *testing.T) {
				t.Parallel()
				runGuide(t, newPlace(t, launch.Standalone(t, settings...)), version, blocks)
			})
		}
	}
}

// runGuide runs the commands of a guide, and then its programs.
func runGuide(t *testing.T, p place, version string, blocks [][]string) {
	t.Helper()
	var commands strings.Builder
	for _, block := range blocks {
		if block[1] == "bash" {
			commands.WriteString(block[2])
		}
	}
	out := p.bash(t, version, commands.String())
	assert.NotContains(t, out, "errorCode")
	t.Log(out[max(0, len(out)-200):])
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
