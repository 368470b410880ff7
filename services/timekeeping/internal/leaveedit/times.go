package leaveedit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

// An edit without a start gets its times from the shifts of its day. These times are not stored:
// they are calculated from the schedule for each response.

// The maximum number of employees and employee days in one call to scheduling.
const (
	maxRequestEmployees = 500
	maxRequestDays      = 400
	targetEmployeeDays  = 14_000
)

// employeeDay is a day of an employee.
type employeeDay struct {
	employeeID int64
	day        civil.Date
}

func compareDays(a, b employeeDay) int {
	return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.employeeID, b.employeeID))
}

// hasNoStart reports whether the edit has no start of its own.
func (r row) hasNoStart() bool { return r.body.GetStartDateTime() == "" }

// untimedDays returns the days of rows without a start, without duplicates.
func untimedDays(rows []row) []employeeDay {
	var days []employeeDay
	for _, r := range rows {
		if r.hasNoStart() {
			days = append(days, employeeDay{r.employeeID, r.first})
		}
	}
	slices.SortFunc(days, compareDays)
	return slices.Compact(days)
}

// untimedOn returns the edits of all cases that belong to the days and have no start. They use the
// time of a day one after the other, in the order of their ids.
func untimedOn(ctx context.Context, db pg.Querier, days []employeeDay) (map[employeeDay][]row, error) {
	if len(days) == 0 {
		return nil, nil
	}
	employees, dates := make([]int64, len(days)), make([]civil.Date, len(days))
	for i, d := range days {
		employees[i], dates[i] = d.employeeID, d.day
	}
	rows, err := collect(ctx, db, `e.id = ANY(ARRAY(
    SELECT x.id FROM unnest($2::bigint[], $3::date[]) AS q (employee, day) CROSS JOIN LATERAL (
        SELECT id FROM leave_edit WHERE tenant_id = $1 AND employee_id = q.employee AND from_day = q.day OFFSET 0
    ) AS x)) ORDER BY e.id LIMIT $4`, tenant.Of(ctx), employees, dates, leavecase.MaxRead+1)
	if err != nil {
		return nil, err
	}
	if err := checkCount(rows); err != nil {
		return nil, err
	}
	found := make(map[employeeDay][]row, len(days))
	for _, r := range rows {
		if r.hasNoStart() {
			on := employeeDay{r.employeeID, r.first}
			found[on] = append(found[on], r)
		}
	}
	return found, nil
}

// workOn reads the scheduled work of days from scheduling. Do not call it inside a transaction.
func (h *Handler) workOn(ctx context.Context, days []employeeDay) (map[employeeDay][]*schedulingv1.EmployeeShiftSegment, error) {
	slices.SortFunc(days, compareDays)
	days = slices.Compact(days)
	employees := map[int64]bool{}
	for _, d := range days {
		employees[d.employeeID] = true
	}
	length := civil.Date(min(maxRequestDays, max(1, targetEmployeeDays/max(1, len(employees)))))
	work := make(map[employeeDay][]*schedulingv1.EmployeeShiftSegment, len(days))
	for len(days) > 0 {
		from, ids := days[0].day, []int64{}
		asked := map[int64]bool{}
		n := 0
		for n < len(days) && days[n].day < from+length {
			if id := days[n].employeeID; !asked[id] {
				if len(ids) == maxRequestEmployees {
					break
				}
				asked[id], ids = true, append(ids, id)
			}
			n++
		}
		response, err := h.days.ReadEmployeeDays(ctx, &schedulingv1.ReadEmployeeDaysRequest{
			EmployeeIds: ids, From: int32(from), To: int32(days[n-1].day + 1),
		})
		if err != nil {
			return nil, fmt.Errorf("read the schedule of leave edits: %w", err)
		}
		for _, e := range response.GetEmployees() {
			for _, shift := range e.GetShifts() {
				on := employeeDay{e.GetEmployeeId(), civil.Date(shift.GetDay())}
				work[on] = append(work[on], shift.GetSegments()...)
			}
		}
		days = days[n:]
	}
	return work, nil
}

// times are the start and the end of an edit in wall-clock time.
type times struct{ start, end civil.DateTime }

