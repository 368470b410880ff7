package person

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Consumer keeps the projection up to date with the events of commons, and then
// hands the states on to next.
func Consumer(db pg.Querier, next func(ctx context.Context, tenantID int64, states []*commonsv1.PersonState) error) bus.Consumer {
	return bus.Consumer{
		Durable:  "timekeeping_person",
		Stream:   "COMMONS",
		Subjects: []string{"rotaloom.commons.person.changed"},
		HandleBatch: func(ctx context.Context, messages []bus.Message) error {
			var states []*commonsv1.PersonState
			for _, m := range messages {
				event, err := bus.Decode[*commonsv1.PersonsChanged](m)
				if err != nil {
					return err
				}
				states = append(states, event.GetPersons()...)
			}
			// A batch holds the events of one tenant.
			if err := Apply(ctx, db, messages[0].Tenant, states); err != nil {
				return err
			}
			return next(ctx, messages[0].Tenant, states)
		},
	}
}
