// Package backends lists the services behind the edge, and the connections to them.
package backends

import (
	"context"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"

	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Conns are the connections to the services, one for each domain. A
// connection in process serves as well as one over the network, provided that
// it follows the call option grpc.ForceCodecV2.
type Conns struct {
	Auth        grpc.ClientConnInterface
	Commons     grpc.ClientConnInterface
	Timekeeping grpc.ClientConnInterface
	Scheduling  grpc.ClientConnInterface
	Platform    grpc.ClientConnInterface
	// Own leads to platform too, for what the edge asks for itself: operations
	// between services, which no user may call. OwnAuth leads to auth likewise; without
	// it, tokens of identity providers are good for nothing.
	Own, OwnAuth grpc.ClientConnInterface
}

// Domain is a connection and the services behind it that have routes.
type Domain struct {
	Name     string
	Conn     grpc.ClientConnInterface
	Services []Service
}

// Service is one service of the contracts with its generated handlers.
type Service struct {
	Name     string
	Register func(context.Context, *runtime.ServeMux, grpc.ClientConnInterface) error
}

// generated ties the parts of the generated code of one service together.
func generated[C any](
	desc *grpc.ServiceDesc,
	client func(grpc.ClientConnInterface) C,
	register func(context.Context, *runtime.ServeMux, C) error,
) Service {
	return Service{
		Name: desc.ServiceName,
		Register: func(ctx context.Context, mux *runtime.ServeMux, conn grpc.ClientConnInterface) error {
			return register(ctx, mux, client(conn))
		},
	}
}

// Domains lists every service that has routes. A test fails when one is
// missing. The order does not matter.
func Domains(c Conns) []Domain {
	return []Domain{
		{"auth", c.Auth, []Service{
			generated(&authv1.TokenService_ServiceDesc, authv1.NewTokenServiceClient, authv1.RegisterTokenServiceHandlerClient),
			generated(&authv1.AccessProfileService_ServiceDesc, authv1.NewAccessProfileServiceClient, authv1.RegisterAccessProfileServiceHandlerClient),
			generated(&authv1.UserService_ServiceDesc, authv1.NewUserServiceClient, authv1.RegisterUserServiceHandlerClient),
			generated(&authv1.ClientService_ServiceDesc, authv1.NewClientServiceClient, authv1.RegisterClientServiceHandlerClient),
			generated(&authv1.IdentityProviderService_ServiceDesc, authv1.NewIdentityProviderServiceClient, authv1.RegisterIdentityProviderServiceHandlerClient),
		}},
		{"commons", c.Commons, []Service{
			generated(&commonsv1.NewHireService_ServiceDesc, commonsv1.NewNewHireServiceClient, commonsv1.RegisterNewHireServiceHandlerClient),
			generated(&commonsv1.PersonService_ServiceDesc, commonsv1.NewPersonServiceClient, commonsv1.RegisterPersonServiceHandlerClient),
			generated(&commonsv1.WageWorkRuleService_ServiceDesc, commonsv1.NewWageWorkRuleServiceClient, commonsv1.RegisterWageWorkRuleServiceHandlerClient),
			generated(&commonsv1.JobService_ServiceDesc, commonsv1.NewJobServiceClient, commonsv1.RegisterJobServiceHandlerClient),
			generated(&commonsv1.LocationService_ServiceDesc, commonsv1.NewLocationServiceClient, commonsv1.RegisterLocationServiceHandlerClient),
			generated(&commonsv1.LocationTypeService_ServiceDesc, commonsv1.NewLocationTypeServiceClient, commonsv1.RegisterLocationTypeServiceHandlerClient),
			generated(&commonsv1.LocationSetService_ServiceDesc, commonsv1.NewLocationSetServiceClient, commonsv1.RegisterLocationSetServiceHandlerClient),
			generated(&commonsv1.HyperfindService_ServiceDesc, commonsv1.NewHyperfindServiceClient, commonsv1.RegisterHyperfindServiceHandlerClient),
			generated(&commonsv1.HyperfindProfileService_ServiceDesc, commonsv1.NewHyperfindProfileServiceClient, commonsv1.RegisterHyperfindProfileServiceHandlerClient),
			generated(&commonsv1.HolidayService_ServiceDesc, commonsv1.NewHolidayServiceClient, commonsv1.RegisterHolidayServiceHandlerClient),
			generated(&commonsv1.DelegationService_ServiceDesc, commonsv1.NewDelegationServiceClient, commonsv1.RegisterDelegationServiceHandlerClient),
			generated(&commonsv1.SymbolicPeriodService_ServiceDesc, commonsv1.NewSymbolicPeriodServiceClient, commonsv1.RegisterSymbolicPeriodServiceHandlerClient),
		}},
		{"timekeeping", c.Timekeeping, []Service{
			generated(&timekeepingv1.LeaveNoteService_ServiceDesc, timekeepingv1.NewLeaveNoteServiceClient, timekeepingv1.RegisterLeaveNoteServiceHandlerClient),
			generated(&timekeepingv1.LeaveCertificationService_ServiceDesc, timekeepingv1.NewLeaveCertificationServiceClient, timekeepingv1.RegisterLeaveCertificationServiceHandlerClient),
			generated(&timekeepingv1.LeaveTypeService_ServiceDesc, timekeepingv1.NewLeaveTypeServiceClient, timekeepingv1.RegisterLeaveTypeServiceHandlerClient),
			generated(&timekeepingv1.LeaveRuleService_ServiceDesc, timekeepingv1.NewLeaveRuleServiceClient, timekeepingv1.RegisterLeaveRuleServiceHandlerClient),
			generated(&timekeepingv1.LeaveCustomFieldService_ServiceDesc, timekeepingv1.NewLeaveCustomFieldServiceClient, timekeepingv1.RegisterLeaveCustomFieldServiceHandlerClient),
			generated(&timekeepingv1.LeaveProfileService_ServiceDesc, timekeepingv1.NewLeaveProfileServiceClient, timekeepingv1.RegisterLeaveProfileServiceHandlerClient),
			generated(&timekeepingv1.LeaveCaseRuleService_ServiceDesc, timekeepingv1.NewLeaveCaseRuleServiceClient, timekeepingv1.RegisterLeaveCaseRuleServiceHandlerClient),
			generated(&timekeepingv1.LeaveCaseCustomFieldService_ServiceDesc, timekeepingv1.NewLeaveCaseCustomFieldServiceClient, timekeepingv1.RegisterLeaveCaseCustomFieldServiceHandlerClient),
			generated(&timekeepingv1.LeaveGrantService_ServiceDesc, timekeepingv1.NewLeaveGrantServiceClient, timekeepingv1.RegisterLeaveGrantServiceHandlerClient),
			generated(&timekeepingv1.LeaveProfileAssignmentService_ServiceDesc, timekeepingv1.NewLeaveProfileAssignmentServiceClient, timekeepingv1.RegisterLeaveProfileAssignmentServiceHandlerClient),
			generated(&timekeepingv1.LeaveCaseService_ServiceDesc, timekeepingv1.NewLeaveCaseServiceClient, timekeepingv1.RegisterLeaveCaseServiceHandlerClient),
			generated(&timekeepingv1.LeaveEditService_ServiceDesc, timekeepingv1.NewLeaveEditServiceClient, timekeepingv1.RegisterLeaveEditServiceHandlerClient),
			generated(&timekeepingv1.LeaveSetupService_ServiceDesc, timekeepingv1.NewLeaveSetupServiceClient, timekeepingv1.RegisterLeaveSetupServiceHandlerClient),
			generated(&timekeepingv1.PayCodeService_ServiceDesc, timekeepingv1.NewPayCodeServiceClient, timekeepingv1.RegisterPayCodeServiceHandlerClient),
			generated(&timekeepingv1.WorkRuleService_ServiceDesc, timekeepingv1.NewWorkRuleServiceClient, timekeepingv1.RegisterWorkRuleServiceHandlerClient),
			generated(&timekeepingv1.PayrollStagingService_ServiceDesc, timekeepingv1.NewPayrollStagingServiceClient, timekeepingv1.RegisterPayrollStagingServiceHandlerClient),
			generated(&timekeepingv1.PayrollExportService_ServiceDesc, timekeepingv1.NewPayrollExportServiceClient, timekeepingv1.RegisterPayrollExportServiceHandlerClient),
			generated(&timekeepingv1.PayrollEarningService_ServiceDesc, timekeepingv1.NewPayrollEarningServiceClient, timekeepingv1.RegisterPayrollEarningServiceHandlerClient),
			generated(&timekeepingv1.AccrualCodeService_ServiceDesc, timekeepingv1.NewAccrualCodeServiceClient, timekeepingv1.RegisterAccrualCodeServiceHandlerClient),
			generated(&timekeepingv1.AccrualProfileService_ServiceDesc, timekeepingv1.NewAccrualProfileServiceClient, timekeepingv1.RegisterAccrualProfileServiceHandlerClient),
			generated(&timekeepingv1.PayRuleService_ServiceDesc, timekeepingv1.NewPayRuleServiceClient, timekeepingv1.RegisterPayRuleServiceHandlerClient),
			generated(&timekeepingv1.PunchService_ServiceDesc, timekeepingv1.NewPunchServiceClient, timekeepingv1.RegisterPunchServiceHandlerClient),
			generated(&timekeepingv1.ScheduleRuleEvaluationService_ServiceDesc, timekeepingv1.NewScheduleRuleEvaluationServiceClient, timekeepingv1.RegisterScheduleRuleEvaluationServiceHandlerClient),
			generated(&timekeepingv1.TimecardService_ServiceDesc, timekeepingv1.NewTimecardServiceClient, timekeepingv1.RegisterTimecardServiceHandlerClient),
			generated(&timekeepingv1.TimecardSignoffService_ServiceDesc, timekeepingv1.NewTimecardSignoffServiceClient, timekeepingv1.RegisterTimecardSignoffServiceHandlerClient),
			generated(&timekeepingv1.TimecardApprovalService_ServiceDesc, timekeepingv1.NewTimecardApprovalServiceClient, timekeepingv1.RegisterTimecardApprovalServiceHandlerClient),
			generated(&timekeepingv1.BrazilDeviceService_ServiceDesc, timekeepingv1.NewBrazilDeviceServiceClient, timekeepingv1.RegisterBrazilDeviceServiceHandlerClient),
			generated(&timekeepingv1.BrazilDeviceGroupService_ServiceDesc, timekeepingv1.NewBrazilDeviceGroupServiceClient, timekeepingv1.RegisterBrazilDeviceGroupServiceHandlerClient),
			generated(&timekeepingv1.BrazilCompanyService_ServiceDesc, timekeepingv1.NewBrazilCompanyServiceClient, timekeepingv1.RegisterBrazilCompanyServiceHandlerClient),
			generated(&timekeepingv1.EmployeeTimeOffService_ServiceDesc, timekeepingv1.NewEmployeeTimeOffServiceClient, timekeepingv1.RegisterEmployeeTimeOffServiceHandlerClient),
			generated(&timekeepingv1.RequestSubtypeService_ServiceDesc, timekeepingv1.NewRequestSubtypeServiceClient, timekeepingv1.RegisterRequestSubtypeServiceHandlerClient),
			generated(&timekeepingv1.TimeOffService_ServiceDesc, timekeepingv1.NewTimeOffServiceClient, timekeepingv1.RegisterTimeOffServiceHandlerClient),
		}},
		{"scheduling", c.Scheduling, []Service{
			generated(&schedulingv1.DayLockService_ServiceDesc, schedulingv1.NewDayLockServiceClient, schedulingv1.RegisterDayLockServiceHandlerClient),
			generated(&schedulingv1.EmployeeSchedulePatternService_ServiceDesc, schedulingv1.NewEmployeeSchedulePatternServiceClient, schedulingv1.RegisterEmployeeSchedulePatternServiceHandlerClient),
			generated(&schedulingv1.EmploymentTermService_ServiceDesc, schedulingv1.NewEmploymentTermServiceClient, schedulingv1.RegisterEmploymentTermServiceHandlerClient),
			generated(&schedulingv1.EmploymentTermAssignmentService_ServiceDesc, schedulingv1.NewEmploymentTermAssignmentServiceClient, schedulingv1.RegisterEmploymentTermAssignmentServiceHandlerClient),
			generated(&schedulingv1.EmploymentTermScheduleService_ServiceDesc, schedulingv1.NewEmploymentTermScheduleServiceClient, schedulingv1.RegisterEmploymentTermScheduleServiceHandlerClient),
			generated(&schedulingv1.EmploymentTermSchedulePatternService_ServiceDesc, schedulingv1.NewEmploymentTermSchedulePatternServiceClient, schedulingv1.RegisterEmploymentTermSchedulePatternServiceHandlerClient),
			generated(&schedulingv1.PayCodeEditService_ServiceDesc, schedulingv1.NewPayCodeEditServiceClient, schedulingv1.RegisterPayCodeEditServiceHandlerClient),
			generated(&schedulingv1.PropagationService_ServiceDesc, schedulingv1.NewPropagationServiceClient, schedulingv1.RegisterPropagationServiceHandlerClient),
			generated(&schedulingv1.ScheduleEditService_ServiceDesc, schedulingv1.NewScheduleEditServiceClient, schedulingv1.RegisterScheduleEditServiceHandlerClient),
			generated(&schedulingv1.ScheduleGroupService_ServiceDesc, schedulingv1.NewScheduleGroupServiceClient, schedulingv1.RegisterScheduleGroupServiceHandlerClient),
			generated(&schedulingv1.SchedulePatternTemplateService_ServiceDesc, schedulingv1.NewSchedulePatternTemplateServiceClient, schedulingv1.RegisterSchedulePatternTemplateServiceHandlerClient),
			generated(&schedulingv1.ScheduleRuleService_ServiceDesc, schedulingv1.NewScheduleRuleServiceClient, schedulingv1.RegisterScheduleRuleServiceHandlerClient),
			generated(&schedulingv1.ScheduleRuleSetAssignmentService_ServiceDesc, schedulingv1.NewScheduleRuleSetAssignmentServiceClient, schedulingv1.RegisterScheduleRuleSetAssignmentServiceHandlerClient),
			generated(&schedulingv1.ScheduleRuleSetService_ServiceDesc, schedulingv1.NewScheduleRuleSetServiceClient, schedulingv1.RegisterScheduleRuleSetServiceHandlerClient),
			generated(&schedulingv1.ScheduleService_ServiceDesc, schedulingv1.NewScheduleServiceClient, schedulingv1.RegisterScheduleServiceHandlerClient),
			generated(&schedulingv1.ScheduleTagService_ServiceDesc, schedulingv1.NewScheduleTagServiceClient, schedulingv1.RegisterScheduleTagServiceHandlerClient),
			generated(&schedulingv1.ScheduleChangeService_ServiceDesc, schedulingv1.NewScheduleChangeServiceClient, schedulingv1.RegisterScheduleChangeServiceHandlerClient),
			generated(&schedulingv1.ShiftService_ServiceDesc, schedulingv1.NewShiftServiceClient, schedulingv1.RegisterShiftServiceHandlerClient),
			generated(&schedulingv1.ShiftTemplateService_ServiceDesc, schedulingv1.NewShiftTemplateServiceClient, schedulingv1.RegisterShiftTemplateServiceHandlerClient),
			generated(&schedulingv1.TagDefinitionService_ServiceDesc, schedulingv1.NewTagDefinitionServiceClient, schedulingv1.RegisterTagDefinitionServiceHandlerClient),
		}},
		{"platform", c.Platform, []Service{
			generated(&platformv1.AuditEventService_ServiceDesc, platformv1.NewAuditEventServiceClient, platformv1.RegisterAuditEventServiceHandlerClient),
			generated(&platformv1.DataService_ServiceDesc, platformv1.NewDataServiceClient, platformv1.RegisterDataServiceHandlerClient),
			generated(&platformv1.DataDictionaryService_ServiceDesc, platformv1.NewDataDictionaryServiceClient, platformv1.RegisterDataDictionaryServiceHandlerClient),
			generated(&platformv1.GenericNotificationService_ServiceDesc, platformv1.NewGenericNotificationServiceClient, platformv1.RegisterGenericNotificationServiceHandlerClient),
			generated(&platformv1.LimitService_ServiceDesc, platformv1.NewLimitServiceClient, platformv1.RegisterLimitServiceHandlerClient),
			generated(&platformv1.MessagingService_ServiceDesc, platformv1.NewMessagingServiceClient, platformv1.RegisterMessagingServiceHandlerClient),
			generated(&platformv1.TargetThresholdService_ServiceDesc, platformv1.NewTargetThresholdServiceClient, platformv1.RegisterTargetThresholdServiceHandlerClient),
			generated(&platformv1.WebhookService_ServiceDesc, platformv1.NewWebhookServiceClient, platformv1.RegisterWebhookServiceHandlerClient),
			generated(&platformv1.RateLimitService_ServiceDesc, platformv1.NewRateLimitServiceClient, platformv1.RegisterRateLimitServiceHandlerClient),
		}},
	}
}
