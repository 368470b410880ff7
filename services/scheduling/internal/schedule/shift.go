package schedule

import (
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// piecesOf returns the segments of a shift, which is its own when it has none.
func piecesOf(shift *schedulingv1.Shift) ([]stretch, error) {
	whole, err := stretchOf(shift.GetStartDateTime(), shift.GetEndDateTime())
	if err != nil || len(shift.GetSegments()) == 0 {
		return []stretch{whole}, err
	}
	pieces := make([]stretch, len(shift.GetSegments()))
	for i, s := range shift.GetSegments() {
		if pieces[i], err = stretchOf(s.GetStartDateTime(), s.GetEndDateTime()); err != nil {
			return nil, err
		}
		pieces[i].kind, pieces[i].index = s.GetSegmentTypeRef().GetQualifier(), i
	}
	return pieces, nil
}

func stretchOf(start, end string) (stretch, error) {
	from, err := civil.ParseDateTime(start)
	if err != nil {
		return stretch{}, err
	}
	to, err := civil.ParseDateTime(end)
	return stretch{start: seconds(from), end: seconds(to)}, err
}

// cut takes from a shift what is gone, and tells whether work is left. A shift
// does not begin or end with a break.
func cut(shift *schedulingv1.Shift, gone []stint) (bool, error) {
	pieces, err := piecesOf(shift)
	if err != nil {
		return false, err
	}
	var left []stretch
	for _, p := range pieces {
		for _, s := range (stint{p.start, p.end}).without(gone) {
			p.start, p.end = s.start, s.end
			left = append(left, p)
		}
	}
	for len(left) > 0 && left[0].kind == breakSegment {
		left = left[1:]
	}
	for len(left) > 0 && left[len(left)-1].kind == breakSegment {
		left = left[:len(left)-1]
	}
	if len(left) == 0 {
		return false, nil
	}
	shift.StartDateTime, shift.EndDateTime = clockText(left[0].start), clockText(left[len(left)-1].end)
	if len(shift.GetSegments()) == 0 {
		return true, nil
	}
	segments := make([]*schedulingv1.ShiftSegment, len(left))
	for i, p := range left {
		segments[i] = proto.CloneOf(shift.GetSegments()[p.index])
		segments[i].Id = proto.Int64(int64(i + 1))
		segments[i].StartDateTime, segments[i].EndDateTime = clockText(p.start), clockText(p.end)
	}
	shift.Segments = segments
	return true, nil
}

// mergeBreaks merges the breaks of a shift into neighbouring segments.
func mergeBreaks(shift *schedulingv1.Shift) error {
	segments := shift.GetSegments()
	stretches := make([]stretch, len(segments))
	for i, s := range segments {
		start, err := civil.ParseDateTime(s.GetStartDateTime())
		if err != nil {
			return err
		}
		end, err := civil.ParseDateTime(s.GetEndDateTime())
		if err != nil {
			return err
		}
		stretches[i] = stretch{
			start: seconds(start), end: seconds(end), kind: s.GetSegmentTypeRef().GetQualifier(), index: i,
		}
	}
	merged := withoutBreaks(stretches)
	shift.Segments = make([]*schedulingv1.ShiftSegment, len(merged))
	for i, s := range merged {
		segment := segments[s.index]
		segment.Id = proto.Int64(int64(i + 1))
		segment.StartDateTime = clockText(s.start)
		segment.EndDateTime = clockText(s.end)
		shift.Segments[i] = segment
	}
	return nil
}

// seconds counts clock-face seconds since 1970-01-01.
func seconds(at civil.DateTime) int64 { return int64(at.Date)*civil.SecondsPerDay + int64(at.Seconds) }

func clockText(seconds int64) string {
	return civil.Date(seconds / civil.SecondsPerDay).At(int32(seconds % civil.SecondsPerDay)).String()
}

func clockOf(seconds int64) civil.DateTime {
	return civil.Date(seconds / civil.SecondsPerDay).At(int32(seconds % civil.SecondsPerDay))
}
