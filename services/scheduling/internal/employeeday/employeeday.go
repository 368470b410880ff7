// Package employeeday serves the schedule data of employees to timekeeping: shifts, pay code edits,
// the pay rules of employment terms, and locked days.
package employeeday

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

// The limits of one call.
const (
	maxEmployees = 500
	maxDays      = 400
	// maxEditedDays limits the range of days of one employee if only days with a pay code edit are
	// read.
	maxEditedDays = 20_000
)

// Handler serves EmployeeDayService.
type Handler struct {
	schedulingv1.UnsafeEmployeeDayServiceServer
	pool   *pg.Pool
	reader *reading.Reader
}

var _ schedulingv1.EmployeeDayServiceServer = (*Handler)(nil)

// New returns a Handler that reads from the pool.
func New(pool *pg.Pool, reader *reading.Reader) *Handler {
	return &Handler{pool: pool, reader: reader}
}

// ReadEmployeeDays returns the schedule data of employees on a range of days.
func (h *Handler) ReadEmployeeDays(ctx context.Context, req *schedulingv1.ReadEmployeeDaysRequest) (*schedulingv1.ReadEmployeeDaysResponse, error) {
	days := civil.Range{From: civil.Date(req.GetFrom()), To: civil.Date(req.GetTo())}
	mostEmployees, mostDays := maxEmployees, maxDays
	if req.GetOnlyEditedDays() {
		mostEmployees, mostDays = 1, maxEditedDays
	}
	if n := len(req.GetEmployeeIds()); n > mostEmployees || days.Empty() || days.Days() > mostDays {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("The request has %d employees and %d days. Allowed are 1 to %d employees and 1 to %d days.", n, days.Days(), mostEmployees, mostDays))
	}
	out, err := h.read(ctx, req, days)
	if err != nil {
		return nil, err
	}
	response := &schedulingv1.ReadEmployeeDaysResponse{}
	for _, id := range slices.Sorted(maps.Keys(out)) {
		response.Employees = append(response.Employees, out[id])
	}
	if !req.GetOnlyLockedDays() && !req.GetOnlyEditedDays() {
		response.Holidays, err = h.readHolidays(ctx, days)
	}
	return response, err
}

// read returns the requested data by employee.
func (h *Handler) read(ctx context.Context, req *schedulingv1.ReadEmployeeDaysRequest, days civil.Range) (map[int64]*schedulingv1.EmployeeDays, error) {
	if req.GetOnlyLockedDays() {
		return h.lockedDays(ctx, req.GetEmployeeIds(), days)
	}
	read := h.reader.ReadDays
	if req.GetOnlyEditedDays() {
		read = h.reader.ReadEditedDays
	}
	found, err := read(ctx, req.GetEmployeeIds(), days)
	if err != nil {
		return nil, err
	}
	holidays, err := h.holidaysOfFreeEdits(ctx, found, days)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]*schedulingv1.EmployeeDays, len(found))
	for id, d := range found {
		out[id] = &schedulingv1.EmployeeDays{EmployeeId: id, Shifts: convertShifts(d.Shifts)}
		if out[id].PayCodeEdits, err = convertEdits(d.Edits, days, holidays); err != nil {
			return nil, err
		}
	}
	if req.GetOnlyEditedDays() {
		return out, nil
	}
	return out, h.addPayRules(ctx, req.GetEmployeeIds(), days, out)
}

// shifts converts shifts, and sorts them by day and start.
func convertShifts(list []reading.DayShift) []*schedulingv1.EmployeeShift {
	slices.SortFunc(list, func(a, b reading.DayShift) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Work[0].Start, b.Work[0].Start), cmp.Compare(a.ID, b.ID))
	})
	out := make([]*schedulingv1.EmployeeShift, len(list))
	for i, s := range list {
		out[i] = &schedulingv1.EmployeeShift{Day: int32(s.Day)}
		for _, w := range s.Work {
			out[i].Segments = append(out[i].Segments, &schedulingv1.EmployeeShiftSegment{
				StartSecond: w.Start, EndSecond: w.End, Job: scheduleevent.JobName(w.Job), Taken: w.Covered,
			})
		}
	}
	return out
}

// convertEdits returns the pay code edits of each of the days, in order of the days.
func convertEdits(list []reading.DayEdit, days civil.Range, holidays []int32) ([]*schedulingv1.EmployeePayCodeEdit, error) {
	slices.SortFunc(list, func(a, b reading.DayEdit) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.ID, b.ID)) })
	var out []*schedulingv1.EmployeePayCodeEdit
	for _, e := range list {
		amount, err := editAmount(e.Edit)
		if err != nil {
			return nil, fmt.Errorf("pay code edit %d: %w", e.ID, err)
		}
		last := e.Last
		if amount.GetEndSecond() > civil.SecondsPerDay && last == e.First+1 {
			last = e.First // The edit is one night, which ends on the day after it begins.
		}
		for day := max(e.First, days.From); day <= min(last, days.To-1); day++ {
			free := e.Edit.GetFreeOnHolidays() && contains(holidays, day)
			out = append(out, &schedulingv1.EmployeePayCodeEdit{Day: int32(day), Amount: proto.CloneOf(amount), TimeOff: e.Covers, Free: free})
		}
	}
	slices.SortStableFunc(out, func(a, b *schedulingv1.EmployeePayCodeEdit) int { return cmp.Compare(a.GetDay(), b.GetDay()) })
	return out, nil
}
