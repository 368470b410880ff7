// Package commons is the service that knows persons.
package commons

import (
	"cmp"
	"context"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
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
	serve.Engines
	// Auth leads to the auth service, which trusts this one.
	Auth  grpc.ClientConnInterface
	Clock clock.Clock
}

// Service is the commons service.
type Service struct {
	*serve.Core

	persons *person.Handler
}

// Migrations answers the schema that the service needs.
func Migrations() ([]pg.Migrations, error) {
	return serve.Migrations("commons_version", migrations.FS)
}

// New makes the service. It touches neither the database nor the broker.
func New(_ context.Context, cfg Config, deps Deps) (*Service, error) {
	sets, err := Migrations()
	if err != nil {
		return nil, err
	}
	core, err := serve.NewCore(deps.Engines, cfg.Streams, sets)
	if err != nil {
		return nil, err
	}
	persons, err := person.New(
		person.Config{DefaultTimeZone: cmp.Or(cfg.DefaultTimeZone, "UTC")},
		person.Deps{
			Pool: deps.Pool, Users: authv1.NewUserServiceClient(deps.Auth),
			Log: deps.Log, Clock: deps.Clock, Wake: core.Wake,
		})
	if err != nil {
		return nil, err
	}
	return &Service{Core: core, persons: persons}, nil
}

// Register adds the service's operations to a server.
func (s *Service) Register(server grpc.ServiceRegistrar) {
	commonsv1.RegisterPersonServiceServer(server, s.persons)
}

// Run does the work that no request asks for, until ctx ends.
func (s *Service) Run(ctx context.Context) error { return s.persons.Run(ctx) }
