// Package timekeeping is the service for worked time and absences: punches, timecards, leave, time
// off, accruals and payroll.
package timekeeping

import (
	"context"
	"log/slog"
	"slices"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/serve"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/accrual"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/actualhours"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/brazil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/dataprovider"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/device"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecasepolicy"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecertification"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveedit"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavenote"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavepolicy"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrollearning"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrollstaging"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/requestsubtype"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/approval"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeoff/handover"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/workrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/migrations"
)

// Config holds the settings of the service. The zero value of every field works.
type Config struct {
	Streams bus.Limits               `embed:"" prefix:"stream-" envprefix:"STREAM_"`
	Replica replica.Config           `embed:"" prefix:"replica-" envprefix:"REPLICA_"`
	CSV     payrollstaging.CSVConfig `embed:""`
}

// Deps are the dependencies of the service.
type Deps struct {
	serve.Backends
	// Auth, Commons and Scheduling are connections to these services, which trust this service.
	Auth       grpc.ClientConnInterface
	Commons    grpc.ClientConnInterface
	Scheduling grpc.ClientConnInterface
}

// Service is the timekeeping service.
type Service struct {
	*serve.Core
	serve.Registrations

	// Replicator keeps the projections of other domains, and serves the projections that other
	// domains keep of timekeeping.
	Replicator *replica.Replicator

	leaveReporter   *leaveedit.Reporter
	payrollWorker   *payrollstaging.Worker
	log             *slog.Logger
	timeOffHandover *handover.Handover
	comparisons     []bus.Consumer
	names           *setupname.Names
}

// Migrations returns the schema that the service needs.
func Migrations() ([]pg.Migrations, error) {
	return serve.Migrations("timekeeping_version", migrations.FS)
}

