package bus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// maxReason bounds the error text of a dead letter, in bytes.
const maxReason = 2000

// replayPage is the number of dead letters that are read at once.
const replayPage = 100

func (b *Bus) putDeadLetter(ctx context.Context, consumer string, m Message, cause error) error {
	if err := b.deadLetters.Put(tenantContext(ctx, m), DeadLetter{Consumer: consumer, Message: m, Reason: reasonText(cause)}); err != nil {
		return fmt.Errorf("bus: put dead letter: %w", err)
	}
	b.metrics.dead.WithLabelValues(consumer).Inc()
	b.log.ErrorContext(ctx, "event was given up and stored as a dead letter",
		"consumer", consumer, "event", m.Event, "event_id", m.ID, "tenant", m.Tenant, "error", cause)
	return nil
}

// tenantContext returns the context of a message's tenant. A message without a tenant is visible
// only to work for all tenants.
func tenantContext(ctx context.Context, m Message) context.Context {
	if m.Tenant > 0 {
		return tenant.With(ctx, m.Tenant)
	}
	return tenant.All(ctx)
}

// replayEvery is the time between two looks for requested replays.
const replayEvery = 2 * time.Second

// replayRequested replays the dead letters that an operator requested, until the context ends.
func (b *Bus) replayRequested(ctx context.Context, consumers map[string]Consumer) error {
	names := slices.Sorted(maps.Keys(consumers))
	for backoff.Sleep(ctx, replayEvery) == nil {
		letters, err := b.deadLetters.ReplayRequested(tenant.All(ctx), names, replayPage)
		if err != nil {
			if ctx.Err() == nil {
				b.log.DebugContext(ctx, "requested replays could not be read", "error", err)
			}
			continue
		}
		for _, letter := range letters {
			if err := b.replay(ctx, consumers[letter.Consumer], letter); err != nil {
				b.log.WarnContext(ctx, "dead letter could not be replayed; trying again", "consumer", letter.Consumer, "event_id", letter.Message.ID, "error", err)
				break
			}
		}
	}
	return nil
}

// replay tries one letter. An error means that the letter is not the cause.
func (b *Bus) replay(ctx context.Context, c Consumer, letter DeadLetter) error {
	err := errors.New("bus: it has no tenant")
	if letter.Message.Tenant > 0 {
		letter.Message.Attempt = 1
		err = b.call(ctx, c, []Message{letter.Message})
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && b.transient(err):
		return fmt.Errorf("bus: replay: %w", err)
	case err != nil:
		b.log.WarnContext(ctx, "dead letter failed again", "consumer", c.Durable, "event_id", letter.Message.ID, "error", err)
		letter.Reason = reasonText(err)
		if err := b.deadLetters.ReplayFailed(tenantContext(ctx, letter.Message), letter); err != nil {
			return fmt.Errorf("bus: keep dead letter: %w", err)
		}
		return nil
	}
	if err := b.deadLetters.Remove(tenantContext(ctx, letter.Message), letter); err != nil {
		return fmt.Errorf("bus: remove dead letter: %w", err)
	}
	b.log.InfoContext(ctx, "dead letter was replayed", "consumer", c.Durable, "event_id", letter.Message.ID)
	return nil
}

// reasonText returns the text of an error, truncated to maxReason bytes. The cut removes a partial
// character, which a database would reject.
func reasonText(err error) string {
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), maxReason)], "")
}
