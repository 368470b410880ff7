package timecard

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// What one call may ask for.
const (
	maxEmployees = 500
	maxDays      = 366
)

// WorkedTime serves to payroll what timecards add up to.
type WorkedTime struct{ reader *Reader }

// NewWorkedTime returns a WorkedTime of the timecards of a reader.
func NewWorkedTime(reader *Reader) *WorkedTime { return &WorkedTime{reader: reader} }

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

// WorkedTime returns what the timecards of up to 500 employees add up to on up to 366
// days, in the order of the ids, as it is at one moment. It narrows nothing to whom a
// caller may see. It calls commons, so that it has no place in a transaction.
func (r *Reader) WorkedTime(ctx context.Context, tenantID int64, ids []int64, days civil.Range) ([]*timekeepingv1.EmployeeWorkedTime, error) {
	if n := len(ids); n > maxEmployees || days.Empty() || days.Days() > maxDays {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d employees on %d days are more than the allowed %d on %d, or none.", n, days.Days(), maxEmployees, maxDays))
	}
	cards, err := r.read(ctx, tenantID, ids, window{days: days})
	if err != nil {
		return nil, err
	}
	out := make([]*timekeepingv1.EmployeeWorkedTime, len(cards))
	for i, c := range cards {
		out[i] = c.workedTime()
	}
	return out, nil
}

func (c *card) workedTime() *timekeepingv1.EmployeeWorkedTime {
	out := &timekeepingv1.EmployeeWorkedTime{EmployeeId: c.id}
	for _, d := range c.nonEmptyDays() {
		out.Totals = append(out.Totals, d.GetTotals()...)
		for _, e := range d.GetExceptions() {
			if name := e.GetExceptionType().GetName(); name == string(worktime.MissedIn) || name == string(worktime.MissedOut) {
				out.MissedPunches++
			}
		}
	}
	if c.through != nil {
		out.SignedOffThrough = c.through.String()
	}
	out.PayRule, _ = c.setup.Rules.On(c.payRule(c.days.To-1), c.days.To-1)
	return out
}

// WorkedShifts serves WorkedShiftService.
type WorkedShifts struct {
	timekeepingv1.UnsafeWorkedShiftServiceServer
	reader *Reader
}

var _ timekeepingv1.WorkedShiftServiceServer = (*WorkedShifts)(nil)

// NewWorkedShifts returns a WorkedShifts of the timecards of a reader.
func NewWorkedShifts(reader *Reader) *WorkedShifts { return &WorkedShifts{reader: reader} }

// ReadWorkedShifts returns the shifts that employees worked.
func (h *WorkedShifts) ReadWorkedShifts(ctx context.Context, req *timekeepingv1.ReadWorkedShiftsRequest) (*timekeepingv1.ReadWorkedShiftsResponse, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	days := civil.Range{From: civil.Date(req.GetFrom()), To: civil.Date(req.GetTo())}
	n := len(req.GetEmployeeIds())
	if n > maxEmployees || days.Empty() || days.Days() > maxDays || n*days.Days() > maxEmployeeDays {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d employees on %d days are more than the allowed %d on %d or %d together, or none.",
			n, days.Days(), maxEmployees, maxDays, maxEmployeeDays))
	}
	// Days that are signed off keep what they show of a shift, and not its instants.
	cards, err := h.reader.read(ctx, tenantID, req.GetEmployeeIds(), window{days: days, signed: true, across: true})
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.ReadWorkedShiftsResponse{}
	for _, c := range cards {
		if list := c.actualShifts(); len(list) > 0 {
			out.Employees = append(out.Employees, &timekeepingv1.EmployeeWorkedShifts{EmployeeId: c.id, Shifts: list})
		}
	}
	return out, nil
}

// actualShifts returns the shifts of the card's days that have some length.
func (c *card) actualShifts() []*timekeepingv1.ActualShift {
	var out []*timekeepingv1.ActualShift
	for i := range c.result.Shifts {
		shift := &c.result.Shifts[i]
		if !c.days.Contains(shift.Day) {
			continue
		}
		if s := c.actualShift(shift); s.GetStart() < s.GetEnd() {
			out = append(out, s)
		}
	}
	return out
}

func (c *card) actualShift(shift *worktime.Shift) *timekeepingv1.ActualShift {
	last := &shift.Spans[len(shift.Spans)-1]
	s := &timekeepingv1.ActualShift{Start: shift.Spans[0].Start, End: last.End, Running: shift.Running}
	if first := shift.Spans[0].In; first >= 0 {
		s.StartPunchId = c.punches[first].ID
	}
	for _, item := range shift.Items {
		s.Work = append(s.Work, item.Start, item.End)
	}
	if shift.Running {
		s.End = max(last.Start, c.input.Now)
	}
	if shift.Scheduled >= 0 {
		planned := c.input.Schedule[shift.Scheduled]
		s.ScheduledStart = proto.Int64(planned.Start)
		if shift.Running {
			s.End = max(s.End, planned.End)
		}
	}
	if shift.Running && last.Start < s.GetEnd() {
		s.Work = append(s.Work, last.Start, s.GetEnd())
	}
	return s
}
