package listener

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// countingListener counts the writes to its connections.
type countingListener struct {
	net.Listener
	writes atomic.Int64
}

func (l *countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &countingConn{conn, &l.writes}, err
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c *countingConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

func TestTheChunksOfLargeResponsesGoOutWhole(t *testing.T) {
	t.Parallel()
	const chunks = 16
	for name, test := range map[string]struct {
		http2     bool
		maxWrites int64
	}{
		"HTTP/1": {false, 2 * chunks},
		// Its connection is shared, and so is never corked: a write for each record.
		"HTTP/2": {true, 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := make([]byte, chunks*writeChunk)
			for i := range body {
				body[i] = byte(i % 251)
			}
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				paced := NewDeadlineWriter(w, r, RollingDeadline{Stall: time.Minute, End: time.Now().Add(time.Minute)})
				_, err := paced.Write(body)
				assert.NoError(t, err)
			}))
			counting := &countingListener{Listener: server.Listener}
			server.Listener, server.EnableHTTP2, server.Config.ConnContext = Cork(counting), test.http2, WithConn
			server.StartTLS()
			defer server.Close()
			for range 2 { // The second request comes over the same connection.
				before := counting.writes.Load()
				response, err := server.Client().Get(server.URL)
				require.NoError(t, err)
				got, err := io.ReadAll(response.Body)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				assert.Equal(t, body, got)
				assert.LessOrEqual(t, counting.writes.Load()-before, test.maxWrites)
			}
		})
	}
}

// Corked data arrives at the connection completely and in order, for any way of writing.
func TestCorkedWritesAreKeptBack(t *testing.T) {
	t.Parallel()
	for name, sizes := range map[string][]int{
		"nothing":                          {},
		"little":                           {1, 2, 3},
		"as much as is kept":               {corkBytes - 1, 1},
		"more than is kept":                {corkBytes - 1, 2},
		"more at once than is kept":        {1, corkBytes + 1, 1},
		"several times what is kept":       {corkBytes, corkBytes, corkBytes, 7},
		"more at once than is kept, alone": {0, corkBytes + 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, server := net.Pipe()
			defer client.Close()
			conn := &corkConn{Conn: server}
			received := make(chan []byte)
			go func() {
				got, _ := io.ReadAll(client)
				received <- got
			}()
			want := []byte{}
			for round := range 2 {
				conn.cork()
				for i, size := range sizes {
					p := make([]byte, size)
					for k := range p {
						p[k] = byte(round + i + k)
					}
					n, err := conn.Write(p)
					require.NoError(t, err)
					require.Equal(t, size, n)
					want = append(want, p...)
				}
				require.NoError(t, conn.uncork())
				assert.Nil(t, conn.held, "a connection that rests holds no buffer")
			}
			require.NoError(t, server.Close())
			assert.Equal(t, want, <-received)
		})
	}
}

// TLS took for sent what could not be written, so the connection must not go on.
func TestNothingIsWrittenAfterALoss(t *testing.T) {
	t.Parallel()
	client, server := net.Pipe()
	defer client.Close()
	conn := &corkConn{Conn: server}
	require.NoError(t, conn.SetWriteDeadline(time.Now().Add(-time.Second)))
	conn.cork()
	_, err := conn.Write([]byte("lost"))
	require.NoError(t, err)
	require.Error(t, conn.uncork())

	require.NoError(t, conn.SetWriteDeadline(time.Time{}))
	_, err = conn.Write([]byte("later"))
	var timeout net.Error
	require.True(t, errors.As(err, &timeout) && timeout.Timeout(), "the error of the lost bytes: %v", err)
	conn.cork()
	_, err = conn.Write([]byte("later"))
	require.Error(t, err)
	require.Error(t, conn.uncork())
}

// A server that stops closes the connections of clients that take nothing, one after the
// other, and TLS wants to say so to each.
func TestStalledConnectionsAreClosedAtOnce(t *testing.T) {
	t.Parallel()
	var writing sync.WaitGroup
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer writing.Done()
		paced := NewDeadlineWriter(w, r, RollingDeadline{Stall: time.Minute, End: time.Now().Add(time.Minute)})
		_, err := paced.Write(make([]byte, 64<<20))
		assert.Error(t, err)
	}))
	counting := &countingListener{Listener: server.Listener}
	server.Listener, server.Config.ConnContext = Cork(counting), WithConn
	server.StartTLS()
	defer server.Close()
	for range 3 {
		writing.Add(1)
		response, err := server.Client().Get(server.URL)
		require.NoError(t, err)
		defer response.Body.Close()
	}
	var before int64
	require.Eventually(t, func() bool {
		now := counting.writes.Load()
		stalled := now == before
		before = now
		return stalled
	}, 20*time.Second, 200*time.Millisecond, "the clients no longer read")
	began := time.Now()
	require.NoError(t, server.Config.Close())
	writing.Wait()
	assert.Less(t, time.Since(began), 4*time.Second, "crypto/tls gives an alert 5 s")
}

// The connection that a response corks is found below those that are around it.
func TestTheCorkIsFoundBelowTheOtherLayers(t *testing.T) {
	t.Parallel()
	inner, outer := net.Pipe()
	defer inner.Close()
	cork := &corkConn{Conn: outer}
	limited := &limitedConn{Conn: cork}
	refusing := &refusingConn{Conn: limited, below: innerReader(limited)}
	assert.Equal(t, outer, refusing.below, "reads pass the layers")
	for name, conn := range map[string]net.Conn{
		"TLS": tls.Server(refusing, &tls.Config{}), "a trusted proxy": limited, "nothing around": cork,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			assert.Nil(t, requestCork(r))
			assert.Same(t, cork, requestCork(r.WithContext(WithConn(r.Context(), conn))))
		})
	}
}
