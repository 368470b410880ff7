package listener

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// deadlines is a writer that notes the deadlines that are set, as a connection does.
type deadlines struct {
	*httptest.ResponseRecorder
	read, write []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.read = append(d.read, at)
	return nil
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.write = append(d.write, at)
	return nil
}

func TestReadsHaveADeadlineUntilTheyAreDone(t *testing.T) {
	t.Parallel()
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	end := time.Now().Add(time.Minute)
	r := NewDeadlineReader(t.Context(), strings.NewReader("body"), w, RollingDeadline{Stall: time.Hour, End: end})
	b, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "body", string(b))
	r.Done()
	assert.Equal(t, []time.Time{end, {}}, w.read, "no later than the end, and not set for each read")
}

// A body that has not ended keeps its deadline, which bounds how long the server reads the rest.
func TestReadsAreShortenedWhenTheServerStops(t *testing.T) {
	t.Parallel()
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	stopping, stop := context.WithCancel(t.Context())
	r := NewDeadlineReader(stopping, strings.NewReader("body"), w, RollingDeadline{Stall: time.Hour, End: time.Now().Add(time.Hour)})
	_, err := r.Read(make([]byte, 2))
	require.NoError(t, err)
	stop()
	r.Done()
	require.Len(t, w.read, 2)
	assert.WithinDuration(t, time.Now().Add(stallWhileStopping), w.read[1], stallWhileStopping)
}

func TestOnlyLongResponsesArePaced(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		size      int
		deadlines int
	}{
		"short": {writeChunk, 0},
		"long":  {3*writeChunk + 1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
			dw := NewDeadlineWriter(w, httptest.NewRequest(http.MethodGet, "/", nil), RollingDeadline{End: time.Now().Add(time.Minute)}) // Without a stall, each chunk sets it.
			n, err := dw.Write(make([]byte, test.size))
			require.NoError(t, err)
			assert.Equal(t, test.size, n)
			assert.Equal(t, test.size, dw.Written())
			assert.Equal(t, test.size, w.Body.Len())
			assert.Len(t, w.write, test.deadlines)
		})
	}
}

// Authenticated callers may continue to send for longer than anonymous clients, but only a bounded number at a
// time.
func TestSendersOfRefusedBodiesComeToAnEnd(t *testing.T) {
	t.Parallel()
	const size = anonymousDrainBytes + 2*drainChunk
	for name, test := range map[string]struct {
		known    bool
		draining int64
		left     int
	}{
		"a stranger":             {false, 0, 2 * drainChunk},
		"a known caller":         {true, 0, 0},
		"one known caller more":  {true, maxConcurrentDrains, 2 * drainChunk},
		"the last of those many": {true, maxConcurrentDrains - 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d BodyDrainer
			d.draining.Store(test.draining)
			body := strings.NewReader(strings.Repeat(" ", size))
			r := httptest.NewRequest("POST", "/", nil)
			r.Body, r.ContentLength, r.ProtoMajor = io.NopCloser(body), size, 2
			w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
			d.Respond(w, r, test.known, func() { w.WriteHeader(413) })
			assert.Equal(t, 413, w.Code)
			assert.Equal(t, test.left, body.Len())
			assert.Equal(t, test.draining, d.draining.Load())
		})
	}
}
