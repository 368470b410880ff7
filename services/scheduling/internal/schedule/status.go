package schedule

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

// The statuses of an employee's schedule.
const (
	statusInProgress = "IN_PROGRESS"
	statusCompleted  = "COMPLETED"
)

// MultiReadScheduleStatus returns for each employee the propagations that have not reached the
// schedule yet.
func (h *Handler) MultiReadScheduleStatus(ctx context.Context, req *schedulingv1.MultiReadScheduleStatusRequest) (*schedulingv1.ScheduleStatus, error) {
	q, err := request.ParseStatus(req)
	if err != nil {
		return nil, err
	}
	if err := h.resolve(ctx, q); err != nil {
		return nil, err
	}
	employees, err := h.employees(ctx, q)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(employees))
	for i := range employees {
		ids[i] = employees[i].ID
	}
	pending, err := propagation.Pending(ctx, h.pool, ids)
	if err != nil {
		return nil, err
	}
	list := make([]*schedulingv1.EmployeeStatus, len(employees))
	for i := range employees {
		list[i] = employeeStatus(&employees[i], pending[employees[i].ID], q.Days)
	}
	return &schedulingv1.ScheduleStatus{
		EmployeeStatus: &schedulingv1.EmployeeStatusList{EmployeeStatus: list},
	}, nil
}

// employeeStatus returns the open propagations of an employee. A propagation can change any day, so
// its dates are the requested days.
func employeeStatus(e *projection.Employee, open []propagation.Open, days civil.Range) *schedulingv1.EmployeeStatus {
	status := &schedulingv1.EmployeeStatus{
		Employee: &commonv1.Ref{Id: proto.Int64(e.ID), Qualifier: proto.String(e.PersonNumber)},
		Status:   statusCompleted, ProcessingStatus: &schedulingv1.ProcessingStatusList{},
	}
	for _, p := range open {
		status.Status = statusInProgress
		status.ProcessingStatus.Items = append(status.ProcessingStatus.Items, &schedulingv1.ProcessingStatus{
			ProcessingType: processingType(p.Cause),
			Blocking:       proto.Bool(false),
			StartDate:      days.From.String(),
			EndDate:        days.To.AddDays(-1).String(),
		})
	}
	return status
}

func processingType(cause propagation.Cause) *schedulingv1.ProcessingType {
	id, name := "1", "Applying a schedule pattern"
	switch cause {
	case propagation.CauseInheritance:
		id, name = "2", "Applying the inheritance of an employment term"
	case propagation.CauseMembership:
		id, name = "3", "Applying a change of employment terms"
	case propagation.CauseUnlocking:
		id, name = "4", "Applying changes held back by locked days"
	}
	return &schedulingv1.ProcessingType{Id: id, LocalizedName: name}
}
