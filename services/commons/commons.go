// Package commons is the service that stores persons, jobs, locations and the queries over
// them.
package commons

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/contact"
	"github.com/rotaloom/rotaloom/services/commons/internal/dataprovider"
	"github.com/rotaloom/rotaloom/services/commons/internal/delegation"
	"github.com/rotaloom/rotaloom/services/commons/internal/devicegroup"
	"github.com/rotaloom/rotaloom/services/commons/internal/holiday"
	"github.com/rotaloom/rotaloom/services/commons/internal/job"
	"github.com/rotaloom/rotaloom/services/commons/internal/location"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationset"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationtype"
	"github.com/rotaloom/rotaloom/services/commons/internal/person"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/personpay"
	"github.com/rotaloom/rotaloom/services/commons/internal/personreference"
	"github.com/rotaloom/rotaloom/services/commons/internal/search"
	"github.com/rotaloom/rotaloom/services/commons/internal/symbolicperiod"
	"github.com/rotaloom/rotaloom/services/commons/internal/timezone"
	"github.com/rotaloom/rotaloom/services/commons/migrations"
)

// Config holds the settings of the service. Every field works at its zero value.
type Config struct {
	DefaultTimeZone string     `name:"default-time-zone" default:"UTC" help:"Time zone, as IANA calls it, of persons who have none of their own."`
	DefaultCurrency string     `name:"default-currency" default:"USD" help:"Currency, as ISO 4217 calls it, of persons who have none of their own."`
	Streams         bus.Limits `embed:"" prefix:"stream-" envprefix:"STREAM_"`
	// Replica configures how the copies of other services' data are kept complete.
	Replica replica.Config `embed:"" prefix:"replica-" envprefix:"REPLICA_"`
	// Hyperfind limits the cost of queries over persons.
	Hyperfind search.Config         `embed:"" prefix:"hyperfind-" envprefix:"HYPERFIND_"`
	PayPeriod symbolicperiod.Config `embed:"" prefix:"pay-period-" envprefix:"PAY_PERIOD_"`
}

// Deps are the dependencies of the service.
type Deps struct {
	serve.Backends
	// Auth is the connection to the auth service, which trusts this service.
	Auth grpc.ClientConnInterface
}

// Service is the commons service.
type Service struct {
	*serve.Core
	serve.Registrations

	persons *person.Handler
	// Replicator keeps the copies of other domains' data that queries need, and publishes
	// persons and holidays to the services that copy them.
	Replicator *replica.Replicator
}

// Migrations returns the schema that the service needs.
func Migrations() ([]pg.Migrations, error) {
	return serve.Migrations("commons_version", migrations.FS)
}

// New creates the service. It touches neither the database nor the broker.
func New(_ context.Context, cfg Config, deps Deps) (*Service, error) {
	sets, err := Migrations()
	if err != nil {
		return nil, err
	}
	core, err := serve.NewCore(deps.Backends, cfg.Streams, sets)
	if err != nil {
		return nil, err
	}
	cfg = defaults.Fill(cfg)
	zone, err := tzdb.Load(cfg.DefaultTimeZone)
	if err != nil {
		return nil, fmt.Errorf("default time zone: %w", err)
	}
	groups := search.NewGroups(deps.Pool, deps.Clock, zone)
	users := authv1.NewUserServiceClient(deps.Auth)
	delegations := delegation.NewRunning(deps.Pool, users, deps.Clock, zone)
	rules := rowvisibility.New(deps.Clock, groups).WithDelegations(delegations, deps.Log)
	cfg.PayPeriod.Zone = cfg.DefaultTimeZone
	periods, err := symbolicperiod.New(cfg.PayPeriod, deps.Pool, rules, deps.Clock)
	if err != nil {
		return nil, err
	}
	queries := search.New(cfg.Hyperfind, deps.Pool, groups, rules, periods, search.GroupUsers{Rename: store.RenameGroup, Find: store.FindGroupManagers})
	persons, err := person.New(
		person.Config{DefaultTimeZone: cfg.DefaultTimeZone, DefaultCurrency: cfg.DefaultCurrency},
		person.Deps{
			Pool: deps.Pool, Users: users,
			Rows: rules, Groups: groups, Hyperfinds: queries,
			Log: deps.Log, Clock: deps.Clock,
		})
	if err != nil {
		return nil, err
	}
	locations := location.New(deps.Pool, deps.Clock)
	replicator, err := core.Replicator(cfg.Replica,
		Copies(deps.Pool), Topics())
	if err != nil {
		return nil, err
	}
	return &Service{
		Core: core, Replicator: replicator, persons: persons,
		Registrations: serve.Registrations{
			serve.Handle(commonsv1.RegisterPersonServiceServer)(persons),
			serve.Handle(commonsv1.RegisterContactServiceServer)(contact.New(deps.Pool, rules)),
			serve.Handle(commonsv1.RegisterNewHireServiceServer)(persons.NewHires()),
			serve.Handle(commonsv1.RegisterTermRequestServiceServer)(persons.TermRequests()),
			serve.Handle(commonsv1.RegisterWageWorkRuleServiceServer)(persons.WageWorkRules()),
			serve.Handle(commonsv1.RegisterJobServiceServer)(job.New(deps.Pool, deps.Clock, location.Job)),
			serve.Handle(commonsv1.RegisterLocationServiceServer)(locations),
			serve.Handle(commonsv1.RegisterTimeZoneServiceServer)(timezone.New(persons, locations, deps.Clock)),
			serve.Handle(commonsv1.RegisterLocationTypeServiceServer)(locationtype.New(deps.Pool)),
			serve.Handle(commonsv1.RegisterLocationSetServiceServer)(locationset.New(deps.Pool, deps.Clock)),
			queries.Register,
			serve.Handle(commonsv1.RegisterSymbolicPeriodServiceServer)(periods),
			serve.Handle(commonsv1.RegisterHolidayServiceServer)(holiday.New(deps.Pool)),
			serve.Handle(commonsv1.RegisterDelegationServiceServer)(delegation.New(deps.Pool, delegations, rules)),
			serve.Handle(commonsv1.RegisterDeviceGroupMemberServiceServer)(devicegroup.New(deps.Pool)),
			serve.Handle(commonsv1.RegisterPersonPayServiceServer)(personpay.New(deps.Pool)),
			serve.Handle(commonsv1.RegisterPersonReferenceServiceServer)(personreference.New(deps.Pool)),
			serve.Handle(datav1.RegisterDataProviderServiceServer)(dataprovider.NewServer(deps.Pool, rules)),
			serve.Handle(datav1.RegisterDataRowServiceServer)(dataprovider.NewFinder(deps.Pool, rules)),
		},
	}, nil
}

// Consumers returns the event consumers of the service.
func (s *Service) Consumers() []bus.Consumer { return s.Replicator.Consumers() }

// Run does the background work until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.persons.Run(ctx) })
	group.Go(func() error { return s.Replicator.Run(ctx) })
	group.Go(func() error { return s.Events.Run(ctx, s.Consumers()...) })
	return group.Wait()
}
