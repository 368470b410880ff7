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

// interruption is how long a consumer that has worked may be away before that counts:
// it is set up anew within seconds.
const interruption = 10 * time.Second

// health is how a consumer of this process is.
type health struct {
	err    error
	since  clock.Stopwatch
	worked bool
}

var errStarting = errors.New("it is being set up")

// setHealth remembers how a consumer is: err says why it is not there.
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

// Check says which consumers of this process do not exist at the broker, or nil. That
// the broker is away is no reason: events wait.
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

// awaitConnection waits for a connection that is away. The handlers of the connection
// have said so, once.
func (b *Bus) awaitConnection(ctx context.Context) {
	status := b.conn.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer b.conn.RemoveStatusListener(status)
	switch {
	case b.conn.IsConnected():
	case b.conn.IsClosed():
		_ = backoff.Sleep(ctx, maxRestartWait) // Nothing comes back; whoever closed it ends the context.
	default:
		select {
		case <-ctx.Done():
		case <-status:
		}
	}
}
