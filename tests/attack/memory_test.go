package attack

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// maxMemory bounds the memory of the product during an attack, in bytes.
	maxMemory = 512 << 20
	// senders is the number of concurrent senders.
	senders = 50
	// soon bounds the response time for other callers during an attack.
	soon = 5 * time.Second
)

// Many senders at a time send the bodies that need most memory for each byte, with and without a
// token. The server uses little memory, and still serves all other callers.
func TestWorstBodies(t *testing.T) {
	for name, token := range map[string]func(*fixture) string{
		"anonymous":     func(*fixture) string { return "" },
		"forged":        func(*fixture) string { return "e30.e30.c2ln" },
		"authenticated": func(w *fixture) string { return w.admin.Token },
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, "--no-throttle", "--log-level", "warn")
			_, other := w.person(t, "Scheduler")
			bodies := worstBodies(t)
			lasts := 5 * time.Second
			if long() {
				lasts = time.Minute
			}
			ctx, cancel := context.WithTimeout(t.Context(), lasts)
			defer cancel()
			var sent atomic.Int64
			var statuses sync.Map
			var all sync.WaitGroup
			for first := range senders {
				all.Go(func() {
					for n := first; ctx.Err() == nil; n++ {
						b := bodies[n%len(bodies)]
						got, err := w.send(ctx, token(w), b.method, b.path, b.body)
						if err != nil {
							continue // The time is over, or the server cut off a slow sender. The server is checked below.
						}
						sent.Add(1)
						count, _ := statuses.LoadOrStore(got.status, new(atomic.Int64))
						count.(*atomic.Int64).Add(1)
						if got.status == http.StatusInternalServerError {
							t.Errorf("%s %s: %s", b.method, b.path, got.body)
						}
					}
				})
			}
			most, served, slowest := w.watch(t, ctx, other.Token)
			all.Wait()
			statuses.Range(func(status, n any) bool {
				t.Logf("%d: %d", status, n.(*atomic.Int64).Load())
				return true
			})
			t.Logf("%d worst bodies: at most %d MiB; %d requests of others were served, the slowest in %s",
				sent.Load(), most>>20, served, slowest.Round(time.Millisecond))
			assert.Positive(t, sent.Load())
			assert.Less(t, most, int64(maxMemory))
			assert.Positive(t, served)
			assert.Less(t, slowest, soon)
			w.requireUnharmed(t)
		})
	}
}

// watch sends requests of another caller until ctx ends. It returns the greatest memory of the
// server, the number of requests that were served, and the longest response time.
func (w *fixture) watch(t *testing.T, ctx context.Context, token string) (most int64, served int, slowest time.Duration) {
	t.Helper()
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) { // the pause between two requests
		began := time.Now()
		got, err := w.send(t.Context(), token, http.MethodPost, "/v1/scheduling/shift_templates/multi_read", []byte(`{}`))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
		served++
		slowest = max(slowest, time.Since(began))
		most = max(most, memory(t, w.Process.Process.Pid))
	}
	return most, served, slowest
}

// body is a request with a body.
type body struct {
	method, path string
	size         int // of one item in memory
	body         []byte
}

// worstBodies returns the worst bodies of the operations: with as many items as fit, and with as
// many as an edge may just accept. The short form has only the operations with the largest
// messages.
func worstBodies(t *testing.T) []body {
	t.Helper()
	var all []body
	for _, c := range calls(t) {
		if c.body == nil || c.policy.OAuthErrors {
			continue
		}
		l, ok := largestList(c.body)
		if !ok {
			continue
		}
		_, path := fill(c.method+" "+c.path, "1")
		for _, items := range []int{largest, 13 * largest / max(l.size, 1), max(l.most, 1)} {
			all = append(all, body{c.method, path, l.size, l.fillBody(items)})
		}
	}
	slices.SortStableFunc(all, func(a, b body) int { return cmp.Compare(b.size, a.size) })
	require.NotEmpty(t, all)
	if !long() {
		all = all[:min(len(all), 36)]
	}
	return all
}
