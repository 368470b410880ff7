// Package scheduling is the scheduling service: rotations, the schedules that they generate, and
// entered items.
package scheduling

import (
	"context"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/domain/jobpath"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/serve"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
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
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/explanation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulechange"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulegroup"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulepatterntemplate"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulepreview"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleruleset"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/shifttemplate"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/tagdefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/timeoffedit"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/undo"
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
	serve.Registrations

	// Propagator applies changes to schedules, in this process or in a separate one.
	Propagator *Propagator

	// Replicator maintains scheduling's copies of other services' data, and publishes the data that
	// others copy.
	Replicator *replica.Replicator

	termRequests commonsv1.TermRequestServiceClient
	memberships  *membership.Handler
	groups       *schedulegroup.Handler
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
	keepHistory := cfg.Propagation.HistoryRetention()
	instants := asof.New(reader, keepHistory)
	rules := ruleviolation.Deps{
		Pool: deps.Pool, RuleSets: scheduleruleset.Kind(), Reader: reader, Directory: resolver, Persons: commonsv1.NewPersonServiceClient(deps.Commons),
		Clock: deps.Clock,
	}
	commons := schedule.NewCommons(deps.Commons)
	jobs := &jobpath.Checker{Locations: commons, Log: deps.Log}
	items := scheduleitem.Deps{
		Pool: deps.Pool, Directory: resolver, Reader: reader, Templates: shifttemplate.Kind(), Settings: cfg.Items,
		Rules: &ruleviolation.Checker{Deps: rules}, JobPaths: jobs,
	}
	payCodeEdits := scheduleitem.NewPayCodeEdits(items)
	// Requests that wait for their propagation undo nothing.
	propagations := propagation.NewHandler(deps.Pool, resolver.Visible, propagation.Undos{}, deps.Log)
	previews := schedulepreview.NewPreviews(deps.Clock)
	employmentTerms := employmentterm.New(deps.Pool)
	termPatterns := employmenttermschedulepattern.New(cfg.Builder, employmenttermschedulepattern.Deps{
		Pool: deps.Pool, Definitions: definitions, JobPaths: jobs, Terms: terms, Instants: instants, Propagations: propagations,
		Previews: previews,
	})
	employeePatterns := employeeschedulepattern.New(employeeschedulepattern.Deps{
		Pool: deps.Pool, Definitions: definitions, JobPaths: jobs, Directory: resolver, Schedules: items, Builder: cfg.Builder.Builder(), Instants: instants,
		Propagations: propagations,
	})
	undoers := undo.Undoers{Terms: employmentTerms, TermPatterns: termPatterns, EmployeePatterns: employeePatterns}
	groups := schedulegroup.New(deps.Pool, commonsv1.NewPersonReferenceServiceClient(deps.Commons), deps.Log)
	return &Service{
		Core: core, Propagator: propagator, Replicator: replicator, termRequests: commonsv1.NewTermRequestServiceClient(deps.Commons), memberships: memberships, groups: groups,
		Registrations: serve.Registrations{
			serve.Handle(schedulingv1.RegisterEmploymentTermServiceServer)(employmentTerms),
			serve.Handle(schedulingv1.RegisterEmploymentTermAssignmentServiceServer)(memberships),
			serve.Handle(schedulingv1.RegisterEmployeeDayServiceServer)(employeeday.New(deps.Pool, reader)),
			serve.Handle(schedulingv1.RegisterLeaveServiceServer)(leave.New(deps.Pool)),
			serve.Handle(schedulingv1.RegisterShiftTemplateServiceServer)(shifttemplate.New(deps.Pool, patterndefinition.NewRules(cfg.Patterns), resolver, jobs)),
			serve.Handle(schedulingv1.RegisterSchedulePatternTemplateServiceServer)(schedulepatterntemplate.New(deps.Pool, definitions, jobs)),
			serve.Handle(schedulingv1.RegisterEmploymentTermSchedulePatternServiceServer)(termPatterns),
			serve.Handle(schedulingv1.RegisterEmployeeSchedulePatternServiceServer)(employeePatterns),
			serve.Handle(schedulingv1.RegisterSchedulePreviewServiceServer)(schedulepreview.New(schedulepreview.Deps{
				Pool: deps.Pool, Clock: deps.Clock, Terms: termPatterns.Assignments(), Reader: reader, Visible: resolver.Visible,
				ProposeUndo: undoers.Propose,
			})),
			serve.Handle(schedulingv1.RegisterEmploymentTermScheduleServiceServer)(employmenttermschedule.New(employmenttermschedule.Deps{Pool: deps.Pool, Reader: reader, Terms: terms, Directory: resolver, Commons: commons})),
			serve.Handle(schedulingv1.RegisterScheduleServiceServer)(schedule.New(deps.Pool, reader, resolver, commons, instants)),
			serve.Handle(schedulingv1.RegisterScheduleChangeServiceServer)(schedulechange.New(schedulechange.Deps{Reader: reader, Directory: resolver, KeepHistory: keepHistory})),
			serve.Handle(schedulingv1.RegisterScheduleExplanationServiceServer)(explanation.New(explanation.Deps{Pool: deps.Pool, Reader: reader, Directory: resolver, Instants: instants})),
			serve.Handle(schedulingv1.RegisterShiftServiceServer)(scheduleitem.NewShifts(items)),
			serve.Handle(schedulingv1.RegisterPayCodeEditServiceServer)(payCodeEdits),
			serve.Handle(schedulingv1.RegisterScheduleTagServiceServer)(scheduleitem.NewScheduleTags(items)),
			serve.Handle(schedulingv1.RegisterScheduleEditServiceServer)(scheduleitem.NewScheduleEdits(items)),
			serve.Handle(schedulingv1.RegisterDayLockServiceServer)(daylock.New(deps.Pool, resolver)),
			serve.Handle(schedulingv1.RegisterPropagationServiceServer)(propagation.NewHandler(deps.Pool, resolver.Visible, propagation.Undos{Undo: undoers.Undo, Previews: previews}, deps.Log)),
			serve.Handle(schedulingv1.RegisterScheduleGroupServiceServer)(groups),
			serve.Handle(schedulingv1.RegisterTagDefinitionServiceServer)(tagdefinition.New(deps.Pool, jobs)),
			serve.Handle(schedulingv1.RegisterTimeOffEditServiceServer)(timeoffedit.New(timeoffedit.Deps{Pool: deps.Pool, Directory: resolver, Schedules: payCodeEdits})),
			serve.Handle(schedulingv1.RegisterScheduleRuleServiceServer)(&schedulerule.Handler{}),
			serve.Handle(schedulingv1.RegisterScheduleRuleSetServiceServer)(scheduleruleset.New(deps.Pool)),
			serve.Handle(schedulingv1.RegisterScheduleRuleSetAssignmentServiceServer)(rulesetassignment.New(deps.Pool, scheduleruleset.Kind(), resolver)),
			serve.Handle(schedulingv1.RegisterScheduleRuleEvaluationServiceServer)(ruleviolation.New(rules)),
			serve.Handle(datav1.RegisterDataProviderServiceServer)(dataprovider.NewServer(deps.Pool, reader, datav1.NewDataRowServiceClient(deps.Commons))),
		},
	}, nil
}

// Consumers returns the consumers of the service, without those of its propagator.
func (s *Service) Consumers() []bus.Consumer {
	return append(s.Replicator.Consumers(), s.memberships.RequestConsumer(s.termRequests))
}

// Run maintains the copies of other services' data, and the names of schedule groups of persons, until ctx ends. The propagator runs beside it,
// in this process or in a separate one.
func (s *Service) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Events.Run(ctx, s.Consumers()...) })
	group.Go(func() error { return s.Replicator.Run(ctx) })
	group.Go(func() error { return s.groups.Run(ctx) })
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
