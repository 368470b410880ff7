// Package scheduling is the scheduling service: rotations, the schedules that they generate, and
// entered items.
package scheduling

import (
	"context"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/serve"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/dataprovider"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/daylock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeeschedulepattern"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmentterm"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmenttermschedule"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmenttermschedulepattern"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/leave"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/membership"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/propagator"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rulesetassignment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleviolation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulechange"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulegroup"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulepatterntemplate"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleruleset"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/shifttemplate"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/tagdefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/timeoffedit"
	"github.com/rotaloom/rotaloom/services/scheduling/migrations"
)

// Config has the settings of the service. Every field works at its zero value.
type Config struct {
	Streams     bus.Limits                             `embed:"" prefix:"stream-" envprefix:"STREAM_"`
	Patterns    patterndefinition.Settings             `embed:"" prefix:"pattern-" envprefix:"PATTERN_"`
	Builder     employmenttermschedulepattern.Settings `embed:"" prefix:"builder-" envprefix:"BUILDER_"`
	Items       scheduleitem.Settings                  `embed:"" prefix:"item-" envprefix:"ITEM_"`
	Propagation propagator.Config                      `embed:"" prefix:"propagation-" envprefix:"PROPAGATION_"`
	Replica     replica.Config                         `embed:"" prefix:"replica-" envprefix:"REPLICA_"`
}

// Deps are the dependencies of the service.
type Deps struct {
	serve.Backends
	// Commons is a connection to commons, which trusts this service.
	Commons grpc.ClientConnInterface
}

// Service is the scheduling service.
type Service struct {
	*serve.Core
	// Propagator applies changes to schedules, in this process or in a separate one.
	Propagator *Propagator

	// Replicator maintains scheduling's copies of other services' data, and publishes the data that
	// others copy.
	Replicator *replica.Replicator

	termRequests commonsv1.TermRequestServiceClient
	terms        *employmentterm.Handler
	memberships  *membership.Handler
	employeeDays *employeeday.Handler
	leave        *leave.Handler

	shiftTemplates   *shifttemplate.Handler
	patternTemplates *schedulepatterntemplate.Handler
	termPatterns     *employmenttermschedulepattern.Handler
	employeePatterns *employeeschedulepattern.Handler
	termSchedules    *employmenttermschedule.Handler
	schedules        *schedule.Handler
	scheduleChanges  *schedulechange.Handler
	shifts           *scheduleitem.Shifts
	payCodeEdits     *scheduleitem.PayCodeEdits
	scheduleTags     *scheduleitem.ScheduleTags
	scheduleEdits    *scheduleitem.ScheduleEdits
	dayLocks         *daylock.Handler
	propagations     *propagation.Handler
	scheduleGroups   *schedulegroup.Handler
	tagDefinitions   *tagdefinition.Handler
	timeOffEdits     *timeoffedit.Handler
	rules            *schedulerule.Handler
	ruleSets         *scheduleruleset.Handler
	ruleAssignments  *rulesetassignment.Handler
	ruleViolations   *ruleviolation.Handler
	data             *dataelement.Server
}

// Migrations returns the schema that the service needs.
func Migrations() ([]pg.Migrations, error) {
	return serve.Migrations("scheduling_version", migrations.FS)
}

// New returns the service. It accesses neither the database nor the broker.
func New(_ context.Context, cfg Config, deps Deps) (*Service, error) {
	propagator, err := NewPropagator(cfg, deps.Backends)
	if err != nil {
		return nil, err
	}
	core := propagator.Core
	resolver := projection.NewResolver(deps.Pool, commonsv1.NewPersonServiceClient(deps.Commons), rowvisibility.FromCommons(deps.Clock, deps.Commons, deps.Log))
	terms, memberships := employmentterm.NewLookup(deps.Pool), membership.New(deps.Pool, resolver)
	replicator, err := core.Replicator(cfg.Replica, projection.NewCopies(deps.Pool, memberships.Terminate).All(), Topics())
	if err != nil {
		return nil, err
	}
	definitions := patterndefinition.New(cfg.Patterns, shifttemplate.Kind(), schedulepatterntemplate.Kind())
	reader := reading.NewReader(deps.Pool, definitions)
	items := scheduleitem.Deps{
		Pool: deps.Pool, Directory: resolver, Reader: reader, Templates: shifttemplate.Kind(), Settings: cfg.Items,
	}
	commons := schedule.NewCommons(deps.Commons)
	payCodeEdits := scheduleitem.NewPayCodeEdits(items)
	return &Service{
		Core: core, Propagator: propagator, Replicator: replicator,
		termRequests:     commonsv1.NewTermRequestServiceClient(deps.Commons),
		terms:            employmentterm.New(deps.Pool),
		memberships:      memberships,
		employeeDays:     employeeday.New(deps.Pool, reader),
		leave:            leave.New(deps.Pool),
		shiftTemplates:   shifttemplate.New(deps.Pool, patterndefinition.NewRules(cfg.Patterns), resolver),
		patternTemplates: schedulepatterntemplate.New(deps.Pool, definitions),
		termPatterns: employmenttermschedulepattern.New(cfg.Builder, employmenttermschedulepattern.Deps{
			Pool: deps.Pool, Definitions: definitions, Terms: terms,
		}),
		termSchedules: employmenttermschedule.New(employmenttermschedule.Deps{Pool: deps.Pool, Reader: reader, Terms: terms, Directory: resolver, Commons: commons}),
		employeePatterns: employeeschedulepattern.New(employeeschedulepattern.Deps{
			Pool: deps.Pool, Definitions: definitions, Directory: resolver, Schedules: items, Builder: cfg.Builder.Builder(),
		}),
		schedules:       schedule.New(deps.Pool, reader, resolver, commons),
		scheduleChanges: schedulechange.New(schedulechange.Deps{Reader: reader, Directory: resolver, KeepHistory: cfg.Propagation.HistoryRetention()}),
		shifts:          scheduleitem.NewShifts(items),
		payCodeEdits:    payCodeEdits,
		scheduleTags:    scheduleitem.NewScheduleTags(items),
		scheduleEdits:   scheduleitem.NewScheduleEdits(items),
		dayLocks:        daylock.New(deps.Pool, resolver),
		propagations:    propagation.NewHandler(deps.Pool, resolver.Visible),
		scheduleGroups:  schedulegroup.New(deps.Pool),
		tagDefinitions:  tagdefinition.New(deps.Pool),
		timeOffEdits:    timeoffedit.New(timeoffedit.Deps{Pool: deps.Pool, Directory: resolver, Schedules: payCodeEdits}),
		rules:           &schedulerule.Handler{},
		ruleSets:        scheduleruleset.New(deps.Pool),
		ruleAssignments: rulesetassignment.New(deps.Pool, scheduleruleset.Kind(), resolver),
		ruleViolations: ruleviolation.New(ruleviolation.Deps{
			Pool: deps.Pool, RuleSets: scheduleruleset.Kind(), Reader: reader, Directory: resolver, Persons: commonsv1.NewPersonServiceClient(deps.Commons),
			Clock: deps.Clock,
		}),
		data: dataprovider.NewServer(deps.Pool, reader, datav1.NewDataRowServiceClient(deps.Commons)),
	}, nil
}

