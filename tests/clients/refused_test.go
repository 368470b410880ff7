package clients

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// A request may be refused before its body was read. The response still reaches clients that send
// the whole body before they read.
func TestRefusalsAreReadable(t *testing.T) {
	t.Parallel()
	s := launch.Standalone(t, "--body-limit=500")
	token := "Authorization: Bearer " + s.Target(t).Token
	const json, text = "Content-Type: application/json", "Content-Type: text/plain"
	busy := launch.Standalone(t, "--body-memory=9600") // Enough for a log-in, and for no body of the test.
	busyToken := "Authorization: Bearer " + busy.Target(t).Token
	limited := launch.Standalone(t, "--platform-rate-write=0.01/1")
	limitedToken := "Authorization: Bearer " + limited.Target(t).Token
	for _, kind := range []struct {
		status       int
		server       *launch.Server
		method, path string
		headers      []string
	}{
		{http.StatusUnauthorized, s, "POST", path, []string{json}},
		{http.StatusNotFound, s, "POST", "/v1/nothing", []string{json, token}},
		{http.StatusMethodNotAllowed, s, "PATCH", path, []string{json, token}},
		{http.StatusRequestEntityTooLarge, s, "POST", path, []string{json, token}},
		{http.StatusUnsupportedMediaType, busy, "POST", path, []string{text, busyToken}},
		{http.StatusTooManyRequests, limited, "POST", path, []string{json, limitedToken}},
		{http.StatusServiceUnavailable, busy, "POST", path, []string{json, busyToken}},
	} {
		if kind.server == limited {
			_ = post(t, limited.Client, true, limited.BaseURL+path, limited.Target(t).Token, 1) // Nothing is left for 100 s.
		}
		t.Run(fmt.Sprint("Python, ", kind.status), func(t *testing.T) {
			t.Parallel()
			seen := run(t, nil, "python3", "testdata/refused.py", kind.server.BaseURL, kind.server.CAFile, kind.method, kind.path, strings.Join(kind.headers, "\n"))
			assert.Equal(t, fmt.Sprintf("100 %d whole\n", kind.status), seen)
		})
		t.Run(fmt.Sprint("curl, ", kind.status), func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1 << 10, 17 << 10, 44 << 10, 70 << 10, 200 << 10} {
				for _, more := range []string{"Connection: close", "Expect:", "Expect: 100-continue"} {
					body := filepath.Join(t.TempDir(), "body")
					require.NoError(t, os.WriteFile(body, bytes.Repeat([]byte("x"), size), 0o600))
					args := []string{
						"-sS", "--http1.1", "--cacert", kind.server.CAFile, "-X", kind.method, "-H", more,
						"-w", "%{stderr}%{http_code} ", "--data-binary", "@" + body, kind.server.BaseURL + kind.path,
					}
					for _, header := range kind.headers {
						args = append(args, "-H", header)
					}
					response := run(t, nil, "curl", args...)
					assert.Contains(t, response, fmt.Sprint(kind.status), "%d bytes, %s", size, more)
					assert.Contains(t, response, `"errorCode"`, "%d bytes, %s", size, more)
				}
			}
		})
	}
}
