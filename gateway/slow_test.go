package gateway

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/gateway/listener"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/sizes"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Only the bound that a test is about is short: the others hold for its own clients
// too, which a busy machine makes slow.
const (
	// shortTimeout bounds requests that never finish.
	shortTimeout = 300 * time.Millisecond
	// stallTimeout is for what clients must keep up with that do.
	stallTimeout = 2 * time.Second
)

// line opens a connection of HTTP/1.1 that the test writes to by hand.
func line(t *testing.T, address string, client *http.Client) *tls.Conn {
	t.Helper()
	config := client.Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos = []string{"http/1.1"}
	conn, err := tls.Dial("tcp", address, config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	return conn
}

func TestSlowHandshakesEnd(t *testing.T) {
	t.Parallel()
	address, _ := listenWith(t, Config{HandshakeTimeout: shortTimeout}, all(&recorder{}), (*Server).Serve)
	for name, first := range map[string]string{"nothing": "", "a part of a greeting": "\x16\x03\x01", "a part of plain HTTP": "GET /v1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", address)
			require.NoError(t, err)
			defer func() { _ = conn.Close() }()
			require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
			_, err = io.WriteString(conn, first)
			require.NoError(t, err)
			_, err = io.ReadAll(conn)
			assert.False(t, isTimeout(err), "the server ends the connection")
		})
	}
}

func TestSlowHeadersEnd(t *testing.T) {
	t.Parallel()
	address, client := listenWith(t, Config{HeaderTimeout: shortTimeout}, all(&recorder{}), (*Server).Serve)
	conn := line(t, address, client)
	_, err := io.WriteString(conn, "GET "+shiftsPath+"/7 HTTP/1.1\r\nHost: x\r\nX-Slow:")
	require.NoError(t, err)
	_, err = io.ReadAll(conn)
	assert.False(t, isTimeout(err), "the server ends the connection")
}

// sendSlowly sends the headers of a request, and the first byte of its 100.
func sendSlowly(t *testing.T, address string, client *http.Client) *tls.Conn {
	t.Helper()
	conn := line(t, address, client)
	_, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", shiftsPath)
	require.NoError(t, err)
	return conn
}

// Bodies in transit do not block other requests: the edge has one slot here.
func TestSlowBodiesHoldNoPlace(t *testing.T) {
	t.Parallel()
	f := &fakes{createShifts: func(context.Context, *schedulingv1.Shift) (*schedulingv1.ShiftList, error) {
		return &schedulingv1.ShiftList{}, nil
	}}
	address, client := listenWith(t, Config{MaxInFlight: 1, MaxQueue: 1}, connsTo(t, f), (*Server).Serve)
	var slow []*tls.Conn
	for range 5 {
		slow = append(slow, sendSlowly(t, address, client))
	}
	resp, err := client.Post("https://"+address+shiftsPath, "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusOK, resp.StatusCode)

	for _, conn := range slow {
		_, err := io.WriteString(conn, "}"+strings.Repeat(" ", 98))
		require.NoError(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, http.StatusOK, resp.StatusCode, "they were on their way until now")
	}
}

// A body that does not come to its end is refused.
func TestSlowBodiesEnd(t *testing.T) {
	t.Parallel()
	address, client := listenWith(t, Config{StallTimeout: shortTimeout}, all(&recorder{}), (*Server).Serve)
	conn := sendSlowly(t, address, client)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusRequestTimeout, resp.StatusCode)
	assert.Contains(t, string(b), fault.CodeSlow)
	assert.True(t, resp.Close)
	_, err = conn.Read(make([]byte, 1))
	assert.ErrorIs(t, err, io.EOF)
}

func TestSlowBodiesOfHTTP2End(t *testing.T) {
	t.Parallel()
	address, client := listenWith(t, Config{StallTimeout: shortTimeout}, all(&recorder{}), (*Server).Serve)
	body, writer := io.Pipe()
	t.Cleanup(func() { _ = writer.Close() })
	r, err := http.NewRequestWithContext(t.Context(), "POST", "https://"+address+shiftsPath, body)
	require.NoError(t, err)
	re := send(t, client, r)
	assert.Equal(t, http.StatusRequestTimeout, re.status)
	assert.Contains(t, re.body, fault.CodeSlow)
}

// A client that does not send the rest of its body does not delay the end of the server.
func TestSlowBodiesEndWhenTheServerStops(t *testing.T) {
	t.Parallel()
	servers, begun := make(chan *Server, 1), make(chan struct{}, 1)
	address, client := listenWith(t, Config{StallTimeout: time.Hour, Timeout: time.Hour}, all(&recorder{}), func(s *Server, l net.Listener) error {
		s.http.ConnState = func(conn net.Conn, state http.ConnState) {
			listener.NoteState(conn, state)
			if state == http.StateActive {
				begun <- struct{}{}
			}
		}
		servers <- s
		return s.Serve(l)
	})
	conn := sendSlowly(t, address, client)
	<-begun
	(<-servers).edge.stop() // As Shutdown does first.
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusRequestTimeout, resp.StatusCode)
}

