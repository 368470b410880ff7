// Package backends lists the services behind the edge, and the connections to them.
package backends

import (
	"context"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"

	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
)

// Conns are the connections to the services, one for each domain. An in-process connection works too, provided
// that it honors the call option grpc.ForceCodecV2.
type Conns struct {
	Auth        grpc.ClientConnInterface
	Commons     grpc.ClientConnInterface
	Timekeeping grpc.ClientConnInterface
	Scheduling  grpc.ClientConnInterface
	Recruiting  grpc.ClientConnInterface
	Platform    grpc.ClientConnInterface
	// Own leads to platform for the edge's own calls: operations between services, which users must not call.
	// OwnAuth leads to auth in the same way; without it, the edge cannot verify tokens of identity providers.
	Own, OwnAuth grpc.ClientConnInterface
}

// Domain is a connection together with the services behind it that have routes.
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

// newService combines the generated code of one service.
func newService[C any](
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

// Domains lists all services that have routes. A test fails if one is missing. The order is irrelevant.
func Domains(c Conns) []Domain {
	return []Domain{
		{"auth", c.Auth, []Service{
			newService(&authv1.TokenService_ServiceDesc, authv1.NewTokenServiceClient, authv1.RegisterTokenServiceHandlerClient),
			newService(&authv1.AccessProfileService_ServiceDesc, authv1.NewAccessProfileServiceClient, authv1.RegisterAccessProfileServiceHandlerClient),
			newService(&authv1.UserService_ServiceDesc, authv1.NewUserServiceClient, authv1.RegisterUserServiceHandlerClient),
			newService(&authv1.ClientService_ServiceDesc, authv1.NewClientServiceClient, authv1.RegisterClientServiceHandlerClient),
			newService(&authv1.IdentityProviderService_ServiceDesc, authv1.NewIdentityProviderServiceClient, authv1.RegisterIdentityProviderServiceHandlerClient),
		}},
		{"commons", c.Commons, []Service{
			newService(&commonsv1.NewHireService_ServiceDesc, commonsv1.NewNewHireServiceClient, commonsv1.RegisterNewHireServiceHandlerClient),
			newService(&commonsv1.PersonService_ServiceDesc, commonsv1.NewPersonServiceClient, commonsv1.RegisterPersonServiceHandlerClient),
			newService(&commonsv1.WageWorkRuleService_ServiceDesc, commonsv1.NewWageWorkRuleServiceClient, commonsv1.RegisterWageWorkRuleServiceHandlerClient),
			newService(&commonsv1.JobService_ServiceDesc, commonsv1.NewJobServiceClient, commonsv1.RegisterJobServiceHandlerClient),
			newService(&commonsv1.LocationService_ServiceDesc, commonsv1.NewLocationServiceClient, commonsv1.RegisterLocationServiceHandlerClient),
			newService(&commonsv1.TimeZoneService_ServiceDesc, commonsv1.NewTimeZoneServiceClient, commonsv1.RegisterTimeZoneServiceHandlerClient),
			newService(&commonsv1.LocationTypeService_ServiceDesc, commonsv1.NewLocationTypeServiceClient, commonsv1.RegisterLocationTypeServiceHandlerClient),
			newService(&commonsv1.LocationSetService_ServiceDesc, commonsv1.NewLocationSetServiceClient, commonsv1.RegisterLocationSetServiceHandlerClient),
			newService(&commonsv1.HyperfindService_ServiceDesc, commonsv1.NewHyperfindServiceClient, commonsv1.RegisterHyperfindServiceHandlerClient),
			newService(&commonsv1.HyperfindProfileService_ServiceDesc, commonsv1.NewHyperfindProfileServiceClient, commonsv1.RegisterHyperfindProfileServiceHandlerClient),
			newService(&commonsv1.HolidayService_ServiceDesc, commonsv1.NewHolidayServiceClient, commonsv1.RegisterHolidayServiceHandlerClient),
			newService(&commonsv1.DelegationService_ServiceDesc, commonsv1.NewDelegationServiceClient, commonsv1.RegisterDelegationServiceHandlerClient),
			newService(&commonsv1.SymbolicPeriodService_ServiceDesc, commonsv1.NewSymbolicPeriodServiceClient, commonsv1.RegisterSymbolicPeriodServiceHandlerClient),
		}},
		{"timekeeping", c.Timekeeping, []Service{
			newService(&timekeepingv1.LeaveNoteService_ServiceDesc, timekeepingv1.NewLeaveNoteServiceClient, timekeepingv1.RegisterLeaveNoteServiceHandlerClient),
			newService(&timekeepingv1.LeaveCertificationService_ServiceDesc, timekeepingv1.NewLeaveCertificationServiceClient, timekeepingv1.RegisterLeaveCertificationServiceHandlerClient),
			newService(&timekeepingv1.LeaveTypeService_ServiceDesc, timekeepingv1.NewLeaveTypeServiceClient, timekeepingv1.RegisterLeaveTypeServiceHandlerClient),
			newService(&timekeepingv1.LeaveRuleService_ServiceDesc, timekeepingv1.NewLeaveRuleServiceClient, timekeepingv1.RegisterLeaveRuleServiceHandlerClient),
			newService(&timekeepingv1.LeaveCustomFieldService_ServiceDesc, timekeepingv1.NewLeaveCustomFieldServiceClient, timekeepingv1.RegisterLeaveCustomFieldServiceHandlerClient),
			newService(&timekeepingv1.LeaveProfileService_ServiceDesc, timekeepingv1.NewLeaveProfileServiceClient, timekeepingv1.RegisterLeaveProfileServiceHandlerClient),
			newService(&timekeepingv1.LeaveCaseRuleService_ServiceDesc, timekeepingv1.NewLeaveCaseRuleServiceClient, timekeepingv1.RegisterLeaveCaseRuleServiceHandlerClient),
			newService(&timekeepingv1.LeaveCaseCustomFieldService_ServiceDesc, timekeepingv1.NewLeaveCaseCustomFieldServiceClient, timekeepingv1.RegisterLeaveCaseCustomFieldServiceHandlerClient),
			newService(&timekeepingv1.LeaveGrantService_ServiceDesc, timekeepingv1.NewLeaveGrantServiceClient, timekeepingv1.RegisterLeaveGrantServiceHandlerClient),
			newService(&timekeepingv1.LeaveProfileAssignmentService_ServiceDesc, timekeepingv1.NewLeaveProfileAssignmentServiceClient, timekeepingv1.RegisterLeaveProfileAssignmentServiceHandlerClient),
			newService(&timekeepingv1.LeaveCaseService_ServiceDesc, timekeepingv1.NewLeaveCaseServiceClient, timekeepingv1.RegisterLeaveCaseServiceHandlerClient),
			newService(&timekeepingv1.LeaveEditService_ServiceDesc, timekeepingv1.NewLeaveEditServiceClient, timekeepingv1.RegisterLeaveEditServiceHandlerClient),
			newService(&timekeepingv1.LeaveSetupService_ServiceDesc, timekeepingv1.NewLeaveSetupServiceClient, timekeepingv1.RegisterLeaveSetupServiceHandlerClient),
			newService(&timekeepingv1.PayCodeService_ServiceDesc, timekeepingv1.NewPayCodeServiceClient, timekeepingv1.RegisterPayCodeServiceHandlerClient),
			newService(&timekeepingv1.WorkRuleService_ServiceDesc, timekeepingv1.NewWorkRuleServiceClient, timekeepingv1.RegisterWorkRuleServiceHandlerClient),
			newService(&timekeepingv1.PayrollStagingService_ServiceDesc, timekeepingv1.NewPayrollStagingServiceClient, timekeepingv1.RegisterPayrollStagingServiceHandlerClient),
			newService(&timekeepingv1.PayrollExportService_ServiceDesc, timekeepingv1.NewPayrollExportServiceClient, timekeepingv1.RegisterPayrollExportServiceHandlerClient),
			newService(&timekeepingv1.PayrollEarningService_ServiceDesc, timekeepingv1.NewPayrollEarningServiceClient, timekeepingv1.RegisterPayrollEarningServiceHandlerClient),
			newService(&timekeepingv1.AccrualCodeService_ServiceDesc, timekeepingv1.NewAccrualCodeServiceClient, timekeepingv1.RegisterAccrualCodeServiceHandlerClient),
			newService(&timekeepingv1.AccrualProfileService_ServiceDesc, timekeepingv1.NewAccrualProfileServiceClient, timekeepingv1.RegisterAccrualProfileServiceHandlerClient),
			newService(&timekeepingv1.PayRuleService_ServiceDesc, timekeepingv1.NewPayRuleServiceClient, timekeepingv1.RegisterPayRuleServiceHandlerClient),
			newService(&timekeepingv1.PunchService_ServiceDesc, timekeepingv1.NewPunchServiceClient, timekeepingv1.RegisterPunchServiceHandlerClient),
			newService(&timekeepingv1.ScheduleRuleEvaluationService_ServiceDesc, timekeepingv1.NewScheduleRuleEvaluationServiceClient, timekeepingv1.RegisterScheduleRuleEvaluationServiceHandlerClient),
			newService(&timekeepingv1.TimecardService_ServiceDesc, timekeepingv1.NewTimecardServiceClient, timekeepingv1.RegisterTimecardServiceHandlerClient),
			newService(&timekeepingv1.TimecardSignoffService_ServiceDesc, timekeepingv1.NewTimecardSignoffServiceClient, timekeepingv1.RegisterTimecardSignoffServiceHandlerClient),
			newService(&timekeepingv1.TimecardApprovalService_ServiceDesc, timekeepingv1.NewTimecardApprovalServiceClient, timekeepingv1.RegisterTimecardApprovalServiceHandlerClient),
			newService(&timekeepingv1.BrazilDeviceService_ServiceDesc, timekeepingv1.NewBrazilDeviceServiceClient, timekeepingv1.RegisterBrazilDeviceServiceHandlerClient),
			newService(&timekeepingv1.BrazilDeviceGroupService_ServiceDesc, timekeepingv1.NewBrazilDeviceGroupServiceClient, timekeepingv1.RegisterBrazilDeviceGroupServiceHandlerClient),
			newService(&timekeepingv1.BrazilCompanyService_ServiceDesc, timekeepingv1.NewBrazilCompanyServiceClient, timekeepingv1.RegisterBrazilCompanyServiceHandlerClient),
			newService(&udmv1.DeviceGroupService_ServiceDesc, udmv1.NewDeviceGroupServiceClient, udmv1.RegisterDeviceGroupServiceHandlerClient),
			newService(&udmv1.DeviceService_ServiceDesc, udmv1.NewDeviceServiceClient, udmv1.RegisterDeviceServiceHandlerClient),
			newService(&udmv1.DeviceCredentialsService_ServiceDesc, udmv1.NewDeviceCredentialsServiceClient, udmv1.RegisterDeviceCredentialsServiceHandlerClient),
			newService(&udmv1.DeviceClientService_ServiceDesc, udmv1.NewDeviceClientServiceClient, udmv1.RegisterDeviceClientServiceHandlerClient),
			newService(&timekeepingv1.EmployeeTimeOffService_ServiceDesc, timekeepingv1.NewEmployeeTimeOffServiceClient, timekeepingv1.RegisterEmployeeTimeOffServiceHandlerClient),
			newService(&timekeepingv1.RequestSubtypeService_ServiceDesc, timekeepingv1.NewRequestSubtypeServiceClient, timekeepingv1.RegisterRequestSubtypeServiceHandlerClient),
			newService(&timekeepingv1.TimeOffService_ServiceDesc, timekeepingv1.NewTimeOffServiceClient, timekeepingv1.RegisterTimeOffServiceHandlerClient),
		}},
		{"scheduling", c.Scheduling, []Service{
			newService(&schedulingv1.DayLockService_ServiceDesc, schedulingv1.NewDayLockServiceClient, schedulingv1.RegisterDayLockServiceHandlerClient),
			newService(&schedulingv1.EmployeeSchedulePatternService_ServiceDesc, schedulingv1.NewEmployeeSchedulePatternServiceClient, schedulingv1.RegisterEmployeeSchedulePatternServiceHandlerClient),
			newService(&schedulingv1.EmploymentTermService_ServiceDesc, schedulingv1.NewEmploymentTermServiceClient, schedulingv1.RegisterEmploymentTermServiceHandlerClient),
			newService(&schedulingv1.EmploymentTermAssignmentService_ServiceDesc, schedulingv1.NewEmploymentTermAssignmentServiceClient, schedulingv1.RegisterEmploymentTermAssignmentServiceHandlerClient),
			newService(&schedulingv1.EmploymentTermScheduleService_ServiceDesc, schedulingv1.NewEmploymentTermScheduleServiceClient, schedulingv1.RegisterEmploymentTermScheduleServiceHandlerClient),
			newService(&schedulingv1.EmploymentTermSchedulePatternService_ServiceDesc, schedulingv1.NewEmploymentTermSchedulePatternServiceClient, schedulingv1.RegisterEmploymentTermSchedulePatternServiceHandlerClient),
			newService(&schedulingv1.PayCodeEditService_ServiceDesc, schedulingv1.NewPayCodeEditServiceClient, schedulingv1.RegisterPayCodeEditServiceHandlerClient),
			newService(&schedulingv1.PropagationService_ServiceDesc, schedulingv1.NewPropagationServiceClient, schedulingv1.RegisterPropagationServiceHandlerClient),
			newService(&schedulingv1.ScheduleEditService_ServiceDesc, schedulingv1.NewScheduleEditServiceClient, schedulingv1.RegisterScheduleEditServiceHandlerClient),
			newService(&schedulingv1.ScheduleGroupService_ServiceDesc, schedulingv1.NewScheduleGroupServiceClient, schedulingv1.RegisterScheduleGroupServiceHandlerClient),
			newService(&schedulingv1.SchedulePatternTemplateService_ServiceDesc, schedulingv1.NewSchedulePatternTemplateServiceClient, schedulingv1.RegisterSchedulePatternTemplateServiceHandlerClient),
			newService(&schedulingv1.ScheduleRuleService_ServiceDesc, schedulingv1.NewScheduleRuleServiceClient, schedulingv1.RegisterScheduleRuleServiceHandlerClient),
			newService(&schedulingv1.ScheduleRuleSetAssignmentService_ServiceDesc, schedulingv1.NewScheduleRuleSetAssignmentServiceClient, schedulingv1.RegisterScheduleRuleSetAssignmentServiceHandlerClient),
			newService(&schedulingv1.ScheduleRuleSetService_ServiceDesc, schedulingv1.NewScheduleRuleSetServiceClient, schedulingv1.RegisterScheduleRuleSetServiceHandlerClient),
			newService(&schedulingv1.ScheduleService_ServiceDesc, schedulingv1.NewScheduleServiceClient, schedulingv1.RegisterScheduleServiceHandlerClient),
			newService(&schedulingv1.ScheduleTagService_ServiceDesc, schedulingv1.NewScheduleTagServiceClient, schedulingv1.RegisterScheduleTagServiceHandlerClient),
			newService(&schedulingv1.ScheduleChangeService_ServiceDesc, schedulingv1.NewScheduleChangeServiceClient, schedulingv1.RegisterScheduleChangeServiceHandlerClient),
			newService(&schedulingv1.ScheduleExplanationService_ServiceDesc, schedulingv1.NewScheduleExplanationServiceClient, schedulingv1.RegisterScheduleExplanationServiceHandlerClient),
			newService(&schedulingv1.SchedulePreviewService_ServiceDesc, schedulingv1.NewSchedulePreviewServiceClient, schedulingv1.RegisterSchedulePreviewServiceHandlerClient),
			newService(&schedulingv1.ShiftService_ServiceDesc, schedulingv1.NewShiftServiceClient, schedulingv1.RegisterShiftServiceHandlerClient),
			newService(&schedulingv1.ShiftTemplateService_ServiceDesc, schedulingv1.NewShiftTemplateServiceClient, schedulingv1.RegisterShiftTemplateServiceHandlerClient),
			newService(&schedulingv1.TagDefinitionService_ServiceDesc, schedulingv1.NewTagDefinitionServiceClient, schedulingv1.RegisterTagDefinitionServiceHandlerClient),
		}},
		{"recruiting", c.Recruiting, []Service{
			newService(&recruitingv1.CandidateDocumentService_ServiceDesc, recruitingv1.NewCandidateDocumentServiceClient, recruitingv1.RegisterCandidateDocumentServiceHandlerClient),
			newService(&recruitingv1.CandidateListService_ServiceDesc, recruitingv1.NewCandidateListServiceClient, recruitingv1.RegisterCandidateListServiceHandlerClient),
			newService(&recruitingv1.CandidateService_ServiceDesc, recruitingv1.NewCandidateServiceClient, recruitingv1.RegisterCandidateServiceHandlerClient),
			newService(&recruitingv1.AssessmentService_ServiceDesc, recruitingv1.NewAssessmentServiceClient, recruitingv1.RegisterAssessmentServiceHandlerClient),
			newService(&recruitingv1.PersonalDataService_ServiceDesc, recruitingv1.NewPersonalDataServiceClient, recruitingv1.RegisterPersonalDataServiceHandlerClient),
			newService(&recruitingv1.ApplicationDocumentService_ServiceDesc, recruitingv1.NewApplicationDocumentServiceClient, recruitingv1.RegisterApplicationDocumentServiceHandlerClient),
			newService(&recruitingv1.ApplicationService_ServiceDesc, recruitingv1.NewApplicationServiceClient, recruitingv1.RegisterApplicationServiceHandlerClient),
			newService(&recruitingv1.DispositionService_ServiceDesc, recruitingv1.NewDispositionServiceClient, recruitingv1.RegisterDispositionServiceHandlerClient),
			newService(&recruitingv1.BackgroundCheckService_ServiceDesc, recruitingv1.NewBackgroundCheckServiceClient, recruitingv1.RegisterBackgroundCheckServiceHandlerClient),
			newService(&recruitingv1.OfferService_ServiceDesc, recruitingv1.NewOfferServiceClient, recruitingv1.RegisterOfferServiceHandlerClient),
			newService(&recruitingv1.HireService_ServiceDesc, recruitingv1.NewHireServiceClient, recruitingv1.RegisterHireServiceHandlerClient),
			newService(&recruitingv1.ConfigurationItemService_ServiceDesc, recruitingv1.NewConfigurationItemServiceClient, recruitingv1.RegisterConfigurationItemServiceHandlerClient),
			newService(&recruitingv1.ConfigurationSettingService_ServiceDesc, recruitingv1.NewConfigurationSettingServiceClient, recruitingv1.RegisterConfigurationSettingServiceHandlerClient),
			newService(&recruitingv1.OpportunityService_ServiceDesc, recruitingv1.NewOpportunityServiceClient, recruitingv1.RegisterOpportunityServiceHandlerClient),
		}},
		{"platform", c.Platform, []Service{
			newService(&platformv1.AuditEventService_ServiceDesc, platformv1.NewAuditEventServiceClient, platformv1.RegisterAuditEventServiceHandlerClient),
			newService(&platformv1.DataService_ServiceDesc, platformv1.NewDataServiceClient, platformv1.RegisterDataServiceHandlerClient),
			newService(&platformv1.DataDictionaryService_ServiceDesc, platformv1.NewDataDictionaryServiceClient, platformv1.RegisterDataDictionaryServiceHandlerClient),
			newService(&platformv1.GenericNotificationService_ServiceDesc, platformv1.NewGenericNotificationServiceClient, platformv1.RegisterGenericNotificationServiceHandlerClient),
			newService(&platformv1.LimitService_ServiceDesc, platformv1.NewLimitServiceClient, platformv1.RegisterLimitServiceHandlerClient),
			newService(&platformv1.MessagingService_ServiceDesc, platformv1.NewMessagingServiceClient, platformv1.RegisterMessagingServiceHandlerClient),
			newService(&platformv1.SandboxService_ServiceDesc, platformv1.NewSandboxServiceClient, platformv1.RegisterSandboxServiceHandlerClient),
			newService(&platformv1.TargetThresholdService_ServiceDesc, platformv1.NewTargetThresholdServiceClient, platformv1.RegisterTargetThresholdServiceHandlerClient),
			newService(&platformv1.WebhookService_ServiceDesc, platformv1.NewWebhookServiceClient, platformv1.RegisterWebhookServiceHandlerClient),
			newService(&platformv1.RateLimitService_ServiceDesc, platformv1.NewRateLimitServiceClient, platformv1.RegisterRateLimitServiceHandlerClient),
		}},
	}
}
