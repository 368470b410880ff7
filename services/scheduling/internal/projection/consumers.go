package projection

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Consumers are the consumers that keep the projections. Each takes the events
// that wait in one transaction, which also starts the propagations that follow
// from them; wake tells the outbox relay of those. Leave edits that were missed
// are asked of their source.
func Consumers(pool *pgxpool.Pool, wake func(), leave LeaveSource) []bus.Consumer {
	return []bus.Consumer{
		consumer("scheduling-persons", "COMMONS", "rotaloom.commons.person.changed",
			store(pool, wake, (*commonsv1.PersonsChanged).GetPersons, applyPersons)),
		consumer("scheduling-employment-terms", "TIMEKEEPING", "rotaloom.timekeeping.employment_term.changed",
			store(pool, wake, itself, applyTerms)),
		consumer("scheduling-memberships", "TIMEKEEPING", "rotaloom.timekeeping.membership.changed",
			store(pool, wake, (*timekeepingv1.MembershipsChanged).GetPersons, applyMemberships)),
		consumer("scheduling-leave-edits", "TIMEKEEPING", "rotaloom.timekeeping.leave_edit.changed",
			leaveEdits(pool, wake, leave)),
	}
}

func consumer(durable, stream, subject string, handle func(context.Context, []bus.Message) error) bus.Consumer {
	return bus.Consumer{Durable: durable, Stream: stream, Subjects: []string{subject}, HandleBatch: handle}
}

// itself is the state that an event is.
func itself(event *timekeepingv1.EmploymentTermChanged) []*timekeepingv1.EmploymentTermChanged {
	return []*timekeepingv1.EmploymentTermChanged{event}
}

// store returns the handler that applies the states in events of one kind.
func store[E proto.Message, S any](
	pool *pgxpool.Pool, wake func(), statesOf func(E) []S,
	apply func(context.Context, pgx.Tx, int64, []S) error,
) func(context.Context, []bus.Message) error {
	return func(ctx context.Context, messages []bus.Message) error {
		var states []S
		for _, m := range messages {
			event, err := bus.Decode[E](m)
			if err != nil {
				return err
			}
			states = append(states, statesOf(event)...)
		}
		tenantID, err := tenantOf(ctx)
		if err != nil {
			return err
		}
		defer wake()
		return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
			return apply(ctx, tx, tenantID, states)
		})
	}
}
