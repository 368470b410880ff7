// Package schedule keeps a copy of what schedules follow from, for queries over
// who is scheduled: the shifts of patterns, who follows which pattern from when
// to when, what people entered, and leave. Scheduling publishes all of it as
// states with revisions; here the largest revision wins, so that events may come
// in any order and repeatedly.
package schedule

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// batch is how many events are applied in one transaction: one can tell of a
// thousand persons.
const batch = 8

// What is done of spans at a time, and how long after they were told. A change of
// a rotation tells of thousands of employees within a second, while others wait
// to see it; what only queries need leaves the machine to them until then.
const (
	spansBatch = 64
	spansAfter = time.Second
)

// Consumers are the consumers that keep the copy.
func Consumers(pool *pgxpool.Pool) []bus.Consumer {
	spans := consumer("commons-spans", "rotaloom.scheduling.spans.changed", pool, applySpans)
	spans.BatchSize, spans.HandleBatch = spansBatch, later(spansAfter, spans.HandleBatch)
	return []bus.Consumer{
		consumer("commons-patterns", "rotaloom.scheduling.pattern.stored", pool, applyPatterns),
		spans,
		consumer("commons-shifts", "rotaloom.scheduling.shifts.entered", pool, applyShifts),
		consumer("commons-leave", "rotaloom.scheduling.leave.taken", pool, applyLeave),
	}
}

// consumer applies the events of one kind.
func consumer[E proto.Message](
	durable, subject string, pool *pgxpool.Pool, apply func(context.Context, pgx.Tx, int64, []E) error,
) bus.Consumer {
	return bus.Consumer{
		Durable: durable, Stream: "SCHEDULING", Subjects: []string{subject}, BatchSize: batch,
		HandleBatch: func(ctx context.Context, messages []bus.Message) error {
			tenantID, ok := tenant.From(ctx)
			if !ok {
				return errors.New("schedule: the context has no tenant")
			}
			events := make([]E, len(messages))
			for i, m := range messages {
				event, err := bus.Decode[E](m)
				if err != nil {
					return err
				}
				events[i] = event
			}
			return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error { return apply(ctx, tx, tenantID, events) })
		},
	}
}

// later lets messages grow as old as wait before they are handled. It never waits
// longer, whatever the broker's clock says, and not at all for those that piled up.
func later(wait time.Duration, handle func(context.Context, []bus.Message) error) func(context.Context, []bus.Message) error {
	return func(ctx context.Context, messages []bus.Message) error {
		if len(messages) > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(min(wait, time.Until(messages[0].Published.Add(wait)))):
			}
		}
		return handle(ctx, messages)
	}
}

// segments are rows of segments, in columns as the database takes them.
type segments struct {
	places       []string
	numbers      []int16
	starts, ends []int32
}

var errPlace = bus.Permanent(errors.New("schedule: an event names a place that it does not have"))
