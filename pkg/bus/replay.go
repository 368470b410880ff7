package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// maxReason bounds the bytes of an error that are kept with a dead letter.
const maxReason = 2000

// replayPage is how many dead letters are read at once.
const replayPage = 100

func (b *Bus) putLetter(ctx context.Context, consumer string, m Message, cause error) error {
	reason := cause.Error()
	// The cut may fall inside a character, which a database would refuse.
	reason = strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
	if err := b.letters.Put(letterContext(ctx, m), DeadLetter{Consumer: consumer, Message: m, Reason: reason}); err != nil {
		return fmt.Errorf("bus: put dead letter: %w", err)
	}
	b.metrics.dead.WithLabelValues(consumer).Inc()
	b.log.ErrorContext(ctx, "event was given up and is among the dead letters",
		"consumer", consumer, "event", m.Event, "event_id", m.ID, "tenant", m.Tenant, "error", cause)
	return nil
}

// letterContext is the context of a message's tenant. One without a tenant
// belongs to nobody, and only work for all may see it.
func letterContext(ctx context.Context, m Message) context.Context {
	if m.Tenant > 0 {
		return tenant.With(ctx, m.Tenant)
	}
	return tenant.All(ctx)
}

// Replay gives the dead letters of a consumer to its handler once more, oldest
// first, and forgets those that it takes. It returns how many it took and how
// many it refused again; an error means that it stopped early. The consumer may
// be running meanwhile, here or elsewhere.
func (b *Bus) Replay(ctx context.Context, c Consumer) (taken, refused int, err error) {
	c, err = c.withDefaults()
	if err != nil {
		return 0, 0, err
	}
	for last := int64(0); ; {
		letters, err := b.letters.List(tenant.All(ctx), c.Durable, last, replayPage)
		if err != nil {
			return taken, refused, fmt.Errorf("bus: list dead letters: %w", err)
		}
		for _, letter := range letters {
			last = letter.ID
			took, err := b.replay(ctx, c, letter)
			if err != nil {
				return taken, refused, err
			}
			if took {
				taken++
			} else {
				refused++
			}
		}
		if len(letters) < replayPage {
			return taken, refused, nil
		}
	}
}

// replay tries one letter. What is wrong with it is logged; an error says that
// it is not the letter's fault.
func (b *Bus) replay(ctx context.Context, c Consumer, letter DeadLetter) (bool, error) {
	err := errors.New("bus: it has no tenant")
	if letter.Message.Tenant > 0 {
		err = call(ctx, c, []Message{letter.Message})
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil && b.transient(err) {
		return false, fmt.Errorf("bus: replay: %w", err)
	}
	if err != nil {
		b.log.WarnContext(ctx, "dead letter was refused again", "consumer", c.Durable, "event_id", letter.Message.ID, "error", err)
		return false, nil
	}
	if err := b.letters.Remove(letterContext(ctx, letter.Message), letter); err != nil {
		return false, fmt.Errorf("bus: remove dead letter: %w", err)
	}
	return true, nil
}
