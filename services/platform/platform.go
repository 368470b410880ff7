// Package platform is the service with functions for all domains, such as rates, limits, idempotency, audit
// log, information access and notifications.
package platform

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/auditevent"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess"
	"github.com/rotaloom/rotaloom/services/platform/internal/delivery"
	"github.com/rotaloom/rotaloom/services/platform/internal/genericnotification"
	"github.com/rotaloom/rotaloom/services/platform/internal/idempotency"
	"github.com/rotaloom/rotaloom/services/platform/internal/limit"
	"github.com/rotaloom/rotaloom/services/platform/internal/mailer"
	"github.com/rotaloom/rotaloom/services/platform/internal/messaging"
	rates "github.com/rotaloom/rotaloom/services/platform/internal/ratelimit"
	"github.com/rotaloom/rotaloom/services/platform/internal/sandbox"
	"github.com/rotaloom/rotaloom/services/platform/internal/targetthreshold"
	"github.com/rotaloom/rotaloom/services/platform/internal/webhook"
	"github.com/rotaloom/rotaloom/services/platform/migrations"
)

// Config is the configuration of the service. The zero value of each field is valid.
type Config struct {
	Rates       ratelimit.Defaults `embed:""`
	Idempotency idempotency.Config `embed:""`
	Data        dataaccess.Config  `embed:"" prefix:"data-" envprefix:"DATA_"`
	// Delivery configures the delivery of messages, by SMTP and to webhooks.
	Delivery delivery.Config `embed:"" prefix:"delivery-" envprefix:"DELIVERY_"`
	SMTP     mailer.Config   `embed:"" prefix:"smtp-" envprefix:"SMTP_"`
	Webhook  webhook.Config  `embed:"" prefix:"webhook-" envprefix:"WEBHOOK_"`
	// DefaultTimeZone determines the beginning of the day for tenants.
	DefaultTimeZone string `name:"default-time-zone" default:"UTC" help:"IANA time zone whose days determine when target thresholds expire and which messages are repetitions."`
	// BodyBytes is the largest request body that the edge accepts. It is shown to callers.
	BodyBytes int64 `kong:"-"`
}

// Deps are the dependencies of the service.
type Deps struct {
	serve.Backends
	// Auth, Commons, Timekeeping, Scheduling and Recruiting are connections to these services, which trust this one.
	Auth, Commons, Timekeeping, Scheduling, Recruiting grpc.ClientConnInterface
}

// Service is the platform service.
type Service struct {
	serve.Registrations

	pool   *pg.Pool
	rates  *rates.Handler
	keys   *idempotency.Handler
	sender *delivery.Sender
}

// Migrations returns the migrations of the service's schema.
func Migrations() ([]pg.Migrations, error) {
	return []pg.Migrations{restore.Migrations(), audit.Migrations(), setup.Migrations(), {Table: "platform_version", FS: migrations.FS}}, nil
}

// New returns the service. It does not access the database.
func New(_ context.Context, cfg Config, deps Deps) (*Service, error) {
	store := rates.NewStore(deps.Pool, cfg.Rates, deps.Clock)
	limits, err := limit.New(limit.Deps{
		Rates: store, Schedules: schedulingv1.NewScheduleChangeServiceClient(deps.Scheduling), BodyBytes: cfg.BodyBytes,
		Clock: deps.Clock, Log: deps.Log,
	})
	if err != nil {
		return nil, err
	}
	rules := rowvisibility.FromCommons(deps.Clock, deps.Commons, deps.Log)
	sender, err := newSender(cfg, deps)
	if err != nil {
		return nil, err
	}
	webhooks, err := webhook.New(cfg.Webhook, deps.Pool, rules, deps.Clock)
	if err != nil {
		return nil, err
	}
	zone, err := tzdb.Load(defaults.Fill(cfg).DefaultTimeZone)
	if err != nil {
		return nil, fmt.Errorf("default time zone: %w", err)
	}
	rateLimits, keys := rates.New(store, deps.Log), idempotency.New(cfg.Idempotency, idempotency.Deps{
		Pool: deps.Pool, Rules: rules, Policies: policy.NewTable(nil), Clock: deps.Clock, Log: deps.Log,
	})
	data := dataaccess.New(cfg.Data, dataaccess.Deps{
		Commons: deps.Commons, Timekeeping: deps.Timekeeping, Scheduling: deps.Scheduling,
		Rules: rules, Log: deps.Log, Clock: deps.Clock,
	})
	return &Service{
		pool: deps.Pool, rates: rateLimits, keys: keys, sender: sender,
		Registrations: serve.Registrations{
			serve.Handle(platformv1.RegisterRateLimitServiceServer)(rateLimits),
			serve.Handle(platformv1.RegisterLimitServiceServer)(limits),
			serve.Handle(platformv1.RegisterIdempotencyServiceServer)(keys),
			serve.Handle(platformv1.RegisterAuditEventServiceServer)(auditevent.New(deps.Pool, []auditevent.Source{
				{Name: "auth", Conn: deps.Auth},
				{Name: "commons", Conn: deps.Commons},
				{Name: "timekeeping", Conn: deps.Timekeeping},
				{Name: "scheduling", Conn: deps.Scheduling},
				{Name: "recruiting", Conn: deps.Recruiting},
			})),
			serve.Handle(platformv1.RegisterDataServiceServer)(data),
			serve.Handle(platformv1.RegisterDataDictionaryServiceServer)(data.Dictionary()),
			serve.Handle(platformv1.RegisterGenericNotificationServiceServer)(genericnotification.New(deps.Pool)),
			serve.Handle(platformv1.RegisterMessagingServiceServer)(messaging.New(messaging.Deps{
				Pool: deps.Pool, Contacts: commonsv1.NewContactServiceClient(deps.Commons), Rules: rules, Sender: sender, Clock: deps.Clock, Zone: zone,
			})),
			serve.Handle(platformv1.RegisterWebhookServiceServer)(webhooks),
			serve.Handle(platformv1.RegisterSandboxServiceServer)(sandbox.New(authv1.NewTenantClockServiceClient(deps.Auth))),
			serve.Handle(platformv1.RegisterTargetThresholdServiceServer)(targetthreshold.New(deps.Pool, deps.Clock, zone)),
		},
	}, nil
}

// newSender returns the sender of messages.
func newSender(cfg Config, deps Deps) (*delivery.Sender, error) {
	mails, err := mailer.New(cfg.SMTP)
	if err != nil {
		return nil, err
	}
	hooks, err := webhook.NewTransport(cfg.Webhook, deps.Pool, deps.Clock)
	if err != nil {
		return nil, err
	}
	return delivery.NewSender(cfg.Delivery, delivery.Deps{
		Pool: deps.Pool, Transports: map[string]delivery.Transport{delivery.Email: mails, delivery.Webhook: hooks},
		Clock: deps.Clock, Log: deps.Log, Registry: deps.Registry,
	})
}

// Run does the background work until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.rates.Run(ctx) })
	group.Go(func() error { return s.keys.Run(ctx) })
	group.Go(func() error { return s.sender.Run(ctx) })
	return group.Wait()
}

// Check returns the reason why the service is not ready, or nil.
func (s *Service) Check(ctx context.Context) error {
	return serve.CheckSchema(ctx, s.pool, Migrations)
}