// timesOn returns the times of a day's edits without a start, by id. They use the work of the day
// one after the other. Time that exceeds the work follows the last shift, or starts at midnight
// without shifts.
func timesOn(day civil.Date, edits []row, work []*schedulingv1.EmployeeShiftSegment, zone *civil.Zone) map[int64]times {
	var worked int64
	for _, segment := range work {
		worked += length(segment)
	}
	out := make(map[int64]times, len(edits))
	var taken int64
	for _, r := range edits {
		from, to := min(taken, worked), int64(0)
		amount := max(r.body.GetPaidSegment().GetAmountInSeconds(), r.body.GetTrackingSegment().GetAmountInSeconds())
		paid, tracked := r.body.GetPaidSegment().GetSymbolicValue(), r.body.GetTrackingSegment().GetSymbolicValue()
		switch {
		case worked > 0 && (paid == fullDay || tracked == fullDay):
			from, to = 0, worked
		case worked > 0 && (paid == halfDay || tracked == halfDay):
			to = min(worked, from+worked/2)
		default:
			to = from + amount
		}
		taken = max(taken, to)
		start, end := zone.Adjust(day.At(int32(startAfter(work, from)))), zone.Adjust(day.At(int32(endAfter(work, from, to))))
		if end.Compare(start) < 0 {
			end = start // The edit began in an hour that clocks skip.
		}
		out[r.id] = times{start, end}
	}
	return out
}

func length(s *schedulingv1.EmployeeShiftSegment) int64 {
	return int64(s.GetEndSecond()) - int64(s.GetStartSecond())
}

// startAfter returns when the work continues after some of its seconds are used, in seconds after the
// midnight that begins the day.
func startAfter(work []*schedulingv1.EmployeeShiftSegment, taken int64) int64 {
	var last int64
	for _, s := range work {
		if taken < length(s) {
			return int64(s.GetStartSecond()) + taken
		}
		taken -= length(s)
		last = max(last, int64(s.GetEndSecond()))
	}
	return last + taken
}

// endAfter returns the end of the part of the work that lies between two amounts of it.
func endAfter(work []*schedulingv1.EmployeeShiftSegment, from, to int64) int64 {
	end := startAfter(work, from)
	if from == to {
		return end
	}
	var before, last int64
	for _, s := range work {
		if until := min(to, before+length(s)); until > max(from, before) {
			end = max(end, int64(s.GetStartSecond())+until-before)
		}
		before, last = before+length(s), max(last, int64(s.GetEndSecond()))
	}
	if to > before {
		end = max(end, last+to-before)
	}
	return end
}

// setTimes sets the times of rows without a start, calculated from the work of their days. Do not
// store such rows.
func (h *Handler) setTimes(rows []row, beside map[employeeDay][]row, work map[employeeDay][]*schedulingv1.EmployeeShiftSegment, zoneOf func(row) string) error {
	known := map[employeeDay]map[int64]times{}
	for i := range rows {
		r := rows[i]
		if !r.hasNoStart() {
			continue
		}
		on := employeeDay{r.employeeID, r.first}
		if known[on] == nil {
			zone, err := h.zones.Get(zoneOf(r))
			if err != nil {
				return err
			}
			known[on] = timesOn(on.day, beside[on], work[on], zone)
		}
		// An edit that was deleted between two reads has no times.
		if t, ok := known[on][r.id]; ok {
			r.body.StartDateTime, r.body.EndDateTime = withMilliseconds(t.start), withMilliseconds(t.end)
		}
	}
	return nil
}

// zoneOfCase returns a function that returns the time zone of an edit from its case.
func zoneOfCase(cases map[int64]*leavecase.Case) func(row) string {
	return func(r row) string { return cases[r.caseID].TimeZone() }
}

// says reports whether an edit specifies these times, possibly with fewer digits.
func (t times) says(sent *timekeepingv1.LeaveEdit) bool {
	start, err := civil.ParseDateTime(sent.GetStartDateTime())
	if err != nil {
		return false
	}
	end, err := civil.ParseDateTime(sent.GetEndDateTime())
	return err == nil && start.Compare(t.start) == 0 && end.Compare(t.end) == 0
}
