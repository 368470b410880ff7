package bus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

// interruption is how long a consumer that worked may be interrupted before it counts as unhealthy:
// setting it up again takes seconds.
const interruption = 10 * time.Second

// health is the state of a consumer of this process.
type health struct {
	err    error
	since  clock.Stopwatch
	worked bool
}

var errStarting = errors.New("it is being set up")

// setHealth records the state of a consumer; err is the reason why it does not run.
func (b *Bus) setHealth(durable string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.consumers[durable]
	if err == nil {
		h.worked = true
	}
	if h.err == nil || err == nil {
		h.since = clock.Start()
	}
	h.err = err
	b.consumers[durable] = h
}

// Check returns an error that names the consumers of this process that do not run, or nil. An
// unavailable broker is not an error: events wait.
func (b *Bus) Check() error {
	if !b.conn.IsConnected() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, durable := range slices.Sorted(maps.Keys(b.consumers)) {
		h := b.consumers[durable]
		if h.err != nil && (!h.worked || h.since.Elapsed() > interruption) {
			errs = append(errs, fmt.Errorf("consumer %s: %w", durable, h.err))
		}
	}
	return errors.Join(errs...)
}

// awaitConnection waits for a lost connection. The handlers of the connection log the loss.
func (b *Bus) awaitConnection(ctx context.Context) {
	status := b.conn.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer b.conn.RemoveStatusListener(status)
	switch {
	case b.conn.IsConnected():
	case b.conn.IsClosed():
		_ = backoff.Sleep(ctx, maxRestartWait) // The connection does not come back. The code that closed it ends the context.
	default:
		select {
		case <-ctx.Done():
		case <-status:
		}
	}
}
