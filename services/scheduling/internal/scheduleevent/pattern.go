package scheduleevent

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Pattern returns the events with the shifts of a stored pattern. The parts are numbered after the
// last part of a copy, or 0. The ordinals are the ordinals of the generated entries.
func Pattern(id, digest, after int64, p *schedulingv1.SchedulePattern) ([]proto.Message, error) {
	var events []proto.Message
	event, named, size := &schedulingv1.PatternStored{PatternId: id, Part: after + 1, First: true}, &jobs{}, 0
	flush := func() {
		event.Jobs = named.list
		events = append(events, event)
		event, named, size = &schedulingv1.PatternStored{PatternId: id, Part: event.Part + 1}, &jobs{}, 0
	}
	ordinals := map[int32]int32{}
	for _, item := range p.GetItems() {
		ordinal := ordinals[item.GetDay()]
		ordinals[item.GetDay()] += Entries(item)
		if item.GetShiftTemplate() != nil {
			pieces, err := templateSegments(item.GetShiftTemplate())
			if err != nil {
				return nil, fmt.Errorf("scheduleevent: pattern %d, day %d: %w", id, item.GetDay(), err)
			}
			shift := &schedulingv1.CycleShift{
				CycleDay: item.GetDay() - 1, Ordinal: ordinal, Segments: named.segments(pieces),
			}
			event.Shifts = append(event.Shifts, shift)
			size += listedSize(shift)
		}
		if named.full(size) {
			flush()
		}
	}
	event.Digest = digest
	flush()
	return events, nil
}

// Entries counts the entries of an item. A shift comes first, then a pay code edit, then the
// others.
func Entries(item *schedulingv1.SchedulePatternItem) (n int32) {
	for _, has := range []bool{
		item.GetShiftTemplate() != nil, item.GetPayCodeEditTemplate() != nil,
		item.GetAvailabilityTemplate() != nil, item.GetScheduleTagTemplate() != nil,
	} {
		if has {
			n++
		}
	}
	return n
}

// templateSegments returns the segments of a shift template. Their times are on civil.Beginning. A
// template without segments is one segment.
func templateSegments(t *schedulingv1.ShiftTemplate) ([]rawSegment, error) {
	start, end, err := seconds(civil.Beginning, t.GetStartDateTime(), t.GetEndDateTime())
	if err != nil || len(t.GetSegments()) == 0 {
		return []rawSegment{{start: start, end: end}}, err
	}
	var out []rawSegment
	for _, s := range t.GetSegments() {
		if s.GetSegmentType().GetQualifier() == breakSegment {
			continue
		}
		start, end, err := seconds(civil.Beginning, s.GetStartDateTime(), s.GetEndDateTime())
		if err != nil {
			return nil, err
		}
		out = append(out, rawSegment{JobName(s.GetOrgNode()), start, end})
	}
	return out, nil
}
