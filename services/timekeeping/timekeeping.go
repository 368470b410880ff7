// Package timekeeping is the service for worked time and absences: punches, timecards, leave, time
// off, accruals and payroll.
package timekeeping

import (
	"context"
	"log/slog"

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
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/accrual"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/actualhours"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/brazil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/dataprovider"
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
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/approval"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/card"
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
	// Commons and Scheduling are connections to these services, which trust this service.
	Commons    grpc.ClientConnInterface
	Scheduling grpc.ClientConnInterface
}

// Service is the timekeeping service.
type Service struct {
	*serve.Core

	// Replicator keeps the projections of other domains, and serves the projections that other
	// domains keep of timekeeping.
	Replicator *replica.Replicator

	leaveCases    *leavecase.Handler
	leaveEdits    *leaveedit.Handler
	leaveReporter *leaveedit.Reporter
	leaveNotes    *leavenote.Handler
	leaveSetup    *leavesetup.Handler

	leaveCertifications *leavecertification.Handler

	leaveTypes       *leavepolicy.TypeHandler
	leaveRules       *leavepolicy.RuleHandler
	leaveFields      *leavepolicy.FieldHandler
	leaveProfiles    *leavepolicy.ProfileHandler
	leaveCaseRules   *leavecasepolicy.CaseRules
	leaveCaseFields  *leavecasepolicy.CaseFields
	leaveGrants      *leavecasepolicy.Grants
	leaveAssignments *leavecasepolicy.Assignments

	payCodes  *paycode.Handler
	workRules *workrule.Handler
	payRules  *payrule.Handler

	punches       *timecard.Punches
	timecards     *timecard.Timecards
	scheduleRules *actualhours.Handler
	signoffs      *signoff.Handler
	approvals     *approval.Handler

	payrollEarnings *payrollearning.Handler
	payrollStaging  *payrollstaging.Handler
	payrollExports  *payrollstaging.Exports
	payrollWorker   *payrollstaging.Worker
	log             *slog.Logger

	accrualCodes    *accrual.CodeHandler
	accrualProfiles *accrual.ProfileHandler

	timeOff         *timeoff.Manager
	employeeTimeOff *timeoff.Employee
	timeOffHandover *handover.Handover
	requestSubtypes *requestsubtype.Handler

	brazilDevices   *brazil.Devices
	brazilGroups    *brazil.Groups
	brazilCompanies *brazil.Companies

	data *dataelement.Server
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
	replicator, err := core.Replicator(cfg.Replica, Copies(deps.Pool), nil)
	if err != nil {
		return nil, err
	}
	employeeDays, pay := schedulingv1.NewEmployeeDayServiceClient(deps.Scheduling), commonsv1.NewPersonPayServiceClient(deps.Commons)
	terms := schedulingv1.NewEmploymentTermServiceClient(deps.Scheduling)
	days := employeeday.NewReader(pay, employeeDays)
	cards, room := card.NewReader(deps.Pool, days, deps.Clock.Now), leaveday.NewReader(deps.Pool, days)
	periods := commonsv1.NewSymbolicPeriodServiceClient(deps.Commons)
	hyperfinds := commonsv1.NewHyperfindServiceClient(deps.Commons)
	finder := requested.New(persons, commonsClients{periods, hyperfinds})
	signoffs := signoff.NewStore(deps.Pool, cards)
	leaveDays := leavecase.Ranges{Periods: periods}
	waiting, err := newWaiting(deps.Registry)
	if err != nil {
		return nil, err
	}
	reporter := leaveedit.NewReporter(deps.Pool, schedulingv1.NewLeaveServiceClient(deps.Scheduling), deps.Log, waiting.WithLabelValues("leave"))
	workedTime, jobs := timecard.NewWorkedTime(cards), orgjob.NewResolver(pay)
	payroll := payrollstaging.Deps{
		Pool: deps.Pool, Persons: persons, Commons: commonsv1.NewPersonServiceClient(deps.Commons),
		Source: payrollstaging.FromTimecards(workedTime), CSV: cfg.CSV,
	}
	subtypes, timeOffEdits := requestsubtype.New(deps.Pool), schedulingv1.NewTimeOffEditServiceClient(deps.Scheduling)
	timeOff := timeoff.Deps{
		Pool: deps.Pool, Persons: persons, Days: employeeDays, Handover: handover.New(deps.Pool, timeOffEdits, timeoff.StoredEdits, deps.Log, waiting.WithLabelValues("time_off")),
		Subtypes: subtypes, Commons: hyperfinds, Accruals: accrual.NewReader(deps.Pool, cards, pay), Room: room, Clock: deps.Clock,
	}
	payrollWorker, err := payrollstaging.NewWorker(payroll, deps.Registry)
	if err != nil {
		return nil, err
	}
	return &Service{
		Core: core, Replicator: replicator, leaveReporter: reporter,
		leaveCases: leavecase.New(deps.Pool, persons, leaveedit.OfCases{}, leaveDays, reporter.Report),
		leaveEdits: leaveedit.New(deps.Pool, persons, employeeDays, room, leaveDays, reporter),
		leaveNotes: leavenote.New(deps.Pool, persons, deps.Clock.Now),
		leaveSetup: leavesetup.New(),

		leaveCertifications: leavecertification.New(deps.Pool, persons),

		leaveTypes:       leavepolicy.NewTypes(deps.Pool),
		leaveRules:       leavepolicy.NewRules(deps.Pool),
		leaveFields:      leavepolicy.NewFields(deps.Pool),
		leaveProfiles:    leavepolicy.NewProfiles(deps.Pool),
		leaveCaseRules:   leavecasepolicy.NewCaseRules(deps.Pool, persons, leaveedit.OfCases{}, reporter.Report),
		leaveCaseFields:  leavecasepolicy.NewCaseFields(deps.Pool, persons),
		leaveGrants:      leavecasepolicy.NewGrants(deps.Pool, persons),
		leaveAssignments: leavecasepolicy.NewAssignments(deps.Pool, persons),

		payCodes:  paycode.New(deps.Pool, terms),
		workRules: workrule.New(deps.Pool, terms),
		payRules:  payrule.New(deps.Pool, terms),

		punches:       timecard.NewPunches(deps.Pool, signoffs, persons, jobs, deps.Clock.Now),
		timecards:     timecard.NewTimecards(deps.Pool, cards, finder, signoffs, room, jobs),
		scheduleRules: actualhours.New(schedulingv1.NewScheduleRuleEvaluationServiceClient(deps.Scheduling), cards),
		signoffs:      signoff.New(signoffs, finder),
		approvals:     approval.New(deps.Pool, cards, finder),

		payrollEarnings: payrollearning.New(deps.Pool, persons, deps.Clock),
		payrollStaging:  payrollstaging.New(payroll),
		payrollExports:  payrollstaging.NewExports(payroll),
		payrollWorker:   payrollWorker,
		log:             deps.Log,

		accrualCodes:    accrual.NewCodes(deps.Pool),
		accrualProfiles: accrual.NewProfiles(deps.Pool),

		timeOff:         timeoff.NewManager(timeOff),
		employeeTimeOff: timeoff.NewEmployee(timeOff),
		timeOffHandover: timeOff.Handover,
		requestSubtypes: subtypes,

		brazilDevices:   brazil.NewDevices(deps.Pool, rules),
		brazilGroups:    brazil.NewGroups(deps.Pool),
		brazilCompanies: brazil.NewCompanies(deps.Pool),

		data: dataprovider.NewServer(deps.Pool, cards, periods, datav1.NewDataProviderServiceClient(deps.Scheduling)),
	}, nil
}

