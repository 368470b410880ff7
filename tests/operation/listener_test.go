package operation

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

const anyPath = "/v1/scheduling/employment_term_schedule_patterns/builder"

func TestListener(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	for name, test := range map[string]func(*testing.T, *launch.Server){
		"plain HTTP is refused":          plainHTTP,
		"bodies are bounded":             largeBody,
		"both versions of HTTP are fine": versionsOfHTTP,
		"old versions of TLS are not":    oldTLS,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, server)
		})
	}
}

func address(server *launch.Server) string { return strings.TrimPrefix(server.BaseURL, "https://") }

func plainHTTP(t *testing.T, server *launch.Server) {
	conn, err := net.DialTimeout("tcp", address(server), quickly)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(quickly)))
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", anyPath)
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer response.Body.Close()
	requireError(t, response, http.StatusForbidden)
}

func largeBody(t *testing.T, server *launch.Server) {
	token := server.Target(t).Token
	body := func() io.Reader { return strings.NewReader(`{"x": "` + strings.Repeat("x", 1<<20) + `"}`) }
	for _, announced := range []bool{true, false} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.BaseURL+"/v1/scheduling/schedule/multi_read", body())
		require.NoError(t, err)
		if !announced {
			request.ContentLength = -1
		}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		response, err := server.Client.Do(request)
		require.NoError(t, err)
		requireError(t, response, http.StatusRequestEntityTooLarge)
		require.NoError(t, response.Body.Close())
	}
}

func versionsOfHTTP(t *testing.T, server *launch.Server) {
	for version, protocols := range map[int][]string{1: {"http/1.1"}, 2: {"h2"}} {
		config := tlsConfig(server)
		config.NextProtos = protocols
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: version == 2}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport, Timeout: quickly}
		response, err := client.Get(server.BaseURL + anyPath)
		require.NoError(t, err)
		assert.Equal(t, version, response.ProtoMajor)
		requireError(t, response, http.StatusUnauthorized)
		require.NoError(t, response.Body.Close())
	}
}

func oldTLS(t *testing.T, server *launch.Server) {
	config := tlsConfig(server)
	config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	_, err := tls.DialWithDialer(&net.Dialer{Timeout: quickly}, "tcp", address(server), config)
	require.ErrorContains(t, err, "protocol version not supported")
	config.MinVersion, config.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: quickly}, "tcp", address(server), config)
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

// requireError requires an error body in the product's own form.
func requireError(t *testing.T, response *http.Response, status int) {
	t.Helper()
	require.Equal(t, status, response.StatusCode)
	require.Equal(t, "application/json;charset=utf-8", response.Header.Get("Content-Type"))
	var body struct{ ErrorCode, Message string }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&body))
	require.NotEmpty(t, body.ErrorCode)
	require.NotEmpty(t, body.Message)
}
