// Package platform is the service that knows what holds for every domain: how
// often clients may call, and what bounds them.
package platform

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/auditevent"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess"
	"github.com/rotaloom/rotaloom/services/platform/internal/genericnotification"
	"github.com/rotaloom/rotaloom/services/platform/internal/idempotency"
	"github.com/rotaloom/rotaloom/services/platform/internal/limit"
	rates "github.com/rotaloom/rotaloom/services/platform/internal/ratelimit"
	"github.com/rotaloom/rotaloom/services/platform/migrations"
)

// Config is what can be set of the service. Every field works at its zero
// value.
type Config struct {
	Rates       ratelimit.Defaults `embed:""`
	Idempotency idempotency.Config `embed:""`
	Data        dataaccess.Config  `embed:"" prefix:"data-" envprefix:"DATA_"`
	// BodyBytes is the largest request body that the edge accepts; it is shown
	// to callers.
	BodyBytes int64 `kong:"-"`
}

// Deps are what the service works with.
type Deps struct {
	// Pool is on the service's own database, whose schema is that of
	// Migrations.
	Pool *pgxpool.Pool
	Log  *slog.Logger
	// Auth, Commons, Timekeeping and Scheduling lead to those services, which
	// trust this one.
	Auth, Commons, Timekeeping, Scheduling grpc.ClientConnInterface
}

// Service is the platform service.
type Service struct {
	pool   *pgxpool.Pool
	rates  *rates.Handler
	limits *limit.Handler
	keys   *idempotency.Handler
	data   *dataaccess.Handler
	trails *auditevent.Handler

	notifications *genericnotification.Handler
}

// Migrations returns the schema that the service needs.
func Migrations() []pg.Migrations {
	return []pg.Migrations{audit.Migrations(), {Table: "platform_version", FS: migrations.FS}}
}

// New makes the service. It does not touch the database.
func New(_ context.Context, cfg Config, deps Deps) (*Service, error) {
	store := rates.NewStore(deps.Pool, cfg.Rates)
	limits, err := limit.New(store, cfg.BodyBytes)
	if err != nil {
		return nil, err
	}
	rules := rowvisibility.FromCommons(clock.System{}, deps.Commons, deps.Log)
	return &Service{
		pool: deps.Pool, rates: rates.New(store, deps.Log), limits: limits,
		keys: idempotency.New(cfg.Idempotency, idempotency.Deps{
			Pool: deps.Pool, Rules: rules, Policies: policy.NewTable(nil), Clock: clock.System{}, Log: deps.Log,
		}),
		data: dataaccess.New(cfg.Data, dataaccess.Deps{
			Commons: deps.Commons, Timekeeping: deps.Timekeeping, Scheduling: deps.Scheduling,
			Rules: rules, Log: deps.Log, Clock: clock.System{},
		}),
		trails: auditevent.New(deps.Pool, []auditevent.Neighbour{
			{Name: "auth", Conn: deps.Auth}, {Name: "commons", Conn: deps.Commons},
			{Name: "timekeeping", Conn: deps.Timekeeping}, {Name: "scheduling", Conn: deps.Scheduling},
		}),
		notifications: genericnotification.New(deps.Pool),
	}, nil
}

// Register adds the service's operations to a server.
func (s *Service) Register(server grpc.ServiceRegistrar) {
	platformv1.RegisterRateLimitServiceServer(server, s.rates)
	platformv1.RegisterLimitServiceServer(server, s.limits)
	platformv1.RegisterIdempotencyServiceServer(server, s.keys)
	platformv1.RegisterAuditEventServiceServer(server, s.trails)
	platformv1.RegisterDataServiceServer(server, s.data)
	platformv1.RegisterDataDictionaryServiceServer(server, s.data.Dictionary())
	platformv1.RegisterGenericNotificationServiceServer(server, s.notifications)
}

// Run does the work that no request asks for, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.rates.Run(ctx) })
	group.Go(func() error { return s.keys.Run(ctx) })
	return group.Wait()
}

// Check says why the service cannot do its work, or nil.
func (s *Service) Check(ctx context.Context) error {
	return pg.CheckSchema(ctx, s.pool, Migrations()...)
}
