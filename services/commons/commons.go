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
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
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
	"github.com/rotaloom/rotaloom/services/commons/internal/holiday"
	"github.com/rotaloom/rotaloom/services/commons/internal/job"
	"github.com/rotaloom/rotaloom/services/commons/internal/location"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationset"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationtype"
	"github.com/rotaloom/rotaloom/services/commons/internal/person"
	"github.com/rotaloom/rotaloom/services/commons/internal/personpay"
	"github.com/rotaloom/rotaloom/services/commons/internal/search"
	"github.com/rotaloom/rotaloom/services/commons/internal/symbolicperiod"
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

	persons       *person.Handler
	contacts      *contact.Handler
	jobs          *job.Handler
	locations     *location.Handler
	locationTypes *locationtype.Handler
	locationSets  *locationset.Handler

	search          *search.Search
	symbolicPeriods *symbolicperiod.Handler
	holidays        *holiday.Handler
	delegations     *delegation.Handler
	personPay       *personpay.Handler

	// Replicator keeps the copies of other domains' data that queries need, and publishes
	// persons and holidays to the services that copy them.
	Replicator *replica.Replicator

	data     *dataelement.Server
	dataRows *dataprovider.Finder
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
	queries := search.New(cfg.Hyperfind, deps.Pool, groups, rules, periods)
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
	replicator, err := core.Replicator(cfg.Replica,
		Copies(deps.Pool), Topics())
	if err != nil {
		return nil, err
	}
	return &Service{
		Core: core, Replicator: replicator, persons: persons,
		contacts:      contact.New(deps.Pool, rules),
		jobs:          job.New(deps.Pool, deps.Clock, location.Job),
		locations:     location.New(deps.Pool, deps.Clock),
		locationTypes: locationtype.New(deps.Pool),
		locationSets:  locationset.New(deps.Pool, deps.Clock),

		search:          queries,
		symbolicPeriods: periods,
		holidays:        holiday.New(deps.Pool),
		delegations:     delegation.New(deps.Pool, delegations, rules),
		personPay:       personpay.New(deps.Pool),

		data: dataprovider.NewServer(deps.Pool, rules), dataRows: dataprovider.NewFinder(deps.Pool, rules),
	}, nil
}

// Register adds the service's operations to a server.
func (s *Service) Register(server grpc.ServiceRegistrar) {
	commonsv1.RegisterPersonServiceServer(server, s.persons)
	commonsv1.RegisterContactServiceServer(server, s.contacts)
	commonsv1.RegisterNewHireServiceServer(server, s.persons.NewHires())
	commonsv1.RegisterTermRequestServiceServer(server, s.persons.TermRequests())
	commonsv1.RegisterWageWorkRuleServiceServer(server, s.persons.WageWorkRules())
	commonsv1.RegisterJobServiceServer(server, s.jobs)
	commonsv1.RegisterLocationServiceServer(server, s.locations)
	commonsv1.RegisterLocationTypeServiceServer(server, s.locationTypes)
	commonsv1.RegisterLocationSetServiceServer(server, s.locationSets)
	s.search.Register(server)
	commonsv1.RegisterSymbolicPeriodServiceServer(server, s.symbolicPeriods)
	commonsv1.RegisterHolidayServiceServer(server, s.holidays)
	commonsv1.RegisterDelegationServiceServer(server, s.delegations)
	commonsv1.RegisterPersonPayServiceServer(server, s.personPay)
	datav1.RegisterDataProviderServiceServer(server, s.data)
	datav1.RegisterDataRowServiceServer(server, s.dataRows)
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
