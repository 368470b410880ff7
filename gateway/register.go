package gateway

import (
	"context"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"

	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// domain is a connection and the services behind it that have routes.
type domain struct {
	name     string
	conn     grpc.ClientConnInterface
	services []service
}

// service is one service of the contracts with its generated handlers.
type service struct {
	name     string
	register func(context.Context, *runtime.ServeMux, grpc.ClientConnInterface) error
}

// generated ties the parts of the generated code of one service together.
func generated[C any](
	desc *grpc.ServiceDesc,
	client func(grpc.ClientConnInterface) C,
	register func(context.Context, *runtime.ServeMux, C) error,
) service {
	return service{
		name: desc.ServiceName,
		register: func(ctx context.Context, mux *runtime.ServeMux, conn grpc.ClientConnInterface) error {
			return register(ctx, mux, client(conn))
		},
	}
}

// domains lists every service that has routes. A test fails when one is
// missing. The order does not matter.
func domains(c Conns) []domain {
	return []domain{
		{"auth", c.Auth, []service{
			generated(&authv1.TokenService_ServiceDesc, authv1.NewTokenServiceClient, authv1.RegisterTokenServiceHandlerClient),
		}},
		{"commons", c.Commons, []service{
			generated(&commonsv1.PersonService_ServiceDesc, commonsv1.NewPersonServiceClient, commonsv1.RegisterPersonServiceHandlerClient),
		}},
		{"timekeeping", c.Timekeeping, []service{
			generated(&timekeepingv1.EmploymentTermService_ServiceDesc, timekeepingv1.NewEmploymentTermServiceClient, timekeepingv1.RegisterEmploymentTermServiceHandlerClient),
			generated(&timekeepingv1.EmploymentTermAssignmentService_ServiceDesc, timekeepingv1.NewEmploymentTermAssignmentServiceClient, timekeepingv1.RegisterEmploymentTermAssignmentServiceHandlerClient),
		}},
		{"scheduling", c.Scheduling, []service{
			generated(&schedulingv1.DayLockService_ServiceDesc, schedulingv1.NewDayLockServiceClient, schedulingv1.RegisterDayLockServiceHandlerClient),
			generated(&schedulingv1.EmploymentTermSchedulePatternService_ServiceDesc, schedulingv1.NewEmploymentTermSchedulePatternServiceClient, schedulingv1.RegisterEmploymentTermSchedulePatternServiceHandlerClient),
			generated(&schedulingv1.PayCodeEditService_ServiceDesc, schedulingv1.NewPayCodeEditServiceClient, schedulingv1.RegisterPayCodeEditServiceHandlerClient),
			generated(&schedulingv1.PropagationService_ServiceDesc, schedulingv1.NewPropagationServiceClient, schedulingv1.RegisterPropagationServiceHandlerClient),
			generated(&schedulingv1.SchedulePatternTemplateService_ServiceDesc, schedulingv1.NewSchedulePatternTemplateServiceClient, schedulingv1.RegisterSchedulePatternTemplateServiceHandlerClient),
			generated(&schedulingv1.ScheduleService_ServiceDesc, schedulingv1.NewScheduleServiceClient, schedulingv1.RegisterScheduleServiceHandlerClient),
			generated(&schedulingv1.ShiftService_ServiceDesc, schedulingv1.NewShiftServiceClient, schedulingv1.RegisterShiftServiceHandlerClient),
			generated(&schedulingv1.ShiftTemplateService_ServiceDesc, schedulingv1.NewShiftTemplateServiceClient, schedulingv1.RegisterShiftTemplateServiceHandlerClient),
		}},
	}
}
