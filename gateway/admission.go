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
	// inFlightPerProcessor is how many requests run at a time for each
	// processor: enough that a processor has work while others wait for a
	// service, few enough that what is accepted is served soon.
	inFlightPerProcessor = 64
	// queuePerSlot is how many requests wait for each that runs.
	queuePerSlot = 2
	// largePerProcessor is how many bytes of large bodies are worked on at a time
	// for each processor.
	largePerProcessor = 1 << 20
	// minBodyMemory is what bodies may take in any case, in bytes.
	minBodyMemory = 16 << 20
	// overloadRetry is when a request that was refused may come again.
	overloadRetry = 2 * time.Second
)

// admission bounds how many requests the edge works on. Log-ins are bounded for
// themselves: they wait for a hash, and a storm of them must not keep those out
// who are logged in.
type admission struct {
	work, login *admissionQueue
	metrics     *metrics.Edge
}

func newAdmission(cfg Config, m *metrics.Edge) *admission {
	return &admission{work: newAdmissionQueue(cfg), login: newAdmissionQueue(cfg), metrics: m}
}

// admit is the step that lets requests in as soon as they may run.
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

// admissionQueue lets a bounded number of requests in, and a bounded number wait for a
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

// enter waits for a slot. Who got one must leave.
// Otherwise reason says what there was too much of.
func (q *admissionQueue) enter(ctx context.Context) (reason string, bad *fault.Error) {
	select {
	case q.slots <- struct{}{}:
		return "", nil
	default:
	}
	defer q.waiting.Add(-1)
	if q.waiting.Add(1) > q.queue {
		return metrics.ReasonLine, overloaded()
	}
	timer := time.NewTimer(q.wait)
	defer timer.Stop()
	select {
	case q.slots <- struct{}{}:
		return "", nil
	case <-timer.C:
		return metrics.ReasonWaited, overloaded()
	case <-ctx.Done():
		return "", fault.FromError(ctx.Err())
	}
}

func (q *admissionQueue) leave() { <-q.slots }

func overloaded() *fault.Error {
	return fault.New(fault.CodeOverloaded, http.StatusServiceUnavailable, "The server is busy. Try again in a moment.").
		WithRetryAfter(overloadRetry)
}

// deadline is the step that bounds the time of a request. One with an Idempotency-Key
// goes on when its client has gone: its response is what the client will ask for again.
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

// withInFlight fills in the bounds that depend on the machine.
func (c Config) withInFlight() Config {
	if c.MaxInFlight <= 0 {
		c.MaxInFlight = inFlightPerProcessor * runtime.GOMAXPROCS(0)
	}
	if c.MaxQueue <= 0 {
		c.MaxQueue = queuePerSlot * c.MaxInFlight
	}
	if c.BodyMemory <= 0 {
		// A negative limit only asks which one is set.
		c.BodyMemory = max(min(256*c.BodyLimit, debug.SetMemoryLimit(-1)/8), minBodyMemory)
	}
	if c.LargeBodies <= 0 {
		c.LargeBodies = largePerProcessor * int64(runtime.GOMAXPROCS(0))
	}
	return c
}
