package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

// Run runs the consumers until the context ends, lets their handlers finish, and returns nil. A
// consumer waits for a missing broker, stream or durable, and creates it if it may. Run returns an
// error only for an invalid consumer.
func (b *Bus) Run(ctx context.Context, consumers ...Consumer) error {
	group, ctx := errgroup.WithContext(ctx)
	named := make(map[string]Consumer, len(consumers))
	for _, c := range consumers {
		c, err := c.withDefaults()
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		named[c.Durable] = c
		b.setHealth(c.Durable, errStarting)
		group.Go(func() error { return b.consume(ctx, c) })
	}
	group.Go(func() error { return b.replayRequested(ctx, named) })
	return group.Wait()
}

// Waits between two attempts to start a consumer.
const (
	firstRestartWait = 50 * time.Millisecond
	maxRestartWait   = 5 * time.Second
)

func (b *Bus) consume(ctx context.Context, c Consumer) error {
	log := b.log.With("consumer", c.Durable)
	wait := backoff.Backoff{First: firstRestartWait, Max: maxRestartWait}
	for ctx.Err() == nil {
		session := clock.Start()
		err := b.session(ctx, c)
		if ctx.Err() != nil {
			break
		}
		b.setHealth(c.Durable, err)
		if !b.conn.IsConnected() {
			b.awaitConnection(ctx)
			wait.Reset()
			continue
		}
		log.WarnContext(ctx, "consumer is interrupted, starting again", "error", err)
		if session.Elapsed() > maxRestartWait {
			wait.Reset()
		}
		_ = wait.Wait(ctx) // The loop checks the context.
	}
	log.InfoContext(ctx, "consumer has drained")
	return nil
}

// session consumes until the context ends or the consumer must be set up again. All its handlers
// have finished when it returns.
func (b *Bus) session(ctx context.Context, c Consumer) error {
	stream, err := b.ensureStream(ctx, c.Stream)
	if err != nil {
		return err
	}
	consumer, err := stream.CreateOrUpdateConsumer(ctx, c.config())
	if err != nil {
		return fmt.Errorf("bus: ensure consumer %s: %w", c.Durable, err)
	}
	status := b.conn.StatusChanged(nats.CONNECTED)
	defer b.conn.RemoveStatusListener(status)

	w := newWorkers(ctx, b, c)
	failed := make(chan error, 1)
	consuming, err := consumer.Consume(w.receive,
		jetstream.PullMaxMessages(c.Prefetch),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
			if mustRestart(err) {
				select {
				case failed <- err:
				default:
				}
			}
		}))
	if err != nil {
		w.stop()
		return fmt.Errorf("bus: consume %s: %w", c.Durable, err)
	}
	b.setHealth(c.Durable, nil)
	err = b.supervise(ctx, consumer, w, status, failed)
	// Stop fetching first. Otherwise returned messages would be delivered here again.
	consuming.Drain()
	w.stop()
	select {
	case <-consuming.Closed():
	case <-time.After(time.Second): // The broker is unavailable, and detects the end itself.
	}
	return err
}

// supervise reports progress to the broker until the session must end, and returns the reason.
func (b *Bus) supervise(ctx context.Context, consumer jetstream.Consumer, w *workers, status <-chan nats.Status, failed <-chan error) error {
	tick := time.NewTicker(w.consumer.AckWait / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case <-status:
			// A broker that comes back may have lost the consumer. The client would wait for it
			// forever.
			if _, err := consumer.Info(ctx); mustRestart(err) {
				return err
			}
		case <-tick.C:
			w.inFlight.inProgress()
			if info, err := consumer.Info(ctx); err == nil {
				b.metrics.pending.WithLabelValues(w.consumer.Durable).Set(float64(info.NumPending))
			}
		}
	}
}

// Pending returns the number of messages that a consumer has not finished: undelivered and
// unacknowledged ones.
func (b *Bus) Pending(ctx context.Context, c Consumer) (uint64, error) {
	if c.invalid != nil {
		return 0, c.invalid
	}
	consumer, err := b.js.Consumer(ctx, c.Stream, c.Durable)
	if err != nil {
		return 0, fmt.Errorf("bus: read the state of consumer %s: %w", c.Durable, err)
	}
	info := consumer.CachedInfo()
	return info.NumPending + uint64(max(info.NumAckPending, 0)), nil
}

// mustRestart reports whether an error means that the consumer must be set up again.
func mustRestart(err error) bool {
	for _, target := range []error{
		jetstream.ErrConsumerDeleted, jetstream.ErrConsumerNotFound, jetstream.ErrConsumerDoesNotExist,
		jetstream.ErrStreamNotFound, jetstream.ErrNoHeartbeat, jetstream.ErrBadRequest,
		jetstream.ErrConnectionClosed, nats.ErrNoResponders, nats.ErrConnectionClosed,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// inFlight holds the received and not yet acknowledged messages of this process.
type inFlight struct {
	mu       sync.Mutex
	messages map[jetstream.Msg]struct{}
}

func (h *inFlight) add(m jetstream.Msg) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages[m] = struct{}{}
}

func (h *inFlight) remove(m jetstream.Msg) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.messages, m)
}

// inProgress asks the broker to extend the wait for the messages in flight.
func (h *inFlight) inProgress() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for m := range h.messages {
		// If the request is lost, the message is redelivered. Handlers allow for that.
		_ = m.InProgress()
	}
}
