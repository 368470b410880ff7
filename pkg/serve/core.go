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
	"github.com/rotaloom/rotaloom/pkg/tenantclock"
)

// Backends are the dependencies that every service has.
type Backends struct {
	// Pool connects to the service's own database.
	Pool *pg.Pool
	NATS *nats.Conn
	// Guard prevents the database from giving ids twice.
	Guard *restore.Guard
	Clock clock.Clock
	// Clocks sets the clocks of sandboxes in the contexts of their work. nil means that all tenants
	// have the real time.
	Clocks   *tenantclock.Clocks
	Log      *slog.Logger
	Registry prometheus.Registerer
}

// Core is the common part of services with events. They embed it.
type Core struct {
	// Events delivers the events that the service consumes.
	Events *bus.Bus

	backends Backends
	sets     []pg.Migrations
	relay    *outbox.Relay
}

// Migrations returns the schema of a service with events: its own, with its versions in the named
// table, and the schemas of watermarks, the outbox, copies, the audit log and setup resources.
func Migrations(table string, own fs.FS) ([]pg.Migrations, error) {
	events, err := outbox.Migrations()
	if err != nil {
		return nil, err
	}
	copies, err := replica.Migrations()
	return []pg.Migrations{restore.Migrations(), events, copies, audit.Migrations(), setup.Migrations(), {Table: table, FS: own}}, err
}

// CheckSchema returns an error if a database lacks a part of a service's schema.
func CheckSchema(ctx context.Context, pool *pg.Pool, migrations func() ([]pg.Migrations, error)) error {
	sets, err := migrations()
	if err != nil {
		return err
	}
	return pg.CheckSchema(ctx, pool, sets...)
}

// NewCore returns the core of a service. It contacts neither the database nor the broker.
func NewCore(e Backends, streams bus.Limits, sets []pg.Migrations) (*Core, error) {
	events, err := bus.New(bus.Options{
		Conn: e.NATS, Limits: streams, DeadLetters: outbox.NewDeadLetters(e.Pool),
		Transient: transient, Clocks: e.Clocks, Log: e.Log, Registry: e.Registry,
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

// Replicator returns the replicator of the service, with its copies and its own topics.
func (c *Core) Replicator(cfg replica.Config, copies []*replica.Replica, topics []replica.Topic) (*replica.Replicator, error) {
	return replica.NewReplicator(replica.Options{
		Pool: c.backends.Pool, Bus: c.Events, Log: c.backends.Log, Registry: c.backends.Registry, Config: cfg,
	}, copies, topics)
}

// transient recognises errors that have nothing to do with an event: the database or another
// service is unavailable.
func transient(err error) bool {
	return pgerr.Unavailable(err) || fault.HasStatus(err, http.StatusServiceUnavailable)
}

// Relay publishes the events in the service's outbox, until ctx ends. It stops last.
func (c *Core) Relay(ctx context.Context) error { return c.relay.Run(ctx) }

// Check returns an error if the service cannot work: its schema is too old, or its consumers are
// missing at a running broker. An unavailable broker is not an error: events wait.
func (c *Core) Check(ctx context.Context) error {
	return errors.Join(pg.CheckSchema(ctx, c.backends.Pool, c.sets...), c.Events.Check())
}
