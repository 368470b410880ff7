package window

import (
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
)

// shiftTemplate compiles a shift. Its times and the times of its segments are placeholders.
func shiftTemplate(t *schedulingv1.ShiftTemplate, count *counters, mergeBreaks bool) (Template, error) {
	start, end, err := period(t.GetStartDateTime(), t.GetEndDateTime())
	if err != nil {
		return Template{}, err
	}
	out := Template{Kind: KindShift, Start: start, End: end}
	head := &out.sections[0]
	head.appendDate(shiftStart, formDateTime, start)
	head.appendDate(shiftEnd, formDateTime, end)
	flags := &schedulingv1.Shift{
		Label: t.GetLabel(), Generated: yes, Open: no, Locked: proto.Bool(t.GetLocked()),
	}
	if err := head.appendMessage(flags); err != nil {
		return Template{}, err
	}
	out.lockedAt = int32(len(head.text)) - 1
	if err := head.appendMessage(&schedulingv1.Shift{Posted: no}); err != nil {
		return Template{}, err
	}
	segments, err := decodeSegments(t)
	if err != nil {
		return Template{}, err
	}
	if mergeBreaks {
		segments = segment.WithoutBreaks(segments)
	}
	tail := &out.sections[2]
	for i, s := range segments {
		from := t.GetSegments()[s.Index]
		if i == 0 {
			out.location = from.GetOrgNode().GetQualifier()
		}
		if err := appendShiftSegment(tail, count.segmentSeries(s.Index), s, from); err != nil {
			return Template{}, err
		}
	}
	rest := &schedulingv1.Shift{CommentNotes: &schedulingv1.CommentNoteList{CommentNotes: t.GetCommentNotes()}}
	segment.Complete(rest)
	rest.Generated, rest.Open, rest.Locked, rest.Posted = nil, nil, nil, nil // These fields were written before the version.
	err = tail.appendMessage(rest)
	return out, err
}

func appendShiftSegment(tail *appendSection, series int32, s segment.Segment, from *schedulingv1.ShiftTemplateSegment) error {
	var sub appendSection
	sub.appendID(segmentID, series)
	sub.appendDate(segmentStart, formDateTime, int32(s.Start))
	sub.appendDate(segmentEnd, formDateTime, int32(s.End))
	rest := &schedulingv1.ShiftSegment{
		SegmentTypeRef:       from.GetSegmentType(),
		Type:                 from.GetSegmentType().GetQualifier(),
		OrgJobRef:            from.GetOrgNode(),
		WorkruleRef:          from.GetWorkRule(),
		CostCenter:           from.GetCostCenter(),
		LaborCategories:      from.GetLaborCategories(),
		TransferString:       from.GetTransferString(),
		SkillCertProfileRefs: from.GetSegmentScProfiles(),
	}
	for _, t := range from.GetSegmentTemplateTags() {
		rest.SegmentTags = append(rest.SegmentTags, &schedulingv1.SegmentTag{
			Id: t.Id, Color: t.GetColor(), TagDefinitionRef: t.GetTagDefinitionRef(),
		})
	}
	segment.CompleteFlags(rest)
	if err := sub.appendMessage(rest); err != nil {
		return err
	}
	tail.appendNested(shiftSegment, &sub)
	return nil
}

func decodeSegments(t *schedulingv1.ShiftTemplate) ([]segment.Segment, error) {
	segments := make([]segment.Segment, len(t.GetSegments()))
	for i, from := range t.GetSegments() {
		start, end, err := period(from.GetStartDateTime(), from.GetEndDateTime())
		if err != nil {
			return nil, err
		}
		segments[i] = segment.Segment{
			Start: int64(start), End: int64(end), Index: i,
			Kind: from.GetSegmentType().GetQualifier(),
		}
	}
	return segments, nil
}
