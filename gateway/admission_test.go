package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, 20*time.Second, time.Millisecond, what)
}

// blocking is a service whose calls wait until they are let go.
func blocking() (f *fakes, entered chan struct{}, letGo func()) {
	entered = make(chan struct{}, 100)
	gone := make(chan struct{})
	f = &fakes{
		getShift: func(ctx context.Context, r *schedulingv1.GetShiftRequest) (*schedulingv1.Shift, error) {
			entered <- struct{}{}
			select {
			case <-gone:
			case <-ctx.Done():
			}
			return &schedulingv1.Shift{Id: proto.Int64(r.GetId())}, nil
		},
		tokens: tokens{issue: func(context.Context, *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
			return &authv1.IssueTokenResponse{AccessToken: "t"}, nil
		}},
	}
	return f, entered, sync.OnceFunc(func() { close(gone) })
}

func TestOverloadIsRefusedAndEndsByItself(t *testing.T) {
	t.Parallel()
	f, entered, letGo := blocking()
	s, edge := serveEdge(t, Config{MaxInFlight: 2, MaxQueue: 1, QueueWait: time.Minute}, f)
	t.Cleanup(letGo)
	accepted := make(chan reply, 3)
	ask := func() { accepted <- call(t, s, "GET", shiftsPath+"/7", "") }
	for range 2 {
		go ask()
	}
	<-entered
	<-entered
	go ask()
	until(t, "one request waits", func() bool { return edge.admission.work.waiting.Load() == 1 })

	re := call(t, s, "GET", shiftsPath+"/7", "")
	assert.Equal(t, http.StatusServiceUnavailable, re.status)
	assert.Equal(t, "2", re.header.Get("Retry-After"))
	assert.Equal(t, contentType, re.header.Get("Content-Type"))
	assert.Contains(t, re.body, `{"errorCode":"`+fault.CodeOverloaded)

	re = call(t, s, "POST", "/api/authentication/access_token", "username=u", "Content-Type", "application/x-www-form-urlencoded")
	assert.Equal(t, http.StatusOK, re.status, "log-ins do not wait for others")
	assert.Equal(t, http.StatusNotFound, call(t, s, "GET", "/v1/nothing", "").status, "what needs no service is returned")

	letGo()
	for range 3 {
		assert.Equal(t, http.StatusOK, (<-accepted).status)
	}
	assert.Equal(t, http.StatusOK, call(t, s, "GET", shiftsPath+"/7", "").status)
}

func TestWaitingIsBounded(t *testing.T) {
	t.Parallel()
	f, entered, letGo := blocking()
	s, edge := serveEdge(t, Config{MaxInFlight: 1, QueueWait: 20 * time.Millisecond}, f)
	t.Cleanup(letGo)
	done := make(chan reply, 1)
	go func() { done <- call(t, s, "GET", shiftsPath+"/7", "") }()
	<-entered
	assert.Equal(t, http.StatusServiceUnavailable, call(t, s, "GET", shiftsPath+"/7", "").status)

	edge.admission.work.wait = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(ctx, "GET", s.URL+shiftsPath+"/7", nil)
		if err == nil {
			_, err = s.Client().Do(r)
		}
		gone <- err
	}()
	until(t, "one request waits", func() bool { return edge.admission.work.waiting.Load() == 1 })
	cancel()
	require.Error(t, <-gone)
	until(t, "a caller that left does not wait", func() bool { return edge.admission.work.waiting.Load() == 0 })
	letGo()
	assert.Equal(t, http.StatusOK, (<-done).status)
}

func TestBoundsFollowTheMachine(t *testing.T) {
	t.Parallel()
	cfg := Config{}.withDefaults()
	assert.Equal(t, 64*runtime.GOMAXPROCS(0), cfg.MaxInFlight)
	assert.Equal(t, 2*cfg.MaxInFlight, cfg.MaxQueue)
	assert.EqualValues(t, 256<<20, cfg.BodyMemory)
	assert.Equal(t, 6, Config{MaxInFlight: 3}.withDefaults().MaxQueue)
}

func TestMemoryOfBodiesIsBounded(t *testing.T) {
	t.Parallel()
	edge, err := newTrusting(Config{BodyMemory: 8 * 2 * firstBuffer}, all(&recorder{}), discard())
	require.NoError(t, err)
	w := httptest.NewRecorder()
	edge.ServeHTTP(w, newHTTPRequest("POST", shiftsPath, `{"label":"`+strings.Repeat("x", 2*firstBuffer)+`"}`))
	assert.Equal(t, http.StatusServiceUnavailable, w.Code)
	assert.NotEmpty(t, w.Header().Get("Retry-After"))
	assert.True(t, edge.bodies.Empty(), "the memory is given back")
	w = httptest.NewRecorder()
	edge.ServeHTTP(w, newHTTPRequest("POST", shiftsPath, `{}`))
	assert.Equal(t, http.StatusInternalServerError, w.Code, "the recorder was reached")
}
