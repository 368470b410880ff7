//go:build generated

package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

var bashBlock = regexp.MustCompile("(?s)```bash\n(.*?)```")

// The client httpYac sends each request of docs/collection to a new demonstration, set up as the README tells.
func TestGeneratedCollection(t *testing.T) {
	t.Parallel()
	server := launch.StandaloneIn(t, t.TempDir(), nil, "--demo")
	dir := t.TempDir()
	folder := filepath.Join(dir, "docs", "collection")
	require.NoError(t, os.CopyFS(folder, os.DirFS(filepath.Join(launch.Root(t), "docs", "collection"))))
	require.NoError(t, os.Symlink(server.StateDir, filepath.Join(dir, ".state")))
	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	block := bashBlock.FindSubmatch(readme)
	require.NotNil(t, block)
	runIn(t, dir, nil, "bash", "-euc", strings.ReplaceAll(string(block[1]), "https://127.0.0.1:8443", server.BaseURL))

	client := copyFolder(t, "httpyac")
	runIn(t, client, nil, "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.http"))
	require.NoError(t, err)
	args := append([]string{"send"}, files...)
	args = append(args, "--all", "--env", "demonstration", "--json", "--output", "none", "--output-failed", "response")
	sent := sendCollection(t, folder, filepath.Join(client, "node_modules", ".bin", "httpyac"), "NODE_EXTRA_CA_CERTS="+server.CAFile, args)
	for _, request := range sent.Requests {
		for _, result := range request.TestResults {
			assert.Equal(t, "SUCCESS", result.Status, "%s: %s: %s: %+v", request.FileName, request.Title, result.Message, result.Error)
		}
	}
	assert.Equal(t, countRequests(t, files), sent.Summary.SuccessRequests)
}

// sentCollection is the report of httpYac.
type sentCollection struct {
	Requests []struct {
		FileName, Title string
		TestResults     []struct {
			Status, Message string
			Error           struct{ DisplayMessage string }
		}
	}
	Summary struct{ SuccessRequests int }
}

func sendCollection(t *testing.T, dir, program, env string, args []string) (sent sentCollection) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), generateTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env)
	report, err := os.Create(filepath.Join(t.TempDir(), "report.json")) // The client ends before a pipe has all of it.
	require.NoError(t, err)
	defer report.Close()
	var messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = report, &messages
	runErr := cmd.Run() // It fails if a request fails; the report says which.
	out, err := os.ReadFile(report.Name())
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &sent), "%v: %s", runErr, &messages)
	return sent
}

// countRequests counts the requests of files by their expected statuses.
func countRequests(t *testing.T, files []string) (count int) {
	t.Helper()
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		count += strings.Count(string(text), "\n?? status == ")
	}
	return count
}
