package listener

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lingering returns bounds that are large enough not to matter. Each test lowers the one that it is about.
func lingering() LingerBounds {
	return LingerBounds{Connections: 4, PerAddress: 4, Bytes: 1 << 40, Time: time.Minute, Stall: time.Minute}
}

// accept returns both ends of a connection that may linger, over which a request is
// worked on.
func accept(t *testing.T, l *Lingerer) (client, server net.Conn) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer inner.Close()
	client, err = net.Dial("tcp", inner.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	server, err = l.Linger(inner).Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	NoteState(server, http.StateActive)
	require.NoError(t, client.SetDeadline(time.Now().Add(20*time.Second)))
	return client, server
}

// A client that sends on after its connection was closed reads everything that was written
// before.
func TestResponsesOutliveTheirConnection(t *testing.T) {
	t.Parallel()
	l := NewLingerer(lingering())
	client, server := accept(t, l)
	_, err := io.WriteString(server, "response")
	require.NoError(t, err)
	require.NoError(t, server.Close())
	for range 32 {
		_, err = client.Write(make([]byte, 64<<10))
		require.NoError(t, err)
	}
	got, err := io.ReadAll(client)
	require.NoError(t, err)
	assert.Equal(t, "response", string(got))
	assert.Equal(t, 1, l.Lingering())
	require.NoError(t, client.Close())
	l.Stop(t.Context())
	require.NoError(t, t.Context().Err())
}

// A client that does not stop sending is cut off.
func TestLingeringEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bound func(*LingerBounds)
		pause time.Duration
	}{
		"after so many bytes":   {func(b *LingerBounds) { b.Bytes = 1 << 20 }, 0},
		"after so much time":    {func(b *LingerBounds) { b.Time = 300 * time.Millisecond }, time.Millisecond},
		"of those who rest":     {func(b *LingerBounds) { b.Stall = 300 * time.Millisecond }, time.Hour},
		"of those who rest now": {func(b *LingerBounds) { b.Time = 300 * time.Millisecond }, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bounds := lingering()
			test.bound(&bounds)
			l := NewLingerer(bounds)
			client, server := accept(t, l)
			require.NoError(t, server.Close())
			ended := make(chan struct{})
			go func() {
				l.Stop(t.Context())
				close(ended)
			}()
			pause := time.NewTicker(max(test.pause, 1))
			defer pause.Stop()
			chunk := make([]byte, 1<<10)
			for {
				select {
				case <-ended:
					return
				case <-t.Context().Done():
					require.Fail(t, "the connection lingers on")
				case <-pause.C:
					if _, err := client.Write(chunk); err != nil {
						var timeout net.Error
						require.False(t, errors.As(err, &timeout) && timeout.Timeout(), "nothing is read")
					}
				}
			}
		})
	}
}

// Connections that rest are closed at once, and so are those beyond the bounds: of all, and
// of one address.
func TestConnectionsThatDoNotLinger(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bounds func(*LingerBounds)
		state  http.ConnState
	}{
		"no request":           {func(*LingerBounds) {}, http.StateIdle},
		"too many":             {func(b *LingerBounds) { b.Connections = 1 }, http.StateActive},
		"too many of one site": {func(b *LingerBounds) { b.PerAddress = 1 }, http.StateActive},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bounds := lingering()
			test.bounds(&bounds)
			l := NewLingerer(bounds)
			_, first := accept(t, l)
			NoteState(first, test.state)
			require.NoError(t, first.Close())
			before := l.Lingering()
			_, second := accept(t, l)
			NoteState(second, test.state)
			require.NoError(t, second.Close())
			assert.Equal(t, before, l.Lingering())
			_, err := second.Read(make([]byte, 1))
			assert.ErrorIs(t, err, net.ErrClosed)
		})
	}
}