// A body may be slow as long as it goes on.
func TestBodiesThatGoOnAreRead(t *testing.T) {
	t.Parallel()
	var got string
	f := &fakes{createShifts: func(_ context.Context, r *schedulingv1.Shift) (*schedulingv1.ShiftList, error) {
		got = r.GetLabel()
		return &schedulingv1.ShiftList{}, nil
	}}
	address, client := listenWith(t, Config{StallTimeout: stallTimeout}, connsTo(t, f), (*Server).Serve)
	body, writer := io.Pipe()
	go func() {
		_, _ = io.WriteString(writer, `{"label":"`)
		ticker := time.NewTicker(stallTimeout / 5)
		defer ticker.Stop()
		for range 6 {
			<-ticker.C
			_, _ = io.WriteString(writer, "x")
		}
		_, _ = io.WriteString(writer, `"}`)
		_ = writer.Close()
	}()
	resp, err := client.Post("https://"+address+shiftsPath, "application/json", body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Equal(t, "xxxxxx", got)
}

// A client that does not take its response loses it, and its place goes to
// others.
func TestSlowReadersLoseTheirPlace(t *testing.T) {
	t.Parallel()
	const long = 8
	f := &fakes{getShift: func(_ context.Context, r *schedulingv1.GetShiftRequest) (*schedulingv1.Shift, error) {
		if r.GetId() == long {
			return &schedulingv1.Shift{Label: strings.Repeat("long ", 8_000_000)}, nil
		}
		return &schedulingv1.Shift{Id: proto.Int64(r.GetId())}, nil
	}}
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprint("HTTP/", version), func(t *testing.T) {
			t.Parallel()
			address, client := listenWith(t, Config{StallTimeout: stallTimeout, MaxInFlight: 1, MaxQueue: 1}, connsTo(t, f), (*Server).Serve)
			slow := client.Transport.(*http.Transport).Clone()
			slow.DisableCompression = true // A compressed response would fit into the buffers of the connection.
			t.Cleanup(slow.CloseIdleConnections)
			if version == 1 {
				slow.ForceAttemptHTTP2 = false
				slow.TLSClientConfig.NextProtos = []string{"http/1.1"}
			}
			resp, err := (&http.Client{Transport: slow}).Get(fmt.Sprintf("https://%s%s/%d", address, shiftsPath, long))
			require.NoError(t, err)
			defer func() { _ = resp.Body.Close() }()
			require.Equal(t, version, resp.ProtoMajor)
			require.Equal(t, http.StatusOK, resp.StatusCode)
			until(t, "others are served", func() bool {
				other, err := client.Get("https://" + address + shiftsPath + "/7")
				return assert.NoError(t, err) && assert.NoError(t, other.Body.Close()) && other.StatusCode == http.StatusOK
			})
			_, err = io.Copy(io.Discard, resp.Body)
			assert.Error(t, err, "the response does not look whole")
		})
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// A client that is refused while it sends may send on, so that it comes to look
// at the response, whatever it is refused for.
func TestARefusedBodyIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	edge, err := newTrusting(Config{Body: sizes.Body{BodyLimit: 1 << 10}}, all(&recorder{}), discard())
	require.NoError(t, err)
	for path, status := range map[string]int{
		shiftsPath:               http.StatusRequestEntityTooLarge,
		shiftsPath + "?nobody=1": http.StatusRequestEntityTooLarge,
		"/v1/scheduling/nowhere": http.StatusNotFound,
		shiftsPath + "/none":     http.StatusNotFound,
	} {
		t.Run(path, func(t *testing.T) {
			w := &deadlineWriter{ResponseRecorder: httptest.NewRecorder()}
			body := strings.NewReader(strings.Repeat(" ", size))
			r := newHTTPRequest("POST", path, "")
			r.Body, r.ContentLength, r.ProtoMajor = io.NopCloser(body), size, 2
			edge.ServeHTTP(w, r)
			assert.Equal(t, status, w.Code, path)
			assert.Contains(t, w.Body.String(), `"errorCode"`, path)
			assert.True(t, w.Flushed, "%s: the response comes first", path)
			assert.Zero(t, body.Len(), "%s: bytes that were not read", path)
			assert.WithinDuration(t, time.Now().Add(listener.AnonymousTimeout), w.deadline, listener.AnonymousTimeout, path)
		})
	}
}

// deadlineWriter takes a deadline for reading, as a connection does.
type deadlineWriter struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (w *deadlineWriter) SetReadDeadline(at time.Time) error {
	w.deadline = at
	return nil
}
