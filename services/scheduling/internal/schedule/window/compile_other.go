package window

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/protofield"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// payCodeEditTemplate compiles a pay code edit. If the edit has times, its dates are the dates of
// these times; otherwise it covers its day.
func payCodeEditTemplate(t *schedulingv1.PayCodeEditTemplate) (Template, error) {
	out := Template{Kind: KindPayCodeEdit, End: civil.SecondsPerDay, location: t.GetOrgJob().GetQualifier()}
	starts, ends := t.GetStartDateTime() != "", t.GetEndDateTime() != ""
	var lastDay int32
	var err error
	if starts {
		if out.Start, err = offset(t.GetStartDateTime()); err != nil {
			return Template{}, err
		}
	}
	if ends {
		if out.End, err = offset(t.GetEndDateTime()); err != nil {
			return Template{}, err
		}
		lastDay = out.End / civil.SecondsPerDay
	}
	head := &out.sections[0]
	if err := head.appendMessage(&schedulingv1.PayCodeEdit{PayCodeRef: t.GetPayCode()}); err != nil {
		return Template{}, err
	}
	head.appendDate(editStartDate, formDate, 0)
	head.appendDate(editEndDate, formDate, lastDay*civil.SecondsPerDay)
	if starts {
		head.appendDate(editStart, formClock, out.Start)
	}
	if ends {
		head.appendDate(editEnd, formClock, out.End)
	}
	if err := head.appendMessage(payCodeEditBody(t)); err != nil {
		return Template{}, err
	}
	out.lockedAt = int32(len(head.text)) - 1
	if err := head.appendMessage(&schedulingv1.PayCodeEdit{Posted: no, Generated: yes, Deleted: no}); err != nil {
		return Template{}, err
	}
	err = out.sections[1].appendMessage(&schedulingv1.PayCodeEdit{CommentNotes: t.GetCommentNotes()})
	return out, err
}

// payCodeEditBody returns the fields from the duration to the lock, which comes last.
func payCodeEditBody(t *schedulingv1.PayCodeEditTemplate) *schedulingv1.PayCodeEdit {
	body := &schedulingv1.PayCodeEdit{
		DurationInTime:        t.DurationInTime,
		DurationInDays:        t.DurationInDays,
		MoneyAmount:           t.MoneyAmount,
		OrgJobRef:             t.GetOrgJob(),
		CostCenter:            t.GetCostCenter(),
		LaborCategories:       t.GetLaborCategories(),
		TransferString:        t.GetTransferString(),
		OverrideAccrualAmount: t.OverrideAccrualAmount,
		Locked:                proto.Bool(t.GetLocked()),
	}
	if t.OverrideAccrualAmount != nil {
		body.OverrideAccrual = yes
	}
	return body
}

func availabilityTemplate(t *schedulingv1.AvailabilityTemplate, count *counters) (Template, error) {
	out := Template{Kind: KindAvailability, End: civil.SecondsPerDay, lockedAt: -1}
	out.sections[0].appendDate(availabilityDate, formDate, 0)
	if err := out.sections[0].appendMessage(&schedulingv1.Availability{Generated: yes, Deleted: no}); err != nil {
		return Template{}, err
	}
	for i, s := range t.GetSegments() {
		start, err := civil.ParseTimeOfDay(s.GetStartTime())
		if err != nil {
			return Template{}, err
		}
		if i == 0 {
			out.Start = int32(start)
		}
		if err := out.sections[1].appendSegment(availabilitySegments, count.segmentSeries(i), &schedulingv1.AvailabilitySegment{
			AvailabilityType: s.GetAvailabilityType(), StartTime: s.GetStartTime(), EndTime: s.GetEndTime(),
		}); err != nil {
			return Template{}, err
		}
	}
	return out, nil
}

// segment appends a field with the id and the remaining fields of a segment. The segment has no
// times that depend on the day.
func (s *appendSection) appendSegment(field protowire.Number, series int32, rest proto.Message) error {
	var sub appendSection
	sub.appendID(protofield.MustShort(rest, "id"), series)
	if err := sub.appendMessage(rest); err != nil {
		return err
	}
	s.appendNested(field, &sub)
	return nil
}

// OnCallShift is the segment type of a tag that puts its employee on call.
const OnCallShift = "ON_CALL_SHIFT"

// TagTypes are the segment types of tags. The first is the default.
var TagTypes = []string{"SCHEDULE_TAG", OnCallShift, "PREDICTIVE_TAG"}

// tagTemplate compiles a schedule tag. A tag without times covers the whole day.
func tagTemplate(t *schedulingv1.ScheduleTagTemplate, count *counters) (Template, error) {
	out := Template{Kind: KindTag, End: civil.SecondsPerDay, lockedAt: -1}
	if t.GetStartDateTime() != "" {
		var err error
		if out.Start, out.End, err = period(t.GetStartDateTime(), t.GetEndDateTime()); err != nil {
			return Template{}, err
		}
	}
	head := &out.sections[0]
	head.appendDate(tagStart, formDateTime, out.Start)
	head.appendDate(tagEnd, formDateTime, out.End)
	onCall := false
	for i, s := range t.GetSegments() {
		if i == 0 {
			out.location = s.GetOrgJob().GetQualifier()
		}
		onCall = onCall || s.GetSegmentType().GetQualifier() == OnCallShift
		if err := out.sections[1].appendSegment(tagSegments, count.segmentSeries(i), tagSegment(s)); err != nil {
			return Template{}, err
		}
	}
	flags := &schedulingv1.ScheduleTag{Posted: no, Generated: yes, Deleted: no, OnCall: proto.Bool(onCall)}
	if err := head.appendMessage(flags); err != nil {
		return Template{}, err
	}
	err := out.sections[2].appendMessage(&schedulingv1.ScheduleTag{CommentNotes: t.GetCommentNotes()})
	return out, err
}

func tagSegment(s *schedulingv1.ScheduleTagTemplateSegment) *schedulingv1.ScheduleTagSegment {
	segmentType := s.GetSegmentType().GetQualifier()
	if !slices.Contains(TagTypes, segmentType) {
		segmentType = TagTypes[0]
	}
	return &schedulingv1.ScheduleTagSegment{
		SegmentType:      segmentType,
		TagDefinitionRef: s.GetTagDefinition(),
		ScheduleTagColor: s.GetScheduleTagColor(),
		OrgJobRef:        s.GetOrgJob(),
		WorkruleRef:      s.GetWorkRule(),
		CostCenter:       s.GetCostCenter(),
		LaborCategories:  s.GetLaborCategories(),
	}
}