// New creates the service. It does not access the database or the broker.
func New(_ context.Context, cfg Config, deps Deps) (*Service, error) {
	sets, err := Migrations()
	if err != nil {
		return nil, err
	}
	core, err := serve.NewCore(deps.Backends, cfg.Streams, sets)
	if err != nil {
		return nil, err
	}
	rules := rowvisibility.FromCommons(deps.Clock, deps.Commons, deps.Log)
	persons := person.NewDirectory(deps.Pool, commonsv1.NewPersonServiceClient(deps.Commons), rules)
	replicator, err := core.Replicator(cfg.Replica, Copies(deps.Pool), Topics())
	if err != nil {
		return nil, err
	}
	employeeDays, pay := schedulingv1.NewEmployeeDayServiceClient(deps.Scheduling), commonsv1.NewPersonPayServiceClient(deps.Commons)
	terms := schedulingv1.NewEmploymentTermServiceClient(deps.Scheduling)
	names := setupname.New(deps.Pool, terms, commonsv1.NewPersonReferenceServiceClient(deps.Commons), deps.Log)
	days := employeeday.NewReader(pay, employeeDays)
	timecards, room := calculation.NewReader(deps.Pool, days, deps.Clock.Now), leaveday.NewReader(deps.Pool, days)
	members := commonsv1.NewDeviceGroupMemberServiceClient(deps.Commons)
	periods := commonsv1.NewSymbolicPeriodServiceClient(deps.Commons)
	hyperfinds := commonsv1.NewHyperfindServiceClient(deps.Commons)
	finder := requested.New(persons, commonsClients{periods, hyperfinds})
	signoffs := signoff.NewStore(deps.Pool, timecards)
	leaveDays := leavecase.Ranges{Periods: periods}
	waiting, err := newWaiting(deps.Registry)
	if err != nil {
		return nil, err
	}
	reporter := leaveedit.NewReporter(deps.Pool, schedulingv1.NewLeaveServiceClient(deps.Scheduling), deps.Log, waiting.WithLabelValues("leave"))
	accruals := accrual.NewReader(deps.Pool, timecards, pay)
	workedTime, jobs := timecard.NewWorkedTime(timecards), orgjob.NewResolver(pay)
	payroll := payrollstaging.Deps{
		Pool: deps.Pool, Persons: persons, Commons: commonsv1.NewPersonServiceClient(deps.Commons),
		Source: payrollstaging.FromTimecards(workedTime), CSV: cfg.CSV,
	}
	subtypes, timeOffEdits := requestsubtype.New(deps.Pool), schedulingv1.NewTimeOffEditServiceClient(deps.Scheduling)
	timeOff := timeoff.Deps{
		Pool: deps.Pool, Persons: persons, Days: employeeDays, Handover: handover.New(deps.Pool, timeOffEdits, timeoff.StoredEdits, deps.Log, waiting.WithLabelValues("time_off")),
		Subtypes: subtypes, Commons: hyperfinds, Accruals: accruals, Room: room, Clock: deps.Clock,
	}
	payrollWorker, err := payrollstaging.NewWorker(payroll, deps.Registry)
	if err != nil {
		return nil, err
	}
	return &Service{
		Core: core, Replicator: replicator, leaveReporter: reporter, payrollWorker: payrollWorker, log: deps.Log, timeOffHandover: timeOff.Handover,
		comparisons: signoffs.Consumers(), names: names,
		Registrations: serve.Registrations{
			serve.Handle(timekeepingv1.RegisterLeaveCaseServiceServer)(leavecase.New(deps.Pool, persons, leaveedit.OfCases{}, leaveDays, reporter.Report)),
			serve.Handle(timekeepingv1.RegisterLeaveEditServiceServer)(leaveedit.New(deps.Pool, persons, employeeDays, room, leaveDays, reporter)),
			serve.Handle(timekeepingv1.RegisterLeaveNoteServiceServer)(leavenote.New(deps.Pool, persons, deps.Clock.Now)),
			serve.Handle(timekeepingv1.RegisterLeaveCertificationServiceServer)(leavecertification.New(deps.Pool, persons)),
			serve.Handle(timekeepingv1.RegisterLeaveSetupServiceServer)(leavesetup.New()),
			serve.Handle(timekeepingv1.RegisterLeaveTypeServiceServer)(leavepolicy.NewTypes(deps.Pool)),
			serve.Handle(timekeepingv1.RegisterLeaveRuleServiceServer)(leavepolicy.NewRules(deps.Pool)),
			serve.Handle(timekeepingv1.RegisterLeaveCustomFieldServiceServer)(leavepolicy.NewFields(deps.Pool)),
			serve.Handle(timekeepingv1.RegisterLeaveProfileServiceServer)(leavepolicy.NewProfiles(deps.Pool)),
			serve.Handle(timekeepingv1.RegisterLeaveCaseRuleServiceServer)(leavecasepolicy.NewCaseRules(deps.Pool, persons, leaveedit.OfCases{}, reporter.Report)),
			serve.Handle(timekeepingv1.RegisterLeaveCaseCustomFieldServiceServer)(leavecasepolicy.NewCaseFields(deps.Pool, persons)),
			serve.Handle(timekeepingv1.RegisterLeaveGrantServiceServer)(leavecasepolicy.NewGrants(deps.Pool, persons)),
			serve.Handle(timekeepingv1.RegisterLeaveProfileAssignmentServiceServer)(leavecasepolicy.NewAssignments(deps.Pool, persons)),
			serve.Handle(timekeepingv1.RegisterPayCodeServiceServer)(paycode.New(deps.Pool, terms)),
			serve.Handle(timekeepingv1.RegisterWorkRuleServiceServer)(workrule.New(names)),
			serve.Handle(timekeepingv1.RegisterPayrollEarningServiceServer)(payrollearning.New(deps.Pool, persons, deps.Clock)),
			serve.Handle(timekeepingv1.RegisterPayrollStagingServiceServer)(payrollstaging.New(payroll)),
			serve.Handle(timekeepingv1.RegisterPayrollExportServiceServer)(payrollstaging.NewExports(payroll)),
			serve.Handle(timekeepingv1.RegisterPayRuleServiceServer)(payrule.New(names)),
			serve.Handle(timekeepingv1.RegisterPunchServiceServer)(timecard.NewPunches(deps.Pool, signoffs, persons, jobs, deps.Clock.Now)),
			serve.Handle(timekeepingv1.RegisterTimecardServiceServer)(timecard.NewTimecards(deps.Pool, timecards, finder, signoffs, room, jobs, accruals)),
			serve.Handle(timekeepingv1.RegisterScheduleRuleEvaluationServiceServer)(actualhours.New(schedulingv1.NewScheduleRuleEvaluationServiceClient(deps.Scheduling), timecards)),
			serve.Handle(timekeepingv1.RegisterTimecardApprovalServiceServer)(approval.New(deps.Pool, timecards, finder)),
			serve.Handle(timekeepingv1.RegisterTimecardSignoffServiceServer)(signoff.New(signoffs, finder)),
			serve.Handle(timekeepingv1.RegisterAccrualCodeServiceServer)(accrual.NewCodes(deps.Pool)),
			serve.Handle(timekeepingv1.RegisterAccrualProfileServiceServer)(accrual.NewProfiles(names)),
			serve.Handle(timekeepingv1.RegisterTimeOffServiceServer)(timeoff.NewManager(timeOff)),
			serve.Handle(timekeepingv1.RegisterEmployeeTimeOffServiceServer)(timeoff.NewEmployee(timeOff)),
			serve.Handle(timekeepingv1.RegisterRequestSubtypeServiceServer)(subtypes),
			serve.Handle(timekeepingv1.RegisterBrazilDeviceServiceServer)(brazil.NewDevices(deps.Pool, rules)),
			serve.Handle(timekeepingv1.RegisterBrazilDeviceGroupServiceServer)(brazil.NewGroups(deps.Pool)),
			serve.Handle(timekeepingv1.RegisterBrazilCompanyServiceServer)(brazil.NewCompanies(deps.Pool)),
			serve.Handle(udmv1.RegisterDeviceGroupServiceServer)(device.NewGroups(deps.Pool, members)),
			serve.Handle(udmv1.RegisterDeviceServiceServer)(device.NewDevices(deps.Pool, deps.Clock)),
			serve.Handle(udmv1.RegisterDeviceCredentialsServiceServer)(device.NewCredentials(deps.Pool, authv1.NewClientServiceClient(deps.Auth))),
			serve.Handle(udmv1.RegisterDeviceClientServiceServer)(device.NewClient(device.ClientDeps{
				Pool: deps.Pool, Members: members, Persons: persons, Timecards: signoffs, Clock: deps.Clock,
			})),
			serve.Handle(datav1.RegisterDataProviderServiceServer)(dataprovider.NewServer(deps.Pool, timecards, periods, datav1.NewDataProviderServiceClient(deps.Scheduling))),
		},
	}, nil
}

// Consumers returns the event consumers of the service.
func (s *Service) Consumers() []bus.Consumer {
	return slices.Concat(s.Replicator.Consumers(), s.comparisons, []bus.Consumer{s.payrollWorker.Consumer()})
}

// Run consumes the events of other domains, and serves the backfills of their projections, until
// ctx ends.
func (s *Service) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Replicator.Run(ctx) })
	group.Go(func() error { return s.payrollWorker.Run(ctx, s.log) })
	group.Go(func() error { return s.timeOffHandover.Run(ctx) })
	group.Go(func() error { return s.leaveReporter.Run(ctx) })
	group.Go(func() error { return s.names.Run(ctx) })
	group.Go(func() error { return s.Events.Run(ctx, s.Consumers()...) })
	return group.Wait()
}

// commonsClients has the calls to commons that timecards need.
type commonsClients struct {
	commonsv1.SymbolicPeriodServiceClient
	commonsv1.HyperfindServiceClient
}
