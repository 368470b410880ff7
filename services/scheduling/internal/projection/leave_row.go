package projection

import (
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/coveringedit"
)

// leaveRow is a row of leave_edit.
type leaveRow struct {
	id, employeeID, version int64
	first, last             civil.Date
	body                    []byte
}

// newLeaveRow puts a leave edit into the form in which schedules show it.
func newLeaveRow(employeeID int64, s *timekeepingv1.LeaveEditState) (leaveRow, error) {
	day, err := civil.ParseDate(s.GetDate())
	if err != nil {
		return leaveRow{}, err
	}
	row := leaveRow{id: s.GetId(), employeeID: employeeID, version: s.GetVersion(), first: day, last: day}
	edit := leaveBody(s)
	edit.StartDate, edit.EndDate = day.String(), day.String()
	if s.GetStartDateTime() != "" {
		start, err := civil.ParseDateTime(s.GetStartDateTime())
		if err != nil {
			return leaveRow{}, err
		}
		end, err := civil.ParseDateTime(s.GetEndDateTime())
		if err != nil {
			return leaveRow{}, err
		}
		edit.StartTime, edit.EndTime = civil.TimeOfDay(start.Seconds).String(), civil.TimeOfDay(end.Seconds).String()
		edit.EndDate = end.Date.String()
		lastMoment, _ := civil.DateTime{Date: end.Date, Seconds: end.Seconds - 1}.Clock()
		row.last = max(day, lastMoment)
	}
	row.body, err = proto.MarshalOptions{Deterministic: true}.Marshal(edit)
	return row, err
}

func leaveBody(s *timekeepingv1.LeaveEditState) *schedulingv1.LeaveEdit {
	no := proto.Bool(false)
	code := s.GetLeaveCaseCode()
	edit := &schedulingv1.LeaveEdit{
		DurationInTime: proto.Int64(max(s.GetPaidSegment().GetAmountInSeconds(), s.GetTrackingSegment().GetAmountInSeconds())),
		LeaveCase:      &commonv1.Ref{Id: proto.Int64(s.GetLeaveCaseId()), Qualifier: &code, Name: &code},
		LeaveCaseCode:  code, LeaveCaseStatus: proto.Int64(s.GetLeaveCaseStatusId()),
		LeaveCaseOfContinuousFrequency: proto.Bool(s.GetContinuous()),
		PaidSegment:                    leaveSegment(s.GetPaidSegment()),
		TrackingSegment:                leaveSegment(s.GetTrackingSegment()),
		Locked:                         no, Posted: no, Generated: no, Deleted: no,
	}
	for _, o := range s.GetOverrideSegments() {
		edit.OverrideSegments = append(edit.OverrideSegments, &schedulingv1.LeaveEditOverrideSegment{
			LeaveType: o.GetPayCode(), DurationInTime: o.AmountInSeconds,
		})
	}
	return edit
}

func leaveSegment(s *timekeepingv1.LeaveSegment) *schedulingv1.LeaveEditSegment {
	if s == nil {
		return nil
	}
	return &schedulingv1.LeaveEditSegment{
		Id: s.Id, DurationInTime: s.AmountInSeconds, SymbolicValue: coveringedit.Symbolic(s.GetSymbolicValue()), Overridden: s.Overridden,
	}
}
