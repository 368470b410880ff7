package attack

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// Connections that send almost all of a large body, and then a byte now and then, hold the memory
// for bodies. They get only a part of it, so that other callers' bodies have room. This holds for
// senders without a token, for operations that need no token, and for senders with a valid token.
func TestTrickledBodies(t *testing.T) {
	t.Parallel()
	// The short form has an eighth of the memory, and an eighth of the connections.
	settings, connections := []string{"--no-throttle", "--body-memory", fmt.Sprint(32 << 20)}, 40
	if long() {
		settings, connections = settings[:1], 300
	}
	w := newFixture(t, settings...)
	_, slow := w.person(t, "Scheduler")
	_, other := w.person(t, "Scheduler")
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	trickle := func(path, kind, token string, size int) {
		head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/%s\r\nContent-Length: %d\r\n", path, kind, size)
		if token != "" {
			head += "Authorization: " + token + "\r\n"
		}
		all.Go(func() { w.trickle(ctx, head+"\r\n", size-100) })
	}
	for range connections {
		trickle("/v1/scheduling/shift_templates", "json", slow.Token, largest)
		trickle("/api/authentication/access_token", "x-www-form-urlencoded", "", 60<<10)
		for range 3 { // Fill the memory that the large bodies leave.
			trickle("/v1/scheduling/shift_templates", "json", slow.Token, 12<<10)
		}
	}
	// Another caller sends ordinary requests from the same address.
	body := []byte(`{"label":"` + strings.Repeat("x", 20<<10) + `"}`)
	began := time.Now()
	for n := 0; n < 54 || time.Since(began) < 5*time.Second; n++ {
		got, err := w.send(t.Context(), other.Token, http.MethodPost, "/v1/scheduling/shift_templates", body)
		require.NoError(t, err)
		require.Equal(t, http.StatusBadRequest, got.status, "%d: read, and found to be wrong: %s", n, got.body)
	}
	assert.True(t, launch.LoginWorks(t, w.Client, w.Ready), "log-ins have room, too")
	w.requireUnharmed(t)
}

// trickle sends a head, a number of bytes of a body, and then one byte every second until ctx ends.
// It begins again when the server ends the connection.
func (w *fixture) trickle(ctx context.Context, head string, size int) {
	pause := time.NewTicker(time.Second)
	defer pause.Stop()
	next := func() bool {
		select {
		case <-ctx.Done():
			return false
		case <-pause.C:
			return true
		}
	}
	payload := append([]byte(head), bytes.Repeat([]byte(" "), size)...)
	for again := true; again; again = next() {
		conn, err := w.dial()
		if err != nil {
			continue // The server limits the handshakes of one address.
		}
		end := context.AfterFunc(ctx, func() { _ = conn.Close() })
		for _, err = conn.Write(payload); err == nil && next(); {
			_, err = conn.Write([]byte(" "))
		}
		end()
		_ = conn.Close()
	}
}
