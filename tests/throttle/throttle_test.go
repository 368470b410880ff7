// Package throttle tests that clients are held to their rates, with every
// program as a process of its own and several edges.
package throttle

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

const (
	rate = 100 // requests per second
	// long is for how long requests are counted.
	long = 6 * time.Second
	// effective is how soon a changed rate holds everywhere.
	effective = 10 * time.Second
	path      = "/v1/scheduling/shift_templates/1"
)

type world struct {
	*launch.Deployment
	t     *testing.T
	edges []string
	token string
}

// send makes a request and reads its answer to the end.
func (w *world) send(method, url, body string) (*http.Response, []byte, error) {
	request, err := http.NewRequestWithContext(w.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+w.token)
	response, err := w.Client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return response, data, err
}

func (w *world) get(edge string) (*http.Response, []byte) {
	w.t.Helper()
	response, body, err := w.send(http.MethodGet, edge+path, "")
	require.NoError(w.t, err)
	return response, body
}

func TestThreeEdgesKeepAClientToItsRate(t *testing.T) {
	t.Parallel()
	w := &world{Deployment: launch.Deployed(t), t: t}
	w.token = launch.Login(t, w.Client, w.Ready).Token
	w.edges = []string{w.BaseURL, w.Edge(t, "gateway-2"), w.Edge(t, "gateway-3")}
	for _, edge := range w.edges {
		launch.Await(t, time.Minute, edge+" answers", func() bool {
			response, _, err := w.send(http.MethodGet, edge+path, "")
			return err == nil && response.StatusCode == http.StatusNotFound
		})
	}

	began := time.Now()
	set, _, err := w.send(http.MethodPut, w.BaseURL+"/v1/platform/rate_limits/read?client_id="+w.Credentials.ClientID, `{"rate": 100, "burst": 50}`)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, set.StatusCode)
	for _, edge := range w.edges {
		launch.Await(t, effective, "the new rate holds at "+edge, func() bool {
			response, _ := w.get(edge)
			return response.Header.Get("RateLimit-Policy") == `"read";q=50;w=1`
		})
	}
	t.Logf("a changed rate holds at three edges after %s", time.Since(began).Round(time.Millisecond))

	admitted := w.load()
	want := rate * long.Seconds()
	t.Logf("three edges admitted %d requests in %s; the rate is %d a second: %+.1f %%", admitted, long, rate, 100*(float64(admitted)/want-1))
	assert.InEpsilon(t, want, admitted, 0.1)
	w.refuses()

	// Without the platform service each edge has its part of the rate.
	w.Services["platform"].Kill(t)
	admitted = w.load()
	t.Logf("without the platform service: %d requests, %+.1f %%", admitted, 100*(float64(admitted)/want-1))
	assert.InEpsilon(t, want, admitted, 0.25)
}

// load asks more than the rate permits at every edge. It waits until each has
// refused a request, so that nothing is left of the burst, and answers how many
// were admitted from then on.
func (w *world) load() int64 {
	w.t.Helper()
	var admitted atomic.Int64
	var refused [3]atomic.Bool
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i, edge := range w.edges {
		for range 2 {
			wg.Go(func() {
				ticker := time.NewTicker(time.Second / rate)
				defer ticker.Stop()
				for {
					select {
					case <-done:
						return
					case <-ticker.C:
					}
					response, _, err := w.send(http.MethodGet, edge+path, "")
					switch {
					case !assert.NoError(w.t, err):
						return
					case response.StatusCode == http.StatusTooManyRequests:
						refused[i].Store(true)
					case assert.Equal(w.t, http.StatusNotFound, response.StatusCode): // There is no such template.
						admitted.Add(1)
					}
				}
			})
		}
	}
	launch.Await(w.t, time.Minute, "every edge refuses", func() bool {
		return refused[0].Load() && refused[1].Load() && refused[2].Load()
	})
	before := admitted.Load()
	<-time.After(long) // What is measured is a rate.
	counted := admitted.Load() - before
	close(done)
	wg.Wait()
	return counted
}

// refuses looks at the answer to a request that is one too many.
func (w *world) refuses() {
	w.t.Helper()
	launch.Await(w.t, time.Minute, "a refusal", func() bool {
		response, data := w.get(w.BaseURL)
		if response.StatusCode != http.StatusTooManyRequests {
			return false
		}
		assert.Equal(w.t, "1", response.Header.Get("Retry-After"))
		assert.Equal(w.t, `"read";r=0;t=1`, response.Header.Get("RateLimit"))
		assert.Equal(w.t, `"read";q=50;w=1`, response.Header.Get("RateLimit-Policy"))
		var body struct{ ErrorCode, Message string }
		require.NoError(w.t, json.Unmarshal(data, &body))
		assert.Equal(w.t, "WRL-00429", body.ErrorCode)
		assert.Contains(w.t, body.Message, "/v1/platform/limits")
		return true
	})
}
