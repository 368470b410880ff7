package gateway

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/gateway/throttle"
	"github.com/rotaloom/rotaloom/pkg/sizes"
)

// sending is a way to send a request that is refused before its body was read.
type sending struct {
	name    string
	headers string
	split   bool // the headers leave in a write of their own
	chunked bool
}

var waysOfSending = []sending{
	{name: "in one write"},
	{name: "headers first", split: true},
	{name: "and closes", headers: "Connection: close\r\n"},
	{name: "headers first and closes", headers: "Connection: close\r\n", split: true},
	{name: "expects to go on, and does not wait", headers: "Expect: 100-continue\r\n"},
	{name: "expects to go on, and closes", headers: "Connection: close\r\nExpect: 100-continue\r\n", split: true},
	{name: "in chunks", chunked: true},
	{name: "in chunks and closes", headers: "Connection: close\r\n", chunked: true},
}

// write sends the whole request before anything of the response is read.
func (s sending) write(conn io.Writer, line, headers string, size int) error {
	length, body := fmt.Sprintf("Content-Length: %d\r\n", size), strings.Repeat("x", size)
	if s.chunked {
		length, body = "Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, body)
	}
	head := line + " HTTP/1.1\r\nHost: x\r\n" + length + s.headers + headers + "\r\n"
	parts := []string{head + body}
	if s.split {
		parts = []string{head, body}
	}
	for _, part := range parts {
		if _, err := io.WriteString(conn, part); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
	}
	return nil
}

// readWhole reads a response to its end, past answers that only say that the client may
// go on.
func readWhole(conn io.Reader) (*http.Response, string, error) {
	from := bufio.NewReader(conn)
	for {
		response, err := http.ReadResponse(from, nil)
		if err != nil {
			return nil, "", fmt.Errorf("reading: %w", err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusContinue {
			return response, string(body), err
		}
	}
}

// A client that sends its whole body before it reads gets the whole response, for each kind of error and each
// way of sending.
func TestResponsesToRefusedBodiesArrive(t *testing.T) {
	t.Parallel()
	start := func(edge *Edge, err error) func(plain bool) (net.Conn, error) {
		require.NoError(t, err)
		address, client := listenTo(t, edge, (*Server).Serve)
		config := client.Transport.(*http.Transport).TLSClientConfig.Clone()
		config.NextProtos = nil
		return func(plain bool) (net.Conn, error) {
			if plain {
				return net.Dial("tcp", address)
			}
			return tls.Dial("tcp", address, config)
		}
	}
	throttled := newThrottled(t)
	throttled.requestUntilRefused("POST", shiftsPath, "", "127.0.0.1:1", "")
	limited := start(throttled.edge, nil)
	unknown := start(newThrottledBy(t, throttle.Config{}).edge, nil)
	small := start(newTrusting(Config{Body: sizes.Body{BodyLimit: 900}}, all(&recorder{}), discard()))
	full := start(newTrusting(Config{BodyMemory: 1}, all(&recorder{}), discard()))
	const json = "Content-Type: application/json\r\n"
	for _, kind := range []struct {
		status        int
		dial          func(plain bool) (net.Conn, error)
		line, headers string
		plain         bool
	}{
		{status: http.StatusBadRequest, dial: full, line: "POST " + shiftsPath, headers: "No header: x\r\n"},
		{status: http.StatusUnauthorized, dial: unknown, line: "POST " + shiftsPath, headers: json},
		{status: http.StatusForbidden, dial: small, line: "POST " + shiftsPath, plain: true},
		{status: http.StatusNotFound, dial: small, line: "POST /v1/nothing", headers: json},
		{status: http.StatusMethodNotAllowed, dial: small, line: "PATCH " + shiftsPath, headers: json},
		{status: http.StatusRequestEntityTooLarge, dial: small, line: "POST " + shiftsPath, headers: json},
		{status: http.StatusUnsupportedMediaType, dial: full, line: "POST " + shiftsPath, headers: "Content-Type: text/plain\r\n"},
		{status: http.StatusExpectationFailed, dial: small, line: "POST " + shiftsPath, headers: "Expect: a-response\r\n"},
		{status: http.StatusRequestHeaderFieldsTooLarge, dial: small, line: "POST " + shiftsPath, headers: "X: " + strings.Repeat("x", 2*maxHeaderBytes) + "\r\n"},
		{status: http.StatusTooManyRequests, dial: limited, line: "POST " + shiftsPath, headers: json},
		{status: http.StatusServiceUnavailable, dial: full, line: "POST " + shiftsPath, headers: json},
	} {
		t.Run(fmt.Sprint(kind.status), func(t *testing.T) {
			t.Parallel()
			for i := range 100 {
				size, way := 1000+i*2010, waysOfSending[i%len(waysOfSending)]
				if kind.status == http.StatusExpectationFailed && strings.Contains(way.headers, "Expect") {
					continue // A request has one expectation.
				}
				response, body, err := func() (*http.Response, string, error) {
					conn, err := kind.dial(kind.plain)
					require.NoError(t, err)
					defer conn.Close()
					require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
					if err := way.write(conn, kind.line, kind.headers, size); err != nil {
						return nil, "", err
					}
					return readWhole(conn)
				}()
				if assert.NoError(t, err, "%s: %d bytes", way.name, size) {
					assert.Equal(t, kind.status, response.StatusCode, "%s: %d bytes: %s", way.name, size, body)
					assert.Equal(t, max(response.ContentLength, int64(len(body))), int64(len(body)))
				}
			}
		})
	}
}
