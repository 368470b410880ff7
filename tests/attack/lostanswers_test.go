package attack

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func init() { attack("answers that get lost", lostAnswers) }

// lostAnswers calls every operation with a body. A client without a token that sends the whole body
// before it reads must still receive the response that a token is missing. Sizes go from 1 to 200
// kB. Where the server closes the connection, the operating system must not reset it.
func lostAnswers(t *testing.T, w *fixture) {
	n := 0
	for _, o := range operations(t) {
		method, path := fill(o.Route, "1")
		if o.Public || method == http.MethodGet {
			continue
		}
		n++
		size := 1000 + n*7919%199_000
		more := []string{"", "Connection: close\r\n", "Expect: 100-continue\r\nConnection: close\r\n"}[n%3]
		request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s",
			method, path, size, more, strings.Repeat("x", size))
		conn, err := w.dial()
		require.NoError(t, err)
		status, body, err := exchange(conn, request)
		_ = conn.Close()
		if assert.NoError(t, err, "%s: %d bytes, %q", o.Route, size, more) {
			assert.Equal(t, http.StatusUnauthorized, status, o.Route)
			assert.Regexp(t, `"(errorCode|message_code)":"WRL-00401"`, body, o.Route)
		}
	}
	require.NotZero(t, n)
}

// exchange sends a request, and then reads the whole response.
func exchange(conn *tls.Conn, request string) (status int, body string, err error) {
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return 0, "", err
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return 0, "", err
	}
	for from := bufio.NewReader(conn); ; {
		response, err := http.ReadResponse(from, nil)
		if err != nil {
			return 0, "", err
		}
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusContinue {
			return response.StatusCode, string(text), err
		}
	}
}