// Register adds the service's operations to a server.
func (s *Service) Register(server grpc.ServiceRegistrar) {
	schedulingv1.RegisterEmploymentTermServiceServer(server, s.terms)
	schedulingv1.RegisterEmploymentTermAssignmentServiceServer(server, s.memberships)
	schedulingv1.RegisterEmployeeDayServiceServer(server, s.employeeDays)
	schedulingv1.RegisterLeaveServiceServer(server, s.leave)
	schedulingv1.RegisterShiftTemplateServiceServer(server, s.shiftTemplates)
	schedulingv1.RegisterSchedulePatternTemplateServiceServer(server, s.patternTemplates)
	schedulingv1.RegisterEmploymentTermSchedulePatternServiceServer(server, s.termPatterns)
	schedulingv1.RegisterEmployeeSchedulePatternServiceServer(server, s.employeePatterns)
	schedulingv1.RegisterEmploymentTermScheduleServiceServer(server, s.termSchedules)
	schedulingv1.RegisterScheduleServiceServer(server, s.schedules)
	schedulingv1.RegisterScheduleChangeServiceServer(server, s.scheduleChanges)
	schedulingv1.RegisterShiftServiceServer(server, s.shifts)
	schedulingv1.RegisterPayCodeEditServiceServer(server, s.payCodeEdits)
	schedulingv1.RegisterScheduleTagServiceServer(server, s.scheduleTags)
	schedulingv1.RegisterScheduleEditServiceServer(server, s.scheduleEdits)
	schedulingv1.RegisterDayLockServiceServer(server, s.dayLocks)
	schedulingv1.RegisterPropagationServiceServer(server, s.propagations)
	schedulingv1.RegisterScheduleGroupServiceServer(server, s.scheduleGroups)
	schedulingv1.RegisterTagDefinitionServiceServer(server, s.tagDefinitions)
	schedulingv1.RegisterTimeOffEditServiceServer(server, s.timeOffEdits)
	schedulingv1.RegisterScheduleRuleServiceServer(server, s.rules)
	schedulingv1.RegisterScheduleRuleSetServiceServer(server, s.ruleSets)
	schedulingv1.RegisterScheduleRuleSetAssignmentServiceServer(server, s.ruleAssignments)
	schedulingv1.RegisterScheduleRuleEvaluationServiceServer(server, s.ruleViolations)
	datav1.RegisterDataProviderServiceServer(server, s.data)
}

// Consumers returns the consumers of the service, without those of its propagator.
func (s *Service) Consumers() []bus.Consumer {
	return append(s.Replicator.Consumers(), s.memberships.RequestConsumer(s.termRequests))
}

// Run maintains the copies of other services' data until ctx ends. The propagator runs beside it,
// in this process or in a separate one.
func (s *Service) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Events.Run(ctx, s.Consumers()...) })
	group.Go(func() error { return s.Replicator.Run(ctx) })
	return group.Wait()
}

// WithPropagator returns the service with its propagator in the same process.
func (s *Service) WithPropagator() *Combined { return &Combined{s} }

// Combined is a Service whose Run includes the propagator's.
type Combined struct{ *Service }

// Run maintains the copies and applies changes to schedules until ctx ends.
func (c *Combined) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return c.Service.Run(ctx) })
	group.Go(func() error { return c.Propagator.Run(ctx) })
	return group.Wait()
}
