package attack

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/policy"
)

func init() { attack("bodies of unauthenticated clients", unauthenticatedBodies) }

// parameter matches a path segment that callers fill in.
var parameter = regexp.MustCompile(`\{[^}=]*\}`)

// word matches a path segment that has only one value.
var word = regexp.MustCompile(`\{[^}=]*=([^}]*)\}`)

// fill returns a route with a value in place of each parameter.
func fill(route, value string) (method, path string) {
	method, path, _ = strings.Cut(route, " ")
	return method, parameter.ReplaceAllString(word.ReplaceAllString(path, "$1"), value)
}

// operations returns the operations of the contracts.
func operations(t *testing.T) []policy.Operation {
	t.Helper()
	all, err := policy.NewTable(nil).Operations()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// unauthenticatedBodies shows that every operation that needs a token refuses requests without a
// valid one by their headers. It does not wait for the body, which never comes here.
func unauthenticatedBodies(t *testing.T, w *fixture) {
	for name, token := range map[string]string{
		"no token":                  "",
		"no token of ours":          "Authorization: Bearer x\r\n",
		"a token of another issuer": "Authorization: Bearer e30.eyJpc3MiOiJodHRwczovL2V4YW1wbGUub3JnIn0.c2ln\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, o := range operations(t) {
				if method, path := fill(o.Route, "1"); !o.Public && method != http.MethodGet {
					head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n%s\r\n", method, path, token)
					assert.Equal(t, http.StatusUnauthorized, w.head(t, head), o.Route)
				}
			}
		})
	}
}

// head sends only the head of a request, and returns the status of the response if it comes within
// some seconds.
func (w *fixture) head(t *testing.T, head string) int {
	t.Helper()
	conn, err := w.dial()
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte(head))
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err, head)
	defer response.Body.Close()
	return response.StatusCode
}

// dial makes a connection to the server that speaks HTTP/1.1.
func (w *fixture) dial() (*tls.Conn, error) {
	config := w.Client.Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos = nil
	return tls.Dial("tcp", strings.TrimPrefix(w.BaseURL, "https://"), config)
}