// Register adds the service's operations to a server.
func (s *Service) Register(server grpc.ServiceRegistrar) {
	timekeepingv1.RegisterLeaveCaseServiceServer(server, s.leaveCases)
	timekeepingv1.RegisterLeaveEditServiceServer(server, s.leaveEdits)
	timekeepingv1.RegisterLeaveNoteServiceServer(server, s.leaveNotes)
	timekeepingv1.RegisterLeaveCertificationServiceServer(server, s.leaveCertifications)
	timekeepingv1.RegisterLeaveSetupServiceServer(server, s.leaveSetup)
	timekeepingv1.RegisterLeaveTypeServiceServer(server, s.leaveTypes)
	timekeepingv1.RegisterLeaveRuleServiceServer(server, s.leaveRules)
	timekeepingv1.RegisterLeaveCustomFieldServiceServer(server, s.leaveFields)
	timekeepingv1.RegisterLeaveProfileServiceServer(server, s.leaveProfiles)
	timekeepingv1.RegisterLeaveCaseRuleServiceServer(server, s.leaveCaseRules)
	timekeepingv1.RegisterLeaveCaseCustomFieldServiceServer(server, s.leaveCaseFields)
	timekeepingv1.RegisterLeaveGrantServiceServer(server, s.leaveGrants)
	timekeepingv1.RegisterLeaveProfileAssignmentServiceServer(server, s.leaveAssignments)
	timekeepingv1.RegisterPayCodeServiceServer(server, s.payCodes)
	timekeepingv1.RegisterWorkRuleServiceServer(server, s.workRules)
	timekeepingv1.RegisterPayrollEarningServiceServer(server, s.payrollEarnings)
	timekeepingv1.RegisterPayrollStagingServiceServer(server, s.payrollStaging)
	timekeepingv1.RegisterPayrollExportServiceServer(server, s.payrollExports)
	timekeepingv1.RegisterPayRuleServiceServer(server, s.payRules)
	timekeepingv1.RegisterPunchServiceServer(server, s.punches)
	timekeepingv1.RegisterTimecardServiceServer(server, s.timecards)
	timekeepingv1.RegisterScheduleRuleEvaluationServiceServer(server, s.scheduleRules)
	timekeepingv1.RegisterTimecardApprovalServiceServer(server, s.approvals)
	timekeepingv1.RegisterTimecardSignoffServiceServer(server, s.signoffs)
	timekeepingv1.RegisterAccrualCodeServiceServer(server, s.accrualCodes)
	timekeepingv1.RegisterAccrualProfileServiceServer(server, s.accrualProfiles)
	timekeepingv1.RegisterTimeOffServiceServer(server, s.timeOff)
	timekeepingv1.RegisterEmployeeTimeOffServiceServer(server, s.employeeTimeOff)
	timekeepingv1.RegisterRequestSubtypeServiceServer(server, s.requestSubtypes)
	timekeepingv1.RegisterBrazilDeviceServiceServer(server, s.brazilDevices)
	timekeepingv1.RegisterBrazilDeviceGroupServiceServer(server, s.brazilGroups)
	timekeepingv1.RegisterBrazilCompanyServiceServer(server, s.brazilCompanies)
	datav1.RegisterDataProviderServiceServer(server, s.data)
}

// Consumers returns the event consumers of the service.
func (s *Service) Consumers() []bus.Consumer {
	return append(s.Replicator.Consumers(), s.payrollWorker.Consumer())
}

// Run consumes the events of other domains, and serves the backfills of their projections, until
// ctx ends.
func (s *Service) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Replicator.Run(ctx) })
	group.Go(func() error { return s.payrollWorker.Run(ctx, s.log) })
	group.Go(func() error { return s.timeOffHandover.Run(ctx) })
	group.Go(func() error { return s.leaveReporter.Run(ctx) })
	group.Go(func() error { return s.Events.Run(ctx, s.Consumers()...) })
	return group.Wait()
}

// commonsClients has the calls to commons that timecards need.
type commonsClients struct {
	commonsv1.SymbolicPeriodServiceClient
	commonsv1.HyperfindServiceClient
}
