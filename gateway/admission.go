package gateway

import (
	"context"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/rotaloom/rotaloom/gateway/idempotencykey"
	"github.com/rotaloom/rotaloom/gateway/metrics"
	"github.com/rotaloom/rotaloom/pkg/fault"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

const (
	// inFlightPerProcessor is the number of requests that run at a time for each processor. It is large enough
	// to keep a processor busy while requests wait for a service, and small enough that an admitted request is
	// served soon.
	inFlightPerProcessor = 64
	// queuePerSlot is the number of requests that wait for each running one.
	queuePerSlot = 2
	// largePerProcessor is the number of bytes of large bodies that are processed at a time for each processor.
	largePerProcessor = 1 << 20
	// minBodyMemory is the lower bound of the default memory for request bodies, in bytes.
	minBodyMemory = 16 << 20
	// overloadRetry is the Retry-After of a request that was refused for overload.
	overloadRetry = 2 * time.Second
)

// admission bounds the number of requests that the edge processes at a time. Log-ins have a queue of their own:
// they wait for a password hash, and a storm of them must not block users who are logged in.
type admission struct {
	work, login *admissionQueue
	metrics     *metrics.Edge
}

func newAdmission(cfg Config, m *metrics.Edge) *admission {
	return &admission{work: newAdmissionQueue(cfg), login: newAdmissionQueue(cfg), metrics: m}
}

// admit is the step that waits for a slot before it runs a request.
func (a *admission) admit(next handler) handler {
	return func(ctx context.Context, w *response, r *request) {
		queue := a.work
		if r.route.Policy.Throttle == optionsv1.Throttle_THROTTLE_LOGIN {
			queue = a.login
		}
		reason, bad := queue.enter(ctx)
		if bad != nil {
			if reason != "" {
				a.metrics.Overload(r.class(), reason)
			}
			w.fail(bad)
			return
		}
		defer queue.leave()
		next(ctx, w, r)
	}
}

// admissionQueue runs a bounded number of requests at a time. A bounded number of further requests waits, for a
// bounded time.
type admissionQueue struct {
	slots   chan struct{}
	waiting atomic.Int64
	queue   int64
	wait    time.Duration
}

func newAdmissionQueue(cfg Config) *admissionQueue {
	return &admissionQueue{slots: make(chan struct{}, cfg.MaxInFlight), queue: int64(cfg.MaxQueue), wait: cfg.QueueWait}
}

// enter waits for a slot. After success, the caller must call leave. Otherwise reason names the exhausted
// resource, for the metric; it is "" when ctx ended.
func (q *admissionQueue) enter(ctx context.Context) (reason string, bad *fault.Error) {
	select {
	case q.slots <- struct{}{}:
		return "", nil
	default:
	}
	defer q.waiting.Add(-1)
	if q.waiting.Add(1) > q.queue {
		return metrics.ReasonLine, overloadFault()
	}
	timer := time.NewTimer(q.wait)
	defer timer.Stop()
	select {
	case q.slots <- struct{}{}:
		return "", nil
	case <-timer.C:
		return metrics.ReasonWaited, overloadFault()
	case <-ctx.Done():
		return "", fault.FromError(ctx.Err())
	}
}

func (q *admissionQueue) leave() { <-q.slots }

func overloadFault() *fault.Error {
	return fault.New(fault.CodeOverloaded, http.StatusServiceUnavailable, "The server is busy. Try again in a moment.").
		WithRetryAfter(overloadRetry)
}

// deadline is the step that bounds the time of a request. A request with an Idempotency-Key continues after its
// client has disconnected, because the client will repeat it and ask for the response.
func deadline(timeout time.Duration) step {
	return func(next handler) handler {
		return func(ctx context.Context, w *response, r *request) {
			if len(r.Header[idempotencykey.Header]) > 0 && r.route.TakesKey() {
				ctx = context.WithoutCancel(ctx)
			}
			ctx, cancel := context.WithDeadline(ctx, r.began.Add(timeout))
			defer cancel()
			next(ctx, w, r)
		}
	}
}

// withInFlight sets the default limits that depend on the machine.
func (c Config) withInFlight() Config {
	if c.MaxInFlight <= 0 {
		c.MaxInFlight = inFlightPerProcessor * runtime.GOMAXPROCS(0)
	}
	if c.MaxQueue <= 0 {
		c.MaxQueue = queuePerSlot * c.MaxInFlight
	}
	if c.BodyMemory <= 0 {
		// A negative limit changes nothing and returns the current one.
		c.BodyMemory = max(min(256*c.BodyLimit, debug.SetMemoryLimit(-1)/8), minBodyMemory)
	}
	if c.LargeBodies <= 0 {
		c.LargeBodies = largePerProcessor * int64(runtime.GOMAXPROCS(0))
	}
	return c
}
