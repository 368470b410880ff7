package leaveedit

import (
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

// scheduledEdit converts the edit to the form that schedules show, without its employee.
func (r row) scheduledEdit(c *leavecase.Case) (*schedulingv1.LeaveEdit, error) {
	no, code := proto.Bool(false), c.Code()
	edit := &schedulingv1.LeaveEdit{
		Id: proto.Int64(r.id), Version: proto.Int64(r.version),
		DurationInTime: proto.Int64(max(r.body.GetPaidSegment().GetAmountInSeconds(), r.body.GetTrackingSegment().GetAmountInSeconds())),
		LeaveCase:      &commonv1.Ref{Id: proto.Int64(c.ID), Qualifier: &code, Name: &code},
		LeaveCaseCode:  code, LeaveCaseStatus: proto.Int64(c.Body().GetStatus().GetId()),
		LeaveCaseOfContinuousFrequency: proto.Bool(isContinuous(c)),
		PaidSegment:                    scheduledSegment(r.body.GetPaidSegment()),
		TrackingSegment:                scheduledSegment(r.body.GetTrackingSegment()),
		Locked:                         no, Posted: no, Generated: no, Deleted: no,
	}
	for _, o := range r.body.GetOverrideSegments() {
		edit.OverrideSegments = append(edit.OverrideSegments, &schedulingv1.LeaveEditOverrideSegment{
			LeaveType: o.GetPayCode(), DurationInTime: o.AmountInSeconds,
		})
	}
	day, err := civil.ParseDate(r.body.GetDate())
	if err != nil {
		return nil, err
	}
	edit.StartDate, edit.EndDate = day.String(), day.String()
	if r.hasNoStart() {
		return edit, nil
	}
	start, err := civil.ParseDateTime(r.body.GetStartDateTime())
	if err != nil {
		return nil, err
	}
	end, err := civil.ParseDateTime(r.body.GetEndDateTime())
	if err != nil {
		return nil, err
	}
	edit.StartTime, edit.EndTime = civil.TimeOfDay(start.Seconds).String(), civil.TimeOfDay(end.Seconds).String()
	edit.EndDate = end.Date.String()
	return edit, nil
}

func scheduledSegment(s *timekeepingv1.LeaveSegment) *schedulingv1.LeaveEditSegment {
	if s == nil {
		return nil
	}
	out := &schedulingv1.LeaveEditSegment{Id: s.Id, DurationInTime: s.AmountInSeconds, Overridden: s.Overridden}
	switch s.GetSymbolicValue() {
	case fullDay:
		out.SymbolicValue = &commonv1.Ref{Id: proto.Int64(-1), Qualifier: proto.String(fullDay)}
	case halfDay:
		out.SymbolicValue = &commonv1.Ref{Id: proto.Int64(-2), Qualifier: proto.String(halfDay)}
	}
	return out
}
