package leaveday

import (
	"fmt"
	"math"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

// OfTimeOff returns the deductions of a request for time off, one for each of its days.
func OfTimeOff(id int64, request *timekeepingv1.TimeOffRequest) ([]Deduction, error) {
	var out []Deduction
	for _, p := range request.GetPeriods() {
		first, err := civil.ParseDate(p.GetStartDate())
		if err != nil {
			return nil, fmt.Errorf("time off request %d: %w", id, err)
		}
		last, err := civil.ParseDate(p.GetEndDate())
		if err != nil {
			return nil, fmt.Errorf("time off request %d: %w", id, err)
		}
		t := Deduction{Source: Source{TimeOff, id}, PayCode: p.GetPayCode(), Parts: symbolic(p.GetSymbolicAmount().GetQualifier()), FreeOnHolidays: request.GetFreeOnHolidays()}
		if t.Parts == 0 {
			t.Seconds = int64(math.Round(p.GetDuration() * 3600))
			if p.GetStartTime() != "" {
				at, err := civil.ParseTimeOfDay(p.GetStartTime())
				if err != nil {
					return nil, fmt.Errorf("time off request %d: %w", id, err)
				}
				t.Start, t.End = int32(at), int32(at)+int32(t.Seconds)
			}
		}
		for t.Day = first; t.Day <= last; t.Day++ {
			out = append(out, t)
		}
	}
	return out, nil
}

// symbolic returns the part of a day for a symbolic amount, or 0 for other amounts.
func symbolic(name string) int64 {
	switch name {
	case symbolicamount.FullDay:
		return amount.PerUnit
	case symbolicamount.HalfDay:
		return amount.PerUnit / 2
	}
	return 0
}

// OfTimecardEdit returns the deduction of a pay code edit of the timecard.
func OfTimecardEdit(id int64, day civil.Date, q amount.Quantity) Deduction {
	return Deduction{Source: Source{TimecardEdit, id}, Day: day, Seconds: q.Seconds, Parts: int64(q.Days)}
}

// ofScheduleEdit returns the deduction of a pay code edit of the schedule.
func ofScheduleEdit(day civil.Date, a *schedulingv1.PayCodeAmount) Deduction {
	t := Deduction{Source: Source{Kind: ScheduleEdit}, Day: day, Seconds: a.GetSeconds()}
	switch {
	case t.Seconds != 0:
	case a.GetEndSecond() != 0:
		t.Start, t.End = a.GetStartSecond(), a.GetEndSecond()
		t.Seconds = int64(t.End - t.Start)
	default:
		t.Parts = int64(a.GetHalves())*amount.PerUnit/2 + a.GetDays()
	}
	return t
}

// OfLeaveEdit returns the deductions of a leave edit, from its first day to its last day. An edit with
// times on several days uses the work between the times. On days without work it uses the rest of
// its amount. The last day has the amount beyond the work.
func (d *Days) OfLeaveEdit(id int64, first, last civil.Date, edit *timekeepingv1.LeaveEdit) ([]Deduction, error) {
	paid, tracked := edit.GetPaidSegment(), edit.GetTrackingSegment()
	t := Deduction{Source: Source{LeaveEdit, id}, Day: first, Parts: max(symbolic(paid.GetSymbolicValue()), symbolic(tracked.GetSymbolicValue()))}
	if t.Parts == 0 {
		t.Seconds = max(paid.GetAmountInSeconds(), tracked.GetAmountInSeconds())
	}
	if edit.GetStartDateTime() == "" {
		return []Deduction{t}, nil
	}
	start, err := civil.ParseDateTime(edit.GetStartDateTime())
	if err != nil {
		return nil, fmt.Errorf("leave edit %d: %w", id, err)
	}
	end, err := civil.ParseDateTime(edit.GetEndDateTime())
	if err != nil {
		return nil, fmt.Errorf("leave edit %d: %w", id, err)
	}
	if oneNight := end.Date == start.Date+1 && end.Seconds <= start.Seconds; first == last || oneNight {
		t.Start, t.End = start.Seconds, end.Seconds+int32(end.Date-start.Date)*civil.SecondsPerDay
		return []Deduction{t}, nil
	}
	rest, complete := t.Seconds, true
	var out []Deduction
	for day := first; day <= last; day++ {
		part := Deduction{Source: t.Source, Day: day, End: civil.SecondsPerDay}
		if day == start.Date {
			part.Start = start.Seconds
		}
		if day == end.Date {
			part.End = end.Seconds
		}
		part.Seconds = d.workBetween(day, part.Start, part.End, rest)
		rest, complete = rest-part.Seconds, complete && d.known[day] != nil
		out = append(out, part)
	}
	if complete {
		out[len(out)-1].Seconds += max(0, rest)
	}
	return out, nil
}
