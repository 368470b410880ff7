package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.opentelemetry.io/otel/trace"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/panics"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/tracing"
)

// delivery is a message together with the handle for acknowledging it.
type delivery struct {
	Message
	raw jetstream.Msg
}

// handle handles a batch of fetched messages: new ones in batches by tenant, redelivered ones
// alone, because one of them may have failed its batch or killed its process.
func (w *workers) handle(fetched []jetstream.Msg) {
	batches := map[int64][]delivery{}
	for _, raw := range fetched {
		d, err := read(raw)
		switch {
		case err != nil:
			w.deadLetter(d, err)
		case d.Delivery > 1:
			w.handleRedelivered(d)
		default:
			d.Attempt = 1
			batches[d.Tenant] = append(batches[d.Tenant], d)
		}
	}
	for _, batch := range batches {
		w.process(batch)
	}
}

// handleRedelivered handles a redelivered message. Usually a process died that had it, or its
// handling failed; the store has the number of failures. After MaxDeliver deliveries, the store
// counts beginnings too: a message that kills the process each time never counts as failed.
func (w *workers) handleRedelivered(d delivery) {
	ctx := tenantContext(w.ctx, d.Message)
	var failed, begun int
	err := w.retryTransient(func() (err error) {
		failed, begun, err = w.bus.deadLetters.BeginAttempt(ctx, w.consumer.Durable, d.Message, d.Delivery > w.consumer.MaxDeliver)
		return err
	})
	d.Attempt = failed + 1
	switch {
	case err != nil:
		w.processFailed(d, err)
	case begun > w.consumer.MaxDeliver:
		w.deadLetter(d, errors.New("bus: begun too often without an end: handling it may end the process"))
	default:
		w.process([]delivery{d})
	}
}

func read(raw jetstream.Msg) (delivery, error) {
	d := delivery{raw: raw, Message: Message{Subject: raw.Subject(), Payload: raw.Data()}}
	if meta, err := raw.Metadata(); err == nil {
		d.Delivery, d.Published = int(meta.NumDelivered), meta.Timestamp.UTC()
	}
	return d, d.readHeaders(raw.Headers())
}

// process handles messages of one tenant and acknowledges them.
func (w *workers) process(batch []delivery) {
	err := w.retryTransient(func() error { return w.attemptBatch(batch) })
	if err == nil {
		for _, d := range batch {
			w.clearAttempts(d)
			w.acknowledge(d, "done", d.raw.Ack)
		}
		return
	}
	if len(batch) > 1 {
		for _, d := range batch {
			w.process([]delivery{d})
		}
		return
	}
	w.processFailed(batch[0], err)
}

func (w *workers) processFailed(d delivery, err error) {
	log := w.bus.log.With("consumer", w.consumer.Durable, "event", d.Event, "event_id", d.ID, "tenant", d.Tenant, "delivery", d.Delivery)
	switch {
	case w.bus.transient(err):
		// The session stopped while waiting; another process continues.
		w.acknowledge(d, "returned", d.raw.Nak)
	case isPermanent(err) || w.fail(d) >= w.consumer.MaxDeliver:
		w.deadLetter(d, err)
	default:
		delay := w.consumer.delay(d.Attempt)
		log.WarnContext(w.ctx, "handling an event failed; trying again", "after", delay, "error", err)
		w.acknowledge(d, "retried", func() error { return d.raw.NakWithDelay(delay) })
	}
}

// fail records a failure and returns the number of failures. If it cannot record the failure, it
// returns d.Attempt.
func (w *workers) fail(d delivery) int {
	failed, ctx := d.Attempt, tenantContext(w.ctx, d.Message)
	err := w.retryTransient(func() error {
		noted, err := w.bus.deadLetters.FailAttempt(ctx, w.consumer.Durable, d.Message)
		if err == nil {
			failed = noted
		}
		return err
	})
	if err != nil {
		w.bus.log.WarnContext(w.ctx, "the failure of an event could not be recorded", "consumer", w.consumer.Durable, "event_id", d.ID, "error", err)
	}
	return failed
}

