// Package timekeeping is the service that knows the contracts that employees
// work under, and who works under which.
package timekeeping

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/assignment"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employmentterm"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/migrations"
)

// Config is what can be set of the service. Every field works at its zero
// value.
type Config struct {
	Streams bus.Limits `embed:"" prefix:"stream-" envprefix:"STREAM_"`
}

// Deps are what the service works with.
type Deps struct {
	// Pool is on the service's own database, whose schema is that of
	// Migrations.
	Pool *pgxpool.Pool
	NATS *nats.Conn
	// Commons leads to the commons service, which trusts this one.
	Commons  grpc.ClientConnInterface
	Log      *slog.Logger
	Registry prometheus.Registerer
}

// Service is the timekeeping service.
type Service struct {
	pool        *pgxpool.Pool
	sets        []pg.Migrations
	events      *bus.Bus
	relay       *outbox.Relay
	terms       *employmentterm.Handler
	assignments *assignment.Handler
}

// Migrations answers the schema that the service needs.
func Migrations() ([]pg.Migrations, error) {
	events, err := outbox.Migrations()
	return []pg.Migrations{events, {Table: "timekeeping_version", FS: migrations.FS}}, err
}

// New makes the service. It touches neither the database nor the broker.
func New(_ context.Context, cfg Config, deps Deps) (*Service, error) {
	sets, err := Migrations()
	if err != nil {
		return nil, err
	}
	events, err := bus.New(bus.Options{
		Conn: deps.NATS, Limits: cfg.Streams, DeadLetters: outbox.NewLetters(deps.Pool),
		Transient: transient, Log: deps.Log, Registry: deps.Registry,
	})
	if err != nil {
		return nil, err
	}
	relay, err := outbox.NewRelay(outbox.Options{Pool: deps.Pool, Bus: events, Log: deps.Log, Registry: deps.Registry})
	if err != nil {
		return nil, err
	}
	persons := person.NewDirectory(deps.Pool, commonsv1.NewPersonServiceClient(deps.Commons))
	return &Service{
		pool: deps.Pool, sets: sets, events: events, relay: relay,
		terms:       employmentterm.New(deps.Pool, relay.Wake),
		assignments: assignment.New(deps.Pool, persons, relay.Wake),
	}, nil
}

// transient tells the errors that say nothing about an event.
func transient(err error) bool {
	return pg.Unavailable(err) || fault.HasStatus(err, http.StatusServiceUnavailable)
}

// Register adds the service's operations to a server.
func (s *Service) Register(server grpc.ServiceRegistrar) {
	timekeepingv1.RegisterEmploymentTermServiceServer(server, s.terms)
	timekeepingv1.RegisterEmploymentTermAssignmentServiceServer(server, s.assignments)
}

// Run consumes the events of other domains until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	return s.events.Run(ctx, person.Consumer(s.pool))
}

// Relay publishes what the service leaves in its outbox, until ctx ends. It is
// the last to stop.
func (s *Service) Relay(ctx context.Context) error { return s.relay.Run(ctx) }

// Check says why the service cannot do its work, or nil. That the broker is
// away is no reason: events wait.
func (s *Service) Check(ctx context.Context) error {
	return pg.CheckSchema(ctx, s.pool, s.sets...)
}
