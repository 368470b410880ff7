package timecard

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
)

// WorkedTime serves the totals of timecards to payroll.
type WorkedTime struct{ reader *calculation.Reader }

// NewWorkedTime returns a WorkedTime of the timecards of a reader.
func NewWorkedTime(reader *calculation.Reader) *WorkedTime { return &WorkedTime{reader: reader} }

// ReadWorkedTime returns the totals of the timecards of employees.
func (h *WorkedTime) ReadWorkedTime(ctx context.Context, req *timekeepingv1.ReadWorkedTimeRequest) (*timekeepingv1.ReadWorkedTimeResponse, error) {
	from, err := civil.ParseDate(req.GetStartDate())
	if err != nil {
		return nil, fault.Invalid(fault.CodeDate, "startDate: "+err.Error()+".")
	}
	last, err := civil.ParseDate(req.GetEndDate())
	if err != nil {
		return nil, fault.Invalid(fault.CodeDate, "endDate: "+err.Error()+".")
	}
	list, err := h.reader.WorkedTime(ctx, req.GetEmployeeIds(), civil.Through(from, last))
	return &timekeepingv1.ReadWorkedTimeResponse{Employees: list}, err
}
