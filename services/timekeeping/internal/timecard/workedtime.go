package timecard

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/card"
)

// WorkedTime serves to payroll what timecards add up to.
type WorkedTime struct{ reader *card.Reader }

// NewWorkedTime returns a WorkedTime of the timecards of a reader.
func NewWorkedTime(reader *card.Reader) *WorkedTime { return &WorkedTime{reader: reader} }

// ReadWorkedTime returns what the timecards of employees add up to.
func (h *WorkedTime) ReadWorkedTime(ctx context.Context, req *timekeepingv1.ReadWorkedTimeRequest) (*timekeepingv1.ReadWorkedTimeResponse, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	from, err := civil.ParseDate(req.GetStartDate())
	if err != nil {
		return nil, fault.Invalid(fault.CodeDate, "startDate: "+err.Error()+".")
	}
	last, err := civil.ParseDate(req.GetEndDate())
	if err != nil {
		return nil, fault.Invalid(fault.CodeDate, "endDate: "+err.Error()+".")
	}
	list, err := h.reader.WorkedTime(ctx, tenantID, req.GetEmployeeIds(), civil.Through(from, last))
	return &timekeepingv1.ReadWorkedTimeResponse{Employees: list}, err
}

// WorkedShifts serves WorkedShiftService.
type WorkedShifts struct {
	timekeepingv1.UnsafeWorkedShiftServiceServer
	reader *card.Reader
}

var _ timekeepingv1.WorkedShiftServiceServer = (*WorkedShifts)(nil)

// NewWorkedShifts returns a WorkedShifts of the timecards of a reader.
func NewWorkedShifts(reader *card.Reader) *WorkedShifts { return &WorkedShifts{reader: reader} }

// ReadWorkedShifts returns the shifts that employees worked.
func (h *WorkedShifts) ReadWorkedShifts(ctx context.Context, req *timekeepingv1.ReadWorkedShiftsRequest) (*timekeepingv1.ReadWorkedShiftsResponse, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	days := civil.Range{From: civil.Date(req.GetFrom()), To: civil.Date(req.GetTo())}
	n := len(req.GetEmployeeIds())
	if n > card.MaxEmployees || days.Empty() || days.Days() > card.MaxDays || n*days.Days() > card.MaxEmployeeDays {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d employees on %d days are more than the allowed %d on %d or %d together, or none.",
			n, days.Days(), card.MaxEmployees, card.MaxDays, card.MaxEmployeeDays))
	}
	// Days that are signed off keep what they show of a shift, and not its instants.
	cards, err := h.reader.Read(ctx, tenantID, req.GetEmployeeIds(), card.Window{Days: days, Signed: true, Across: true})
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.ReadWorkedShiftsResponse{}
	for _, c := range cards {
		if list := c.ActualShifts(); len(list) > 0 {
			out.Employees = append(out.Employees, &timekeepingv1.EmployeeWorkedShifts{EmployeeId: c.ID, Shifts: list})
		}
	}
	return out, nil
}
