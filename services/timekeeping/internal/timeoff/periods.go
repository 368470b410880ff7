package timeoff

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// ListTimeOffSymbolicValues returns the amounts that a period may use of its days. They are the
// same for all employees. An employee in the request must exist.
func (h *Manager) ListTimeOffSymbolicValues(ctx context.Context, req *timekeepingv1.ListTimeOffSymbolicValuesRequest) (*timekeepingv1.SymbolicValueList, error) {
	if req.EmployeeId != nil || req.PersonNumber != nil {
		if _, err := h.requests.directory.employees(ctx, []*commonv1.Ref{{Id: req.EmployeeId, Qualifier: req.PersonNumber}}); err != nil {
			return nil, err
		}
	}
	return h.requests.symbolicValues(ctx, req.SubtypeId, req.GetSubtypeName())
}

// ListEmployeeTimeOffSymbolicValues returns the amounts that a period may use of its days.
func (h *Employee) ListEmployeeTimeOffSymbolicValues(
	ctx context.Context, req *timekeepingv1.ListEmployeeTimeOffSymbolicValuesRequest,
) (*timekeepingv1.SymbolicValueList, error) {
	return h.requests.symbolicValues(ctx, req.SubtypeId, req.GetSubtypeName())
}

// symbolicValues returns the default amounts of a subtype. It returns all amounts if the subtype
// has none, or if no subtype is named.
func (h *requests) symbolicValues(ctx context.Context, id *int64, name string) (*timekeepingv1.SymbolicValueList, error) {
	var defaults []*commonv1.Ref
	if id != nil || name != "" {
		subtype, err := h.Subtypes.TimeOff(ctx, id, name)
		if err != nil {
			return nil, err
		}
		defaults = subtype.GetDefaultSymbolicAmounts()
	}
	out := &timekeepingv1.SymbolicValueList{}
	for _, given := range defaults {
		if id, name, ok := symbolicamount.Find(given); ok {
			out.Items = append(out.Items, amountRef(id, name))
		}
	}
	if len(out.GetItems()) == 0 {
		all := symbolicamount.All()
		ids := slices.Sorted(maps.Keys(all))
		slices.Reverse(ids)
		for _, id := range ids {
			out.Items = append(out.Items, amountRef(id, all[id]))
		}
	}
	return out, nil
}

func amountRef(id int64, name string) *commonv1.Ref {
	return &commonv1.Ref{Id: proto.Int64(id), Qualifier: proto.String(name), Name: proto.String(name)}
}

// ListTimeOffRequestPeriods returns the days that an employee can request off.
func (h *Manager) ListTimeOffRequestPeriods(ctx context.Context, req *timekeepingv1.ListTimeOffRequestPeriodsRequest) (*timekeepingv1.RequestPeriodList, error) {
	employees, err := h.requests.directory.employees(ctx, []*commonv1.Ref{{Id: req.EmployeeId, Qualifier: req.PersonNumber}})
	if err != nil {
		return nil, err
	}
	return h.requests.periods(ctx, &employees[0], req.GetStartDate(), req.GetEndDate())
}

// ListEmployeeTimeOffRequestPeriods returns the days that the caller can request off.
func (h *Employee) ListEmployeeTimeOffRequestPeriods(
	ctx context.Context, req *timekeepingv1.ListEmployeeTimeOffRequestPeriodsRequest,
) (*timekeepingv1.RequestPeriodList, error) {
	self, err := h.self(ctx, nil)
	if err != nil {
		return nil, err
	}
	return h.requests.periods(ctx, self, req.GetStartDate(), req.GetEndDate())
}

// periods returns the days of a range that are neither locked nor completely used by a request.
func (h *requests) periods(ctx context.Context, employee *employee, first, last string) (*timekeepingv1.RequestPeriodList, error) {
	days, err := daysBetween("start_date", first, "end_date", last)
	if err != nil {
		return nil, err
	}
	if days.Days() > maxDays {
		return nil, invalid("end_date", "must be less than %d days after start_date", maxDays)
	}
	taken, err := h.unavailableDays(ctx, h.Pool, employee.ID, days)
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.RequestPeriodList{}
	for day := days.From; day < days.To; day++ {
		if taken[day] {
			continue
		}
		if n := len(out.GetItems()); n > 0 && !taken[day-1] {
			out.Items[n-1].EndDate = day.String()
			continue
		}
		out.Items = append(out.Items, &timekeepingv1.RequestPeriod{StartDate: day.String(), EndDate: day.String()})
	}
	return out, nil
}

// unavailableDays returns the days that an employee cannot request off.
func (h *requests) unavailableDays(ctx context.Context, db pg.Querier, employeeID int64, days civil.Range) (map[civil.Date]bool, error) {
	ranges, err := h.lockedDays(ctx, employeeID, days)
	if err != nil {
		return nil, err
	}
	others, err := byEmployee(ctx, db, []int64{employeeID}, active, days)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		for _, p := range other.request.GetPeriods() {
			if !whole(p) {
				continue
			}
			of, err := parseDays("periods", p.GetStartDate(), p.GetEndDate())
			if err != nil {
				return nil, err
			}
			ranges = append(ranges, of)
		}
	}
	out := map[civil.Date]bool{}
	for _, r := range ranges {
		for day := max(r.From, days.From); day < min(r.To, days.To); day++ {
			out[day] = true
		}
	}
	return out, nil
}

// lockedDays returns the locked days of an employee that overlap a range. It reads them from
// scheduling.
func (h *requests) lockedDays(ctx context.Context, employeeID int64, days civil.Range) ([]civil.Range, error) {
	response, err := h.Days.ReadEmployeeDays(ctx, &schedulingv1.ReadEmployeeDaysRequest{
		EmployeeIds: []int64{employeeID}, From: int32(days.From), To: int32(days.To), OnlyLockedDays: true,
	})
	if err != nil {
		return nil, fmt.Errorf("timeoff: read locked days: %w", err)
	}
	var out []civil.Range
	for _, e := range response.GetEmployees() {
		for _, r := range e.GetLockedDays() {
			out = append(out, civil.Range{From: civil.Date(r.GetFrom()), To: civil.Date(r.GetTo())})
		}
	}
	return out, nil
}
