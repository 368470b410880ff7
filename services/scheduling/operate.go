package scheduling

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// Lack is how many keys of a topic a copy lacks, or has otherwise than its owner.
type Lack struct {
	Topic string
	Keys  int
}

// Lacking compares what scheduling keeps of other services for a tenant with what
// they have. What is on its way may come for settle before it counts. It is an
// error when they do not answer.
func Lacking(ctx context.Context, pool *pg.Pool, conn *nats.Conn, log *slog.Logger, tenantID int64, settle time.Duration) ([]Lack, error) {
	events, err := bus.New(bus.Options{Conn: conn, DeadLetters: outbox.NewDeadLetters(pool), Log: log, Registry: prometheus.NewRegistry()})
	if err != nil {
		return nil, err
	}
	var found []Lack
	for _, c := range projection.NewCopies(pool, func() {}).All() {
		keys, err := c.Lacking(ctx, events, tenantID, settle)
		if err != nil {
			return nil, err
		}
		found = append(found, Lack{c.Contract().Topic, keys})
	}
	return found, nil
}
