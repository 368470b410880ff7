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

// Run runs the consumers until the context ends, then lets their handlers
// finish and returns nil. A consumer whose broker, stream or durable is missing
// waits for it, and creates what it may; only a consumer that is declared wrong
// is an error.
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

// The waits between two tries to start a consumer.
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
		_ = wait.Wait(ctx) // The loop looks whether it has ended.
	}
	log.InfoContext(ctx, "consumer has drained")
	return nil
}

// session consumes until the context ends or the consumer must be set up anew.
// When it returns, all its handlers have.
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
	// First no more are asked for, or what is given back would come right again.
	consuming.Drain()
	w.stop()
	select {
	case <-consuming.Closed():
	case <-time.After(time.Second): // The broker is away; it finds out by itself.
	}
	return err
}

// supervise keeps the broker informed while the session goes on, and returns
// why it ends.
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
			// A broker that comes back may have lost the consumer, and the client
			// would wait for it for ever.
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

// Pending returns how many messages a consumer has before it: those that it was
// not given yet, and those that it was given and has not acknowledged.
func (b *Bus) Pending(ctx context.Context, c Consumer) (uint64, error) {
	if c.wrong != nil {
		return 0, c.wrong
	}
	consumer, err := b.js.Consumer(ctx, c.Stream, c.Durable)
	if err != nil {
		return 0, fmt.Errorf("bus: look at consumer %s: %w", c.Durable, err)
	}
	info := consumer.CachedInfo()
	return info.NumPending + uint64(max(info.NumAckPending, 0)), nil
}

// mustRestart reports whether an error means that the consumer has to be set up anew.
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

// inFlight is the messages that this process has received and not acknowledged.
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

// inProgress asks the broker to go on waiting for what is in flight.
func (h *inFlight) inProgress() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for m := range h.messages {
		// When it does not arrive, the message comes once more: that is allowed for.
		_ = m.InProgress()
	}
}
