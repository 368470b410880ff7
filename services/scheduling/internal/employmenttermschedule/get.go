package employmenttermschedule

import (
	"context"
	"net/http"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

// GetEmploymentTermSchedule returns the selected parts of one term, or of the terms that the
// employees of the query are on. The end date is exclusive, as in the schedule of one employee;
// equal dates mean that one day.
func (h *Handler) GetEmploymentTermSchedule(ctx context.Context, req *schedulingv1.GetEmploymentTermScheduleRequest) (*schedulingv1.EmploymentTermSchedules, error) {
	days, err := queryRange(req)
	if err != nil {
		return nil, err
	}
	where := &schedulingv1.EmploymentTermScheduleWhere{}
	given := 0
	for _, by := range []struct {
		ref *commonv1.Ref
		put func(ref *commonv1.Ref)
	}{
		{&commonv1.Ref{Id: req.GroupId, Qualifier: req.GroupName}, func(ref *commonv1.Ref) {
			where.Groups = &schedulingv1.EmploymentTermsAndDays{Groups: refList(ref), DateRange: days}
		}},
		{&commonv1.Ref{Id: req.EmployeeId, Qualifier: req.PersonNumber}, func(ref *commonv1.Ref) {
			where.Employees = &schedulingv1.EmployeesAndDays{Employees: refList(ref), DateRange: days}
		}},
		{&commonv1.Ref{Id: req.HyperfindId, Qualifier: req.HyperfindName}, func(ref *commonv1.Ref) {
			where.Hyperfind = &schedulingv1.HyperfindAndDays{Hyperfind: ref, DateRange: days}
		}},
		{&commonv1.Ref{Id: req.LocationId, Qualifier: req.LocationPath}, func(ref *commonv1.Ref) {
			where.Locations = &schedulingv1.LocationsAndDays{Locations: refList(ref), DateRange: days}
		}},
	} {
		if by.ref.Id != nil || by.ref.GetQualifier() != "" {
			by.put(by.ref)
			given++
		}
	}
	const names = "of group_id or group_name, employee_id or person_number, hyperfind_id or hyperfind_name, and location_id or location_path."
	switch {
	case given == 0:
		return nil, fault.New(patterndefinition.CodeNothing, http.StatusBadRequest, "The query needs one "+names)
	case given > 1:
		return nil, fault.New(patterndefinition.CodeOnlyOne, http.StatusBadRequest, "The query needs only one "+names)
	}
	return h.MultiReadEmploymentTermSchedules(ctx, &schedulingv1.MultiReadEmploymentTermSchedulesRequest{Select: req.GetSelect(), Where: where})
}

func refList(ref *commonv1.Ref) *commonv1.RefList {
	return &commonv1.RefList{Refs: []*commonv1.Ref{ref}}
}

// queryRange returns the days of a query, including the last one, or their symbolic period.
func queryRange(req *schedulingv1.GetEmploymentTermScheduleRequest) (*commonv1.DateRange, error) {
	days, period, err := request.ParseGetDays(&commonv1.Ref{Id: req.SymbolicPeriodId, Qualifier: req.SymbolicPeriodName}, req.GetStartDate(), req.GetEndDate())
	if err != nil || period != nil {
		return &commonv1.DateRange{SymbolicPeriod: period}, err
	}
	return &commonv1.DateRange{StartDate: days.From.String(), EndDate: days.To.AddDays(-1).String()}, nil
}
