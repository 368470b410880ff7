package clients

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
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

const path = "/v1/scheduling/shift_templates"

// A body that is too large is refused in a way that every client can read, also those
// that send all of it before they look.
func TestTooLargeIsReadable(t *testing.T) {
	t.Parallel()
	s := launch.Standalone(t)
	target := s.Target(t)
	url, token := s.BaseURL+path, target.Token
	file := func(size int) string {
		name := filepath.Join(t.TempDir(), "body")
		require.NoError(t, os.WriteFile(name, bytes.Repeat([]byte("x"), size), 0o600))
		return name
	}
	curl := func(t *testing.T, size int, more ...string) string {
		args := append([]string{
			"-sS", "--cacert", s.CAFile, "-H", "Authorization: Bearer " + token, "-H", "Content-Type: application/json",
			"-w", "%{stderr}%{http_code} ", "--data-binary", "@" + file(size), url,
		}, more...)
		return run(t, nil, "curl", args...)
	}
	senders := map[string]func(t *testing.T, size int) string{
		"curl":          func(t *testing.T, size int) string { return curl(t, size, "--http1.1") },
		"curl, at once": func(t *testing.T, size int) string { return curl(t, size, "--http1.1", "-H", "Expect:") },
		"curl, chunked": func(t *testing.T, size int) string {
			return curl(t, size, "--http1.1", "-H", "Expect:", "-H", "Transfer-Encoding: chunked")
		},
		"curl, HTTP/2": func(t *testing.T, size int) string { return curl(t, size, "--http2") },
		"Python": func(t *testing.T, size int) string {
			return run(t, nil, "python3", "testdata/upload.py", url, s.CAFile, token, fmt.Sprint(size))
		},
		"Node, https": func(t *testing.T, size int) string {
			return run(t, []string{"NODE_EXTRA_CA_CERTS=" + s.CAFile}, "node", "testdata/upload.mjs", url, token, fmt.Sprint(size), "https")
		},
		"Node, fetch": func(t *testing.T, size int) string {
			return run(t, []string{"NODE_EXTRA_CA_CERTS=" + s.CAFile}, "node", "testdata/upload.mjs", url, token, fmt.Sprint(size), "fetch")
		},
		"Go, HTTP/1.1": func(t *testing.T, size int) string { return post(t, s.Client, false, url, token, size) },
		"Go, HTTP/2":   func(t *testing.T, size int) string { return post(t, s.Client, true, url, token, size) },
	}
	for name, send := range senders {
		for _, size := range []int{5 << 20, 20 << 20, 100 << 20} {
			t.Run(fmt.Sprintf("%s, %d MiB", name, size>>20), func(t *testing.T) {
				response := send(t, size)
				assert.Contains(t, response, "413")
				assert.Contains(t, response, `"errorCode":"WRL-00413"`)
			})
		}
	}
}

// run runs a program and returns everything that it wrote.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s\nIs it installed? make clients does that.", name, out)
	return string(out)
}

func post(t *testing.T, client *http.Client, http2 bool, url, token string, size int) string {
	t.Helper()
	transport := client.Transport.(*http.Transport).Clone()
	transport.ForceAttemptHTTP2 = http2
	if !http2 {
		transport.TLSClientConfig.NextProtos = []string{"http/1.1"}
	}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(strings.Repeat("x", size)))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return fmt.Sprint(response.StatusCode, " ", response.Proto, " ", string(body))
}
