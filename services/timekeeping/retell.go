package timekeeping

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// wanted is the consumer of those who want something told anew.
func wanted(reteller *outbox.Reteller) bus.Consumer {
	return bus.Consumer{
		Durable: "timekeeping-wanted", Stream: "COMMONS", Subjects: []string{"rotaloom.commons.projection.wanted"},
		Handle: func(ctx context.Context, m bus.Message) error {
			event, err := bus.Decode[*commonsv1.ProjectionWanted](m)
			if err != nil {
				return err
			}
			return reteller.Ask(ctx, event.GetTopic())
		},
	}
}
