package gateway

import (
	"context"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/gateway/bodymemory"
	"github.com/rotaloom/rotaloom/gateway/listener"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// The read buffer grows only as far as necessary.
func TestBuffersGrowToTheBody(t *testing.T) {
	t.Parallel()
	edge, err := newTrusting(Config{}, all(&recorder{}), discard())
	require.NoError(t, err)
	reader := &bodyReader{limit: 1 << 20, stall: time.Minute, timeout: time.Minute, bodies: edge.bodies, metrics: edge.metrics, stopping: t.Context()}
	for _, size := range []int{10, firstBuffer, 100_000, 1 << 20} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			r := newRequest(newHTTPRequest("POST", shiftsPath, `"`+strings.Repeat("x", size-2)+`"`))
			w := &response{ResponseWriter: httptest.NewRecorder()}
			require.Nil(t, edge.lookup(t.Context(), w, r))
			require.Nil(t, reader.check(t.Context(), w, r))
			held := bodymemory.NewHeld(edge.bodies.Portions("", "a"))
			require.Nil(t, reader.readAll(w, r, held))
			assert.Len(t, r.body.text, size)
			assert.LessOrEqual(t, held.Bytes(), int64(max(size+1024, firstBuffer*2)))
			edge.bodies.Release(held)
			assert.True(t, edge.bodies.Empty())
		})
	}
}

// Bodies of operations without a token are small.
func TestPublicBodiesAreSmall(t *testing.T) {
	t.Parallel()
	edge, err := newTrusting(Config{}, all(&recorder{}), discard())
	require.NoError(t, err)
	w := httptest.NewRecorder()
	edge.ServeHTTP(w, newHTTPRequest("POST", "/api/authentication/access_token", formBody+strings.Repeat("x", maxPublicBody)))
	assert.Equal(t, 413, w.Code)
	assert.Contains(t, w.Body.String(), `"error":"invalid_request"`)
}

// A client that disconnects while its large body waits does not count as overload.
func TestDisconnectedClientsDoNotCountAsOverload(t *testing.T) {
	t.Parallel()
	edge, err := newTrusting(Config{}, all(&recorder{}), discard())
	require.NoError(t, err)
	reader := &bodyReader{limit: 8 << 20, stall: time.Minute, timeout: time.Minute, bodies: edge.bodies, metrics: edge.metrics, stopping: t.Context()}
	r := newRequest(newHTTPRequest("POST", shiftsPath, `"`+strings.Repeat("x", 4<<20)+`"`))
	recorded := httptest.NewRecorder()
	w := &response{ResponseWriter: recorded, body: listener.NewDeadlineWriter(recorded, r.Request, listener.RollingDeadline{})}
	require.Nil(t, edge.lookup(t.Context(), w, r))
	require.Nil(t, reader.check(t.Context(), w, r))
	require.Nil(t, reader.readAll(w, r, bodymemory.NewHeld(edge.bodies.Portions("", "a"))))
	require.Positive(t, edge.bodies.Work(r.body.text), "it counts among the large ones")
	left, leave := context.WithCancel(t.Context())
	leave()
	reader.limitLarge(func(context.Context, *response, *request) { t.Error("it was worked on") })(left, w, r)
	assert.True(t, fault.HasCode(w.cause, fault.CodeCanceled), "%v", w.cause)
}
