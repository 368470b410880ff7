//go:build kubecluster

package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

const (
	host = "rotaloom.test"
	// maxRetryTime bounds the total delay of a request by 503 and Retry-After.
	maxRetryTime = 2 * time.Minute
	// maxPause bounds the time that a client waits for one Retry-After.
	maxPause = 5 * time.Second
	// nameTaken is the code of a shift template whose name is taken.
	nameTaken = "WFS-100903"
	// again is the pause before a client connects again after a lost connection.
	again = 100 * time.Millisecond
)

// connections returns a transport with connections of its own. The edge's Service chooses the pods
// that they lead to.
func connections(t *testing.T, ready launch.Ready, http2 bool) *http.Transport {
	t.Helper()
	transport := launch.Client(t, ready.CAFile).Transport.(*http.Transport).Clone()
	transport.ForceAttemptHTTP2 = http2
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// tally counts the results of the requests of all clients.
type tally struct {
	served, held, cut, claimed, found atomic.Int64
	// podsKilled is set while pods of the edge are killed. Their running requests are lost, and a
	// client repeats the requests that it may repeat.
	podsKilled atomic.Bool

	mu     sync.Mutex
	failed []string
}

func (l *tally) fail(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = append(l.failed, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// requireNone fails the test when a request has failed since the last call.
func (l *tally) requireNone(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	failed := l.failed
	l.failed = nil
	l.mu.Unlock()
	t.Logf("so far %d requests were served; %d were put off by 429 or 503 with Retry-After, %d lost their connection to an edge that was killed, "+
		"%d were repeated while the key of an earlier attempt was claimed, %d found the object of an earlier attempt",
		l.served.Load(), l.held.Load(), l.cut.Load(), l.claimed.Load(), l.found.Load())
	require.Empty(t, failed[:min(len(failed), 20)], "of %d requests that failed", len(failed))
}

// client sends requests as a well-behaved program does: it follows Retry-After, and gives each
// change an Idempotency-Key. It records responses that no client should get.
type client struct {
	transport http.RoundTripper
	*tally
}

// RoundTrip sends a request until it is neither delayed nor lost.
func (c *client) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/multi_read") && !strings.Contains(r.URL.Path, "authentication") {
		r.Header.Set("Idempotency-Key", uuid.NewString())
	}
	unknown := false // whether an earlier attempt may have been carried out
	for end := time.Now().Add(maxRetryTime); ; {
		attempt := r.Clone(r.Context())
		if r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			attempt.Body = body
		}
		response, err := c.transport.RoundTrip(attempt)
		pause, why := c.classify(response, err, unknown)
		unknown = unknown || err != nil || response.StatusCode == http.StatusServiceUnavailable
		if pause == 0 {
			return response, err
		}
		if time.Now().Add(pause).After(end) {
			c.fail("%s %s is not served within %s: %s", r.Method, r.URL.Path, maxRetryTime, why)
			return response, err
		}
		if response != nil {
			_, _ = io.Copy(io.Discard, response.Body) // The response is no longer needed.
			_ = response.Body.Close()
		}
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(pause):
		}
	}
}

// classify returns how long to wait before a request is sent again; 0 means that it is not sent
// again. Unknown says that an earlier attempt may have been carried out.
func (c *client) classify(response *http.Response, err error, unknown bool) (pause time.Duration, why string) {
	switch {
	case errors.Is(err, context.Canceled):
		return 0, "" // The load has been ended.
	case err != nil && c.podsKilled.Load():
		c.cut.Add(1)
		return again, err.Error()
	case err != nil:
		c.fail("%v", err)
		return 0, ""
	case response.StatusCode < http.StatusMultipleChoices:
		c.served.Add(1)
		return 0, ""
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(strings.NewReader(string(text)))
	said := fmt.Sprintf("%s %s: %d %.500s", response.Request.Method, response.Request.URL.Path, response.StatusCode, text)
	// The token endpoint returns the member error of OAuth.
	var body struct{ ErrorCode, Error string }
	seconds, noSeconds := strconv.Atoi(response.Header.Get("Retry-After"))
	switch {
	case err != nil:
	case response.StatusCode == http.StatusServiceUnavailable || response.StatusCode == http.StatusTooManyRequests:
		if noSeconds == nil && json.Unmarshal(text, &body) == nil && body.ErrorCode+body.Error != "" {
			c.held.Add(1)
			return min(max(again, time.Duration(seconds)*time.Second), maxPause), said
		}
	case noSeconds == nil && json.Unmarshal(text, &body) == nil && body.ErrorCode == "WRL-00423":
		// Each request has a key of its own, so the response is about an earlier attempt. That attempt
		// was delayed, or net/http lost it and sent it again, which it may do with a key.
		c.claimed.Add(1)
		return again, said
	case unknown && json.Unmarshal(text, &body) == nil && body.ErrorCode == nameTaken:
		// A service that ends between its commit and its response leaves the caller with 503.
		c.found.Add(1)
		return 0, ""
	}
	c.fail("%s", said)
	return 0, ""
}
