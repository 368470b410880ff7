// Package platform is the service with functions for all domains, such as rates, limits, idempotency, audit
// log, information access and notifications.
package platform

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/auditevent"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess"
	"github.com/rotaloom/rotaloom/services/platform/internal/delivery"
	"github.com/rotaloom/rotaloom/services/platform/internal/genericnotification"
	"github.com/rotaloom/rotaloom/services/platform/internal/idempotency"
	"github.com/rotaloom/rotaloom/services/platform/internal/limit"
	"github.com/rotaloom/rotaloom/services/platform/internal/mailer"
	"github.com/rotaloom/rotaloom/services/platform/internal/messaging"
	rates "github.com/rotaloom/rotaloom/services/platform/internal/ratelimit"
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
	// Pool is a pool on the service's own database, with the schema of Migrations.
	Pool     *pg.Pool
	Clock    clock.Clock
	Log      *slog.Logger
	Registry prometheus.Registerer
	// Auth, Commons, Timekeeping and Scheduling are connections to these services, which trust this one.
	Auth, Commons, Timekeeping, Scheduling grpc.ClientConnInterface
}

// Service is the platform service.
type Service struct {
	pool   *pg.Pool
	rates  *rates.Handler
	limits *limit.Handler
	keys   *idempotency.Handler
	data   *dataaccess.Handler
	audit  *auditevent.Handler

	notifications *genericnotification.Handler
	webhooks      *webhook.Handler
	messages      *messaging.Handler
	sender        *delivery.Sender
	thresholds    *targetthreshold.Handler
}

// Migrations returns the migrations of the service's schema.
func Migrations() []pg.Migrations {
	return []pg.Migrations{restore.Migrations(), audit.Migrations(), setup.Migrations(), {Table: "platform_version", FS: migrations.FS}}
}

// New returns the service. It does not access the database.
func New(_ context.Context, cfg Config, deps Deps) (*Service, error) {
	store := rates.NewStore(deps.Pool, cfg.Rates, deps.Clock)
	limits, err := limit.New(store, cfg.BodyBytes)
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
	return &Service{
		pool: deps.Pool, rates: rates.New(store, deps.Log), limits: limits,
		keys: idempotency.New(cfg.Idempotency, idempotency.Deps{
			Pool: deps.Pool, Rules: rules, Policies: policy.NewTable(nil), Clock: deps.Clock, Log: deps.Log,
		}),
		data: dataaccess.New(cfg.Data, dataaccess.Deps{
			Commons: deps.Commons, Timekeeping: deps.Timekeeping, Scheduling: deps.Scheduling,
			Rules: rules, Log: deps.Log, Clock: deps.Clock,
		}),
		audit: auditevent.New(deps.Pool, []auditevent.Source{
			{Name: "auth", Conn: deps.Auth},
			{Name: "commons", Conn: deps.Commons},
			{Name: "timekeeping", Conn: deps.Timekeeping},
			{Name: "scheduling", Conn: deps.Scheduling},
		}),
		notifications: genericnotification.New(deps.Pool), webhooks: webhooks, sender: sender,
		thresholds: targetthreshold.New(deps.Pool, deps.Clock, zone),
		messages: messaging.New(messaging.Deps{
			Pool: deps.Pool, Contacts: commonsv1.NewContactServiceClient(deps.Commons), Rules: rules, Sender: sender, Clock: deps.Clock, Zone: zone,
		}),
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

// Register registers the service's operations with a server.
func (s *Service) Register(server grpc.ServiceRegistrar) {
	platformv1.RegisterRateLimitServiceServer(server, s.rates)
	platformv1.RegisterLimitServiceServer(server, s.limits)
	platformv1.RegisterIdempotencyServiceServer(server, s.keys)
	platformv1.RegisterAuditEventServiceServer(server, s.audit)
	platformv1.RegisterDataServiceServer(server, s.data)
	platformv1.RegisterDataDictionaryServiceServer(server, s.data.Dictionary())
	platformv1.RegisterGenericNotificationServiceServer(server, s.notifications)
	platformv1.RegisterMessagingServiceServer(server, s.messages)
	platformv1.RegisterWebhookServiceServer(server, s.webhooks)
	platformv1.RegisterTargetThresholdServiceServer(server, s.thresholds)
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
	return pg.CheckSchema(ctx, s.pool, Migrations()...)
}
