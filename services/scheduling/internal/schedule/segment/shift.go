package segment

import (
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Of returns the segments of a shift. A shift without segments is one segment.
func Of(shift *schedulingv1.Shift) ([]Segment, error) {
	whole, err := newSegment(shift.GetStartDateTime(), shift.GetEndDateTime())
	if err != nil || len(shift.GetSegments()) == 0 {
		return []Segment{whole}, err
	}
	pieces := make([]Segment, len(shift.GetSegments()))
	for i, s := range shift.GetSegments() {
		if pieces[i], err = newSegment(s.GetStartDateTime(), s.GetEndDateTime()); err != nil {
			return nil, err
		}
		pieces[i].Kind, pieces[i].Index = s.GetSegmentTypeRef().GetQualifier(), i
	}
	return pieces, nil
}

func newSegment(start, end string) (Segment, error) {
	from, err := civil.ParseDateTime(start)
	if err != nil {
		return Segment{}, err
	}
	to, err := civil.ParseDateTime(end)
	return Segment{Start: Seconds(from), End: Seconds(to)}, err
}

// Cut removes the merged intervals from a shift, and reports whether any work remains. It also
// removes breaks at the beginning and the end.
func Cut(shift *schedulingv1.Shift, merged []Interval) (bool, error) {
	pieces, err := Of(shift)
	if err != nil {
		return false, err
	}
	var remaining []Segment
	for _, p := range pieces {
		for _, s := range (Interval{p.Start, p.End}).subtract(merged) {
			p.Start, p.End = s.Start, s.End
			remaining = append(remaining, p)
		}
	}
	for len(remaining) > 0 && remaining[0].Kind == Break {
		remaining = remaining[1:]
	}
	for len(remaining) > 0 && remaining[len(remaining)-1].Kind == Break {
		remaining = remaining[:len(remaining)-1]
	}
	if len(remaining) == 0 {
		return false, nil
	}
	shift.StartDateTime, shift.EndDateTime = Text(remaining[0].Start), Text(remaining[len(remaining)-1].End)
	if len(shift.GetSegments()) == 0 {
		return true, nil
	}
	segments := make([]*schedulingv1.ShiftSegment, len(remaining))
	before := int64(0) // earlier pieces of the same segment
	for i, p := range remaining {
		segments[i] = proto.CloneOf(shift.GetSegments()[p.Index])
		if before++; i == 0 || remaining[i-1].Index != p.Index {
			before = 0
		}
		if before > 0 {
			segments[i].Id = proto.Int64(remainderID(segments[i].GetId(), before))
		}
		segments[i].StartDateTime, segments[i].EndDateTime = Text(p.Start), Text(p.End)
	}
	shift.Segments = segments
	return true, nil
}

// remainderID returns the id of a piece of a segment that leave has split. The first piece keeps
// the segment's id. The second has the negated id, and each further piece is 2^53 below the one
// before.
func remainderID(segment, before int64) int64 { return -segment - (before-1)<<53 }

// MergeBreaks merges the breaks of a shift into neighbouring segments.
func MergeBreaks(shift *schedulingv1.Shift) error {
	stored := shift.GetSegments()
	list := make([]Segment, len(stored))
	for i, s := range stored {
		start, err := civil.ParseDateTime(s.GetStartDateTime())
		if err != nil {
			return err
		}
		end, err := civil.ParseDateTime(s.GetEndDateTime())
		if err != nil {
			return err
		}
		list[i] = Segment{
			Start: Seconds(start), End: Seconds(end), Kind: s.GetSegmentTypeRef().GetQualifier(), Index: i,
		}
	}
	merged := WithoutBreaks(list)
	shift.Segments = make([]*schedulingv1.ShiftSegment, len(merged))
	for i, s := range merged {
		into := stored[s.Index]
		into.StartDateTime, into.EndDateTime = Text(s.Start), Text(s.End)
		shift.Segments[i] = into
	}
	return nil
}

// Seconds returns a date-time in clock-face seconds since 1970-01-01.
func Seconds(at civil.DateTime) int64 { return int64(at.Date)*civil.SecondsPerDay + int64(at.Seconds) }

// Text formats a time in clock-face seconds since 1970-01-01 as in messages.
func Text(seconds int64) string {
	return DateTime(seconds).String()
}

// DateTime converts clock-face seconds since 1970-01-01.
func DateTime(seconds int64) civil.DateTime {
	return civil.Date(seconds / civil.SecondsPerDay).At(int32(seconds % civil.SecondsPerDay))
}
