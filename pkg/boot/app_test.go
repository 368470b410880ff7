package boot_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/obs"
)

// eventLog writes down what happens, in order.
type eventLog struct {
	mu    sync.Mutex
	lines []string
}

func (j *eventLog) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *eventLog) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.lines...)
}

func newApp(stopTimeout time.Duration) *boot.App {
	return boot.NewApp(boot.Common{StopTimeout: stopTimeout}, discardLogger, prometheus.NewRegistry())
}

func state(t *testing.T, app *boot.App) boot.State {
	t.Helper()
	s, _ := app.Ready.Failing(t.Context())
	return s
}

func TestPartsStopInOrder(t *testing.T) {
	t.Parallel()
	app, j := newApp(5*time.Second), &eventLog{}
	part := func(stage boot.Stage, name string) {
		app.Go(stage, name, func(ctx context.Context) error {
			<-ctx.Done()
			j.add(name + " " + string(state(t, app)))
			return ctx.Err()
		})
	}
	part(boot.StageRelay, "relay")
	part(boot.StageServers, "server")
	part(boot.StageEdge, "edge")
	part(boot.StageConsumers, "consumer")
	for _, name := range []string{"pool", "nats"} {
		app.OnClose(name, func(context.Context) error { j.add(name); return nil })
	}
	assert.Equal(t, boot.StateStarting, state(t, app))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- app.Run(ctx) }()
	require.Eventually(t, func() bool { return state(t, app) == boot.StateReady }, 20*time.Second, time.Millisecond)
	cancel()
	require.NoError(t, <-done)
	assert.Equal(t, []string{"edge stopping", "consumer stopping", "server stopping", "relay stopping", "nats", "pool"}, j.all())
}

func TestAPartThatEndsStopsTheProgram(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, err := range []error{broken, nil} {
		app, j := newApp(5*time.Second), &eventLog{}
		app.Go(boot.StageServers, "server", func(ctx context.Context) error {
			<-ctx.Done()
			j.add("server")
			return nil
		})
		app.Go(boot.StageEdge, "edge", func(context.Context) error { return err })
		app.OnClose("pool", func(context.Context) error { j.add("pool"); return errors.New("pool is stuck") })
		got := app.Run(t.Context())
		require.ErrorContains(t, got, "edge ended")
		require.ErrorContains(t, got, "closing pool: pool is stuck")
		if err != nil {
			require.ErrorIs(t, got, broken)
		}
		assert.Equal(t, []string{"server", "pool"}, j.all())
	}
}

func TestStoppingIsBounded(t *testing.T) {
	t.Parallel()
	app, j := newApp(20*time.Millisecond), &eventLog{}
	release, ended := make(chan struct{}), make(chan struct{})
	app.Go(boot.StageEdge, "stubborn", func(context.Context) error {
		defer close(ended)
		<-release
		return nil
	})
	app.Go(boot.StageEdge, "failing", func(ctx context.Context) error {
		<-ctx.Done()
		return errors.New("cannot stop")
	})
	app.Go(boot.StageRelay, "relay", func(ctx context.Context) error {
		<-ctx.Done()
		j.add("relay")
		return ctx.Err()
	})
	app.OnClose("slow", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := app.Run(ctx)
	require.ErrorContains(t, err, "stopping stubborn: not done after 20ms")
	require.ErrorContains(t, err, "stopping failing: cannot stop")
	require.ErrorContains(t, err, "closing slow")
	assert.Equal(t, []string{"relay"}, j.all(), "the others stop nevertheless")
	close(release)
	<-ended
}

func TestAdminListener(t *testing.T) {
	t.Parallel()
	ready, registry := boot.NewChecks(), obs.NewRegistry()
	server := httptest.NewServer(boot.AdminHandler(boot.AdminConfig{}, ready, registry))
	defer server.Close()
	get := func(path string) (int, map[string]any) {
		resp, err := server.Client().Get(server.URL + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		var body map[string]any
		_ = json.NewDecoder(resp.Body).Decode(&body)
		return resp.StatusCode, body
	}
	code, _ := get("/livez")
	assert.Equal(t, http.StatusOK, code)
	code, body := get("/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Equal(t, "starting", body["state"])

	ready.SetState(boot.StateReady)
	code, _ = get("/readyz")
	assert.Equal(t, http.StatusOK, code)

	ready.Add("database", func(context.Context) error { return errors.New("no route to host") })
	ready.Add("schema", func(context.Context) error { return nil })
	code, body = get("/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Equal(t, map[string]any{"database": "no route to host"}, body["failing"])
	assert.Equal(t, "failing", body["state"])

	code, _ = get("/metrics")
	assert.Equal(t, http.StatusOK, code)
	for _, path := range []string{"/nothing", "/debug/pprof/", "/debug/pprof/goroutine", "/debug/pprof/cmdline"} {
		t.Run(path, func(t *testing.T) {
			code, _ = get(path)
			assert.Equal(t, http.StatusNotFound, code, path)
		})
	}
}

func TestProfilesAreServedWhenAskedFor(t *testing.T) {
	t.Parallel()
	handler := boot.AdminHandler(boot.AdminConfig{Profiles: true}, boot.NewChecks(), obs.NewRegistry())
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine"} {
		t.Run(path, func(t *testing.T) {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1:9090"+path, nil))
			assert.Equal(t, http.StatusOK, w.Code, path)
		})
	}
}

// A foreign web page whose host name resolves to this address learns nothing.
func TestTheAdminListenerKnowsItsNames(t *testing.T) {
	t.Parallel()
	handler := boot.AdminHandler(boot.AdminConfig{Hosts: []string{"edge.internal"}}, boot.NewChecks(), obs.NewRegistry())
	for host, status := range map[string]int{
		"127.0.0.1": 200, "127.0.0.1:9090": 200, "[::1]:9090": 200, "[::1]": 200, "10.1.2.3:9090": 200, "localhost:9090": 200,
		"Edge.internal:9090": 200, "edge.internal.": 200,
		"evil.example": 421, "evil.example:9090": 421, "localhost.evil.example": 421, "": 421, "127.0.0.1.evil.example": 421,
	} {
		t.Run(host, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/livez", nil)
			r.Host = host
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			assert.Equal(t, status, w.Code, "%q", host)
		})
	}
}

func TestChecksAreAskedOnceForMany(t *testing.T) {
	t.Parallel()
	ready, asked := boot.NewChecks(), 0
	ready.Add("database", func(ctx context.Context) error {
		asked++
		_, bounded := ctx.Deadline()
		assert.True(t, bounded)
		return ctx.Err()
	})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		_, failing := ready.Failing(gone)
		assert.Empty(t, failing, "one who goes away does not make it fail")
	}
	assert.Equal(t, 1, asked)
}

// Requests end before the stop timeout, so that the server has time to close its connections.
func TestRequestTimeIsWithinTheStopTimeout(t *testing.T) {
	t.Parallel()
	for stopTimeout, expected := range map[time.Duration]time.Duration{
		20 * time.Second:       19 * time.Second,
		2 * time.Second:        time.Second,
		500 * time.Millisecond: 250 * time.Millisecond,
	} {
		t.Run(stopTimeout.String(), func(t *testing.T) {
			t.Parallel()
			require.Equal(t, expected, newApp(stopTimeout).RequestTime())
		})
	}
}
