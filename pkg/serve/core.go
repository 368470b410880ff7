package serve

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/pkg/setup"
)

// Backends are what every service that has events works with.
type Backends struct {
	// Pool is on the service's own database.
	Pool *pg.Pool
	NATS *nats.Conn
	// Guard keeps ids of the database from being given twice.
	Guard    *restore.Guard
	Clock    clock.Clock
	Log      *slog.Logger
	Registry prometheus.Registerer
}

// Core is what services that have events have in common. They embed it.
type Core struct {
	// Events is what the service consumes from.
	Events *bus.Bus

	backends Backends
	sets     []pg.Migrations
	relay    *outbox.Relay
}

// Migrations returns the schema of a service with events: that of its own,
// whose versions are kept in the named table, and those of marks, of the outbox, of
// copies, of setup resources and of the audit trail.
func Migrations(table string, own fs.FS) ([]pg.Migrations, error) {
	events, err := outbox.Migrations()
	if err != nil {
		return nil, err
	}
	copies, err := replica.Migrations()
	return []pg.Migrations{restore.Migrations(), events, copies, audit.Migrations(), setup.Migrations(), {Table: table, FS: own}}, err
}

// NewCore makes the core of a service. It touches neither the database nor the
// broker.
func NewCore(e Backends, streams bus.Limits, sets []pg.Migrations) (*Core, error) {
	events, err := bus.New(bus.Options{
		Conn: e.NATS, Limits: streams, DeadLetters: outbox.NewDeadLetters(e.Pool),
		Transient: transient, Log: e.Log, Registry: e.Registry,
	})
	if err != nil {
		return nil, err
	}
	relay, err := outbox.NewRelay(outbox.Options{Pool: e.Pool, Bus: events, Log: e.Log, Registry: e.Registry})
	if err != nil {
		return nil, err
	}
	return &Core{Events: events, backends: e, sets: sets, relay: relay}, nil
}

// Replicator makes the replicator of the service: of the copies that it keeps
// and the topics that it owns.
func (c *Core) Replicator(cfg replica.Config, copies []*replica.Replica, topics []replica.Topic) (*replica.Replicator, error) {
	return replica.NewReplicator(replica.Options{
		Pool: c.backends.Pool, Bus: c.Events, Log: c.backends.Log, Registry: c.backends.Registry, Config: cfg,
	}, copies, topics)
}

// transient recognises the errors that say nothing about an event: the database or a
// neighbour is away.
func transient(err error) bool {
	return pgerr.Unavailable(err) || fault.HasStatus(err, http.StatusServiceUnavailable)
}

// Relay publishes what the service leaves in its outbox, until ctx ends. It is
// the last to stop.
func (c *Core) Relay(ctx context.Context) error { return c.relay.Run(ctx) }

// Check says why the service cannot do its work, or nil: its schema is another, or a
// broker that is there does not have its consumers. That the broker is away is no
// reason: events wait.
func (c *Core) Check(ctx context.Context) error {
	return errors.Join(pg.CheckSchema(ctx, c.backends.Pool, c.sets...), c.Events.Check())
}
