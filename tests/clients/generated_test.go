//go:build generated

package clients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// calls is the number of calls of a program with a generated client.
const calls = 10

// generateTimeout bounds the time of one program. The Go compiler needs a minute for the client.
const generateTimeout = 10 * time.Minute

// The clients that three generators make from the API description compile and work.
func TestGeneratedClients(t *testing.T) {
	t.Parallel()
	s := launch.Standalone(t)
	description := filepath.Join(launch.Root(t), "proto", "gen", "openapi", "openapi.json")
	env := []string{"API=" + s.BaseURL, "TOKEN=" + s.Target(t).Token, "CA=" + s.CAFile, "GOWORK=off", "GOFLAGS="}
	t.Run("oapi-codegen", func(t *testing.T) {
		t.Parallel()
		dir := copyFolder(t, "go")
		require.NoError(t, os.Mkdir(filepath.Join(dir, "api"), 0o700))
		runIn(t, dir, env, "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", "api", "-o", "api/api.go", description)
		countCalls(t, runIn(t, dir, env, "go", "run", "."))
	})
	t.Run("TypeScript", func(t *testing.T) {
		t.Parallel()
		dir := copyFolder(t, "typescript")
		require.NoError(t, os.Mkdir(filepath.Join(dir, "generated"), 0o700))
		runIn(t, dir, env, "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
		runIn(t, dir, env, "npx", "openapi-typescript", description, "-o", "generated/schema.d.ts")
		runIn(t, dir, env, "npx", "swagger-typescript-api", "generate", "-p", description, "-o", "generated", "-n", "api.ts")
		runIn(t, dir, env, "npx", "tsc", "-p", ".")
		for _, program := range []string{"fetch", "swagger"} {
			t.Run(program, func(t *testing.T) {
				// Only here: npm may need authorities of the machine in this variable.
				trusting := append([]string{"NODE_EXTRA_CA_CERTS=" + s.CAFile}, env...)
				countCalls(t, runIn(t, dir, trusting, "node", "out/"+program+".js"))
			})
		}
	})
}

// copyFolder returns a copy of a folder of testdata/generated.
func copyFolder(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "generated", name))))
	return dir
}

// runIn runs a program in a folder, and returns what it wrote.
func runIn(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), generateTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func countCalls(t *testing.T, output string) {
	t.Helper()
	assert.Equal(t, calls, strings.Count(output, "passed:"), output)
}
