// Package commons is the service that knows persons.
package commons

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person"
	"github.com/rotaloom/rotaloom/services/commons/migrations"
)

// Config is what can be set of the service. Every field works at its zero
// value.
type Config struct {
	DefaultTimeZone string     `name:"default-time-zone" default:"UTC" help:"Time zone, as IANA calls it, of persons who have none of their own."`
	Streams         bus.Limits `embed:"" prefix:"stream-" envprefix:"STREAM_"`
}

// Deps are what the service works with.
type Deps struct {
	// Pool is on the service's own database, whose schema is that of
	// Migrations.
	Pool *pgxpool.Pool
	NATS *nats.Conn
	// Auth leads to the auth service, which trusts this one.
	Auth     grpc.ClientConnInterface
	Log      *slog.Logger
	Registry prometheus.Registerer
	Clock    clock.Clock
}

// Service is the commons service.
type Service struct {
	pool    *pgxpool.Pool
	sets    []pg.Migrations
	relay   *outbox.Relay
	persons *person.Handler
}

// Migrations answers the schema that the service needs.
func Migrations() ([]pg.Migrations, error) {
	events, err := outbox.Migrations()
	return []pg.Migrations{events, {Table: "commons_version", FS: migrations.FS}}, err
}

// New makes the service. It touches neither the database nor the broker.
func New(_ context.Context, cfg Config, deps Deps) (*Service, error) {
	sets, err := Migrations()
	if err != nil {
		return nil, err
	}
	events, err := bus.New(bus.Options{
		Conn: deps.NATS, Limits: cfg.Streams, DeadLetters: outbox.NewLetters(deps.Pool),
		Transient: pg.Unavailable, Log: deps.Log, Registry: deps.Registry,
	})
	if err != nil {
		return nil, err
	}
	relay, err := outbox.NewRelay(outbox.Options{Pool: deps.Pool, Bus: events, Log: deps.Log, Registry: deps.Registry})
	if err != nil {
		return nil, err
	}
	persons, err := person.New(
		person.Config{DefaultTimeZone: cmp.Or(cfg.DefaultTimeZone, "UTC")},
		person.Deps{
			Pool: deps.Pool, Users: authv1.NewUserServiceClient(deps.Auth),
			Log: deps.Log, Clock: deps.Clock, Wake: relay.Wake,
		})
	if err != nil {
		return nil, err
	}
	return &Service{pool: deps.Pool, sets: sets, relay: relay, persons: persons}, nil
}

// Register adds the service's operations to a server.
func (s *Service) Register(server grpc.ServiceRegistrar) {
	commonsv1.RegisterPersonServiceServer(server, s.persons)
}

// Run does the work that no request asks for, until ctx ends.
func (s *Service) Run(ctx context.Context) error { return s.persons.Run(ctx) }

// Relay publishes what the service leaves in its outbox, until ctx ends. It is
// the last to stop.
func (s *Service) Relay(ctx context.Context) error { return s.relay.Run(ctx) }

// Check says why the service cannot do its work, or nil. That the broker is
// away is no reason: events wait.
func (s *Service) Check(ctx context.Context) error {
	return pg.CheckSchema(ctx, s.pool, s.sets...)
}
