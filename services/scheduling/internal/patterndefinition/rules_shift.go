package patterndefinition

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// regularSegment is the id of the default kind of segment.
const regularSegment = 1

// segmentTypes are the kinds of a shift's segments. The id is the index plus one.
var segmentTypes = [...]string{"REGULAR_SEGMENT", "BREAK_SEGMENT", "TRANSFER_SEGMENT"}

// maxTemplateBytes limits the size of a shift template. Patterns contain copies of it, up to one
// for each day of the cycle.
const maxTemplateBytes = 16 << 10

// NamesShift reports whether a shift template of a request only names a stored one by its id or
// name.
func NamesShift(t *schedulingv1.ShiftTemplate) bool {
	return (t.Id != nil || t.GetName() != "") &&
		t.GetStartDateTime() == "" && t.GetEndDateTime() == "" && len(t.GetSegments()) == 0
}

// Shift checks a shift template. path is its path in the request. A template without segments gets
// one that fills it.
func (r Rules) Shift(path string, t *schedulingv1.ShiftTemplate) error {
	if proto.Size(t) > maxTemplateBytes {
		return Invalid(path, "must not be larger than %d bytes", maxTemplateBytes)
	}
	whole, err := r.shiftPeriod(path, &t.StartDateTime, &t.EndDateTime)
	if err == nil && len(t.GetSegments()) == 0 {
		t.Segments = []*schedulingv1.ShiftTemplateSegment{{
			StartDateTime: t.GetStartDateTime(),
			EndDateTime:   t.GetEndDateTime(),
		}}
	}
	errs := []error{err}
	before := period{end: whole.start}
	for i, segment := range t.GetSegments() {
		at := fmt.Sprintf("%s.segments[%d]", path, i)
		p, badTimes := r.parsePeriod(at, &segment.StartDateTime, &segment.EndDateTime)
		switch {
		case badTimes != nil:
		case err == nil && !whole.covers(p):
			badTimes = Invalid(at, "must lie inside the shift")
		case p.start < before.end:
			badTimes = Invalid(at, "must not begin before the segment ahead of it has ended")
		default:
			before = p
		}
		kind, badType := segmentType(at+".segmentType", segment.GetSegmentType())
		segment.SegmentType = kind
		errs = append(errs, badTimes, badType)
	}
	return fault.Join(errs...)
}

// segmentType completes a reference to a kind of segment. The id takes precedence.
func segmentType(path string, ref *commonv1.Ref) (*commonv1.Ref, error) {
	id := int64(regularSegment)
	switch {
	case ref != nil && ref.Id != nil:
		id = ref.GetId()
	case ref.GetQualifier() != "":
		id = 0
		for i, name := range segmentTypes {
			if name == ref.GetQualifier() {
				id = int64(i + 1)
			}
		}
	}
	if id < 1 || id > int64(len(segmentTypes)) {
		return nil, Invalid(path, "must be one of %s", strings.Join(segmentTypes[:], ", "))
	}
	return &commonv1.Ref{Id: proto.Int64(id), Qualifier: proto.String(segmentTypes[id-1])}, nil
}
