package gateway

import (
	"context"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

const (
	// inFlightPerProcessor is how many requests run at a time for each
	// processor: enough that a processor has work while others wait for a
	// service, few enough that what is accepted is answered soon.
	inFlightPerProcessor = 64
	// queuePerSlot is how many requests wait for each that runs.
	queuePerSlot = 2
	// largePerProcessor is how many bytes of large bodies are worked on at a time
	// for each processor.
	largePerProcessor = 1 << 20
	// leastBodyMemory is what bodies may take in any case, in bytes.
	leastBodyMemory = 16 << 20
	// overloadRetry is when a request that was refused may come again.
	overloadRetry = 2 * time.Second
)

// gates bound how many requests the edge works on. Log-ins have a gate of
// their own: they wait for a hash, and a storm of them must not keep those out
// who are logged in.
type gates struct{ work, login *gate }

func newGates(cfg Config) gates {
	return gates{work: newGate(cfg), login: newGate(cfg)}
}

func (g gates) of(r *route) *gate {
	if r.policy.Throttle == optionsv1.Throttle_THROTTLE_LOGIN {
		return g.login
	}
	return g.work
}

// gate lets a bounded number of requests in, and a bounded number wait for a
// bounded time.
type gate struct {
	slots   chan struct{}
	waiting atomic.Int64
	queue   int64
	wait    time.Duration
}

func newGate(cfg Config) *gate {
	return &gate{slots: make(chan struct{}, cfg.MaxInFlight), queue: int64(cfg.MaxQueue), wait: cfg.QueueWait}
}

// enter waits for a slot. Who got one must leave.
// Otherwise too tells what there was too much of.
func (g *gate) enter(ctx context.Context) (too string, bad *fault.Error) {
	select {
	case g.slots <- struct{}{}:
		return "", nil
	default:
	}
	defer g.waiting.Add(-1)
	if g.waiting.Add(1) > g.queue {
		return reasonLine, overloaded()
	}
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case g.slots <- struct{}{}:
		return "", nil
	case <-timer.C:
		return reasonWaited, overloaded()
	case <-ctx.Done():
		return "", fault.FromError(ctx.Err())
	}
}

func (g *gate) leave() { <-g.slots }

func overloaded() *fault.Error {
	return fault.New(fault.CodeOverloaded, http.StatusServiceUnavailable, "The server is busy. Try again in a moment.").
		WithRetryAfter(overloadRetry)
}

// withInFlight fills in the bounds that depend on the machine.
func (c Config) withInFlight() Config {
	if c.MaxInFlight <= 0 {
		c.MaxInFlight = inFlightPerProcessor * runtime.GOMAXPROCS(0)
	}
	if c.MaxQueue <= 0 {
		c.MaxQueue = queuePerSlot * c.MaxInFlight
	}
	if c.QueueWait <= 0 {
		c.QueueWait = time.Second
	}
	if c.BodyMemory <= 0 {
		// A negative limit only asks which one is set.
		c.BodyMemory = max(min(256*c.BodyLimit, debug.SetMemoryLimit(-1)/8), leastBodyMemory)
	}
	if c.LargeBodies <= 0 {
		c.LargeBodies = largePerProcessor * int64(runtime.GOMAXPROCS(0))
	}
	return c
}
