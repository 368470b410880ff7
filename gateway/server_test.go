package gateway

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/gateway/backends"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// listen starts a server with a certificate of httptest, and returns its
// address and a client that trusts it.
func listen(t *testing.T, serve func(*Server, net.Listener) error) (string, *http.Client) {
	t.Helper()
	return listenWith(t, Config{}, all(&recorder{}), serve)
}

func listenWith(t *testing.T, cfg Config, conns backends.Conns, serve func(*Server, net.Listener) error) (string, *http.Client) {
	t.Helper()
	edge, err := newTrusting(cfg, conns, discard())
	require.NoError(t, err)
	return listenTo(t, edge, serve)
}

// listenTo is listen for an edge that a test has made.
func listenTo(t *testing.T, edge *Edge, serve func(*Server, net.Listener) error) (string, *http.Client) {
	t.Helper()
	donor := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(donor.Close)
	server := NewServer(edge, &tls.Config{Certificates: donor.TLS.Certificates, MinVersion: tls.VersionTLS10}, time.Minute)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- serve(server, l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		assert.NoError(t, server.Shutdown(ctx))
		assert.NoError(t, <-done)
	})
	transport := donor.Client().Transport.(*http.Transport).Clone()
	transport.ForceAttemptHTTP2 = true
	t.Cleanup(transport.CloseIdleConnections)
	return l.Addr().String(), &http.Client{Transport: transport}
}

// While the process is about to end, each connection ends with its next response, in
// HTTP/1.1 and 2.
func TestClientsLeaveBeforeTheServerStops(t *testing.T) {
	t.Parallel()
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stopping atomic.Bool
			address, client := listen(t, func(s *Server, l net.Listener) error {
				s.LeaveWhen(stopping.Load)
				return s.Serve(l)
			})
			if !http2 {
				transport := client.Transport.(*http.Transport)
				transport.ForceAttemptHTTP2, transport.TLSClientConfig.NextProtos = false, []string{"http/1.1"}
			}
			reused := func() bool {
				var again bool
				traced := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { again = i.Reused }})
				r, err := http.NewRequestWithContext(traced, "GET", "https://"+address+"/v1/nothing", nil)
				require.NoError(t, err)
				require.Equal(t, 404, send(t, client, r).status)
				return again
			}
			require.False(t, reused())
			require.True(t, reused(), "connections are kept")
			stopping.Store(true)
			reused() // The last on this connection.
			require.Eventually(t, func() bool { return !reused() }, 10*time.Second, time.Millisecond)
		})
	}
}

func TestServeSpeaksHTTPSOnly(t *testing.T) {
	t.Parallel()
	address, client := listen(t, (*Server).Serve)
	r, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+address+"/v1/nothing", nil)
	require.NoError(t, err)
	re := send(t, client, r)
	assert.Equal(t, 404, re.status)
	assert.Contains(t, re.body, fault.CodeNotFound)

	for _, method := range []string{"GET", "POST", "DELETE"} {
		t.Run(method, func(t *testing.T) {
			r, err = http.NewRequestWithContext(t.Context(), method, "http://"+address+"/v1/nothing", nil)
			require.NoError(t, err)
			re = send(t, client, r)
			assert.Equal(t, 403, re.status, method)
			assert.Contains(t, re.body, fault.CodeHTTPSOnly)
			assert.Equal(t, contentType, re.header.Get("Content-Type"))
		})
	}
}

func TestServeSpeaksBothVersionsOfHTTP(t *testing.T) {
	t.Parallel()
	address, client := listen(t, (*Server).Serve)
	resp, err := client.Get("https://" + address + "/")
	require.NoError(t, err)
	_ = resp.Body.Close()
	assert.Equal(t, 2, resp.ProtoMajor)

	old := client.Transport.(*http.Transport).Clone()
	defer old.CloseIdleConnections()
	old.ForceAttemptHTTP2, old.TLSClientConfig.NextProtos = false, []string{"http/1.1"}
	resp, err = (&http.Client{Transport: old}).Get("https://" + address + "/")
	require.NoError(t, err)
	_ = resp.Body.Close()
	assert.Equal(t, 1, resp.ProtoMajor)
}

func TestServeRefusesOldTLS(t *testing.T) {
	t.Parallel()
	address, client := listen(t, (*Server).Serve)
	config := client.Transport.(*http.Transport).TLSClientConfig.Clone()
	config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	_, err := tls.Dial("tcp", address, config)
	require.ErrorContains(t, err, "protocol version")
}

func TestServePlainIsRefused(t *testing.T) {
	t.Parallel()
	address, client := listen(t, (*Server).ServePlain)
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+address+"/v1/nothing", nil)
	require.NoError(t, err)
	r.Header.Set("X-Forwarded-Proto", "https")
	assert.Equal(t, 403, send(t, client, r).status)
}

func TestOnlyTrustedProxiesAreBelieved(t *testing.T) {
	t.Parallel()
	conn := &recorder{}
	edge, err := newTrusting(Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}, all(conn), discard())
	require.NoError(t, err)
	for _, test := range []struct {
		from, proto string
		status      int
	}{
		{"10.1.2.3:99", "https", 404},
		{"[::ffff:10.1.2.3]:99", "HTTPS", 404},
		{"10.1.2.3:99", "http", 403},
		{"10.1.2.3:99", "", 403},
		{"10.2.2.3:99", "https", 403},
		{"nowhere", "https", 403},
	} {
		t.Run(test.from, func(t *testing.T) {
			r := httptest.NewRequest("GET", "http://rotaloom.test/v1/nothing", nil)
			r.RemoteAddr = test.from
			r.Header.Set("X-Forwarded-Proto", test.proto)
			w := httptest.NewRecorder()
			edge.ServeHTTP(w, r)
			assert.Equal(t, test.status, w.Code, "%+v", test)
		})
	}
}

func TestHeadersOfAHugeRequestAreRefused(t *testing.T) {
	t.Parallel()
	address, client := listen(t, (*Server).Serve)
	config := client.Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos = nil
	conn, err := tls.Dial("tcp", address, config)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", strings.Repeat("x", 2*maxHeaderBytes))
	require.NoError(t, err)
	b, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Contains(t, string(b), "431")
}

// A request that does not end is cut off. That is not an error of the server.
func TestRunCutsOffWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	donor := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(donor.Close)
	edge, err := newTrusting(Config{}, all(&recorder{}), discard())
	require.NoError(t, err)
	server := NewServer(edge, donor.TLS, 10*time.Millisecond)
	server.http.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, l, nil) }()
	failed := make(chan error, 1)
	go func() {
		_, err := donor.Client().Get("https://" + l.Addr().String())
		failed <- err
	}()
	<-entered
	stop()
	require.NoError(t, <-done)
	require.Error(t, <-failed)
}