// clearAttempts removes the failure records of a message. Records that stay are purged once the
// broker no longer has the message.
func (w *workers) clearAttempts(d delivery) {
	if d.Delivery <= 1 {
		return
	}
	if err := w.bus.deadLetters.ClearAttempts(tenantContext(w.ctx, d.Message), w.consumer.Durable, d.Message); err != nil {
		w.bus.log.DebugContext(w.ctx, "the failure records of an event could not be removed", "consumer", w.consumer.Durable, "event_id", d.ID, "error", err)
	}
}

// deadLetter moves a message to the dead letters.
func (w *workers) deadLetter(d delivery, cause error) {
	err := w.retryTransient(func() error { return w.bus.putDeadLetter(w.ctx, w.consumer.Durable, d.Message, cause) })
	if err != nil {
		w.bus.log.ErrorContext(w.ctx, "event could not be stored as a dead letter", "consumer", w.consumer.Durable, "event_id", d.ID, "error", err)
		w.acknowledge(d, "retried", func() error { return d.raw.NakWithDelay(w.consumer.delay(max(d.Attempt, 1))) })
		return
	}
	w.clearAttempts(d)
	w.acknowledge(d, "dead", func() error { return d.raw.TermWithReason("dead letter") })
}

func (w *workers) acknowledge(d delivery, result string, say func() error) {
	w.inFlight.remove(d.raw)
	w.bus.metrics.handled.WithLabelValues(w.consumer.Durable, result).Inc()
	if err := say(); err != nil {
		w.bus.log.DebugContext(w.ctx, "the broker was not notified; it will redeliver the event", "consumer", w.consumer.Durable, "event_id", d.ID, "error", err)
	}
}

// attemptBatch calls the handler for messages of one tenant.
func (w *workers) attemptBatch(batch []delivery) error {
	messages := make([]Message, len(batch))
	for i, d := range batch {
		messages[i] = d.Message
	}
	took := clock.Start()
	defer func() {
		w.bus.metrics.duration.WithLabelValues(w.consumer.Durable).Observe(took.Elapsed().Seconds())
	}()
	return w.bus.call(w.ctx, w.consumer, messages)
}

// call runs the handler in the context of the messages' tenant, with the time on the tenant's clock.
// It turns a panic into an error.
func (b *Bus) call(ctx context.Context, c Consumer, messages []Message) (err error) {
	defer panics.ToError(&err)
	if ctx, err = b.clocks.In(tenant.With(ctx, messages[0].Tenant)); err != nil {
		return fmt.Errorf("bus: read the clock of the tenant: %w", err)
	}
	ctx = obs.WithRequest(ctx, messages[0].Request)
	ctx = context.WithValue(ctx, causesKey{}, messages)
	if !tracing.Enabled() {
		return c.HandleBatch(ctx, messages)
	}
	ctx, span := tracing.Begin(ctx, "process "+c.Durable, trace.SpanKindConsumer)
	for _, other := range messages[1:] {
		span.LinkTo(other.Request.Traceparent)
	}
	failure := "failed" // Also for a panic.
	defer func() { span.End(failure) }()
	if err = c.HandleBatch(ctx, messages); err == nil {
		failure = ""
	}
	return err
}

type causesKey struct{}

// RequestIDs returns the distinct ids of the requests that caused the work of a context: those of
// all messages in a handler of several, otherwise the id of the context's request.
func RequestIDs(ctx context.Context) []string {
	messages, ok := ctx.Value(causesKey{}).([]Message)
	if !ok {
		messages = []Message{{Request: obs.RequestFrom(ctx)}}
	}
	var ids []string
	for _, m := range messages {
		if id := m.Request.ID; id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Waits between two attempts while a dependency is unavailable.
const (
	firstTransientWait = 50 * time.Millisecond
	maxTransientWait   = 5 * time.Second
)

// retryTransient repeats fn while its error is transient and the session runs.
func (w *workers) retryTransient(fn func() error) error {
	wait := backoff.Backoff{First: firstTransientWait, Max: maxTransientWait}
	for {
		err := fn()
		if err == nil || !w.bus.transient(err) {
			return err
		}
		w.bus.log.WarnContext(w.ctx, "a dependency of the consumer is unavailable; trying again", "consumer", w.consumer.Durable, "error", err)
		timer := time.NewTimer(wait.Next())
		select {
		case <-w.stopping:
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}
