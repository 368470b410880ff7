// Package throttle tests the rate limits of clients, with every program as a process of its own and
// several edges.
package throttle

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

const (
	rate = 100 // requests per second
	// window is the approximate length of a counting window, and maxWindows bounds the repetitions.
	window     = 6 * time.Second
	maxWindows = 10
	// effective is how soon a changed rate is effective on all edges.
	effective = 10 * time.Second
	path      = "/v1/scheduling/shift_templates/1"
)

type fixture struct {
	*launch.Deployment
	t     *testing.T
	edges []string
	token string
}

// send sends a request and reads its response to the end.
func (w *fixture) send(method, url, body string) (*http.Response, []byte, error) {
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

func (w *fixture) get(edge string) (*http.Response, []byte) {
	w.t.Helper()
	response, body, err := w.send(http.MethodGet, edge+path, "")
	require.NoError(w.t, err)
	return response, body
}

func TestThreeEdgesKeepAClientToItsRate(t *testing.T) {
	t.Parallel()
	w := &fixture{Deployment: launch.Deployed(t), t: t}
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
	t.Logf("three edges admitted %.1f requests a second; the rate is %d: %+.1f %%", admitted, rate, 100*(admitted/rate-1))
	assert.InEpsilon(t, rate, admitted, 0.1)
	w.refuses()

	// Without the platform service each edge has its part of the rate.
	w.Services["platform"].Kill(t)
	admitted = w.load()
	t.Logf("without the platform service: %.1f requests a second, %+.1f %%", admitted, 100*(admitted/rate-1))
	assert.InEpsilon(t, rate, admitted, 0.25)
}

// load sends more requests than the rate permits to every edge, and returns how many were admitted
// each second. A busy machine may send fewer than are permitted, which proves nothing: then load
// measures again.
func (w *fixture) load() float64 {
	w.t.Helper()
	load := newLoad(w)
	defer load.end()
	launch.Await(w.t, time.Minute, "every edge refuses, so that nothing is left of the burst", func() bool {
		return load.now().refusedEverywhere(1)
	})
	for range maxWindows {
		before, began := load.now(), time.Now()
		<-time.After(window) // The test measures a rate, so it counts for a fixed time.
		during, took := load.now().since(before), time.Since(began)
		if during.refusedEverywhere(rate) {
			return float64(during.admitted) / took.Seconds()
		}
		w.t.Logf("too little was asked within %s: %+v", took, during)
	}
	require.FailNow(w.t, "the machine cannot ask for more than is permitted")
	return 0
}

// refuses requires that a request beyond the rate is refused. One caller alone may be too slow for
// the rate, so others send requests at the same time.
func (w *fixture) refuses() {
	w.t.Helper()
	load := newLoad(w)
	defer load.end()
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
