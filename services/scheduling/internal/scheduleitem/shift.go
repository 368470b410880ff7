package scheduleitem

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
)

// segmentTypes are the kinds of segments, by id less one.
var segmentTypes = [...]string{"REGULAR_SEGMENT", "BREAK_SEGMENT", "TRANSFER_SEGMENT"}

// period is an interval of wall-clock time.
type period struct{ start, end civil.DateTime }

// draftShift checks a shift as it was sent and brings it into the form in which
// it is stored. The employee is nil for an open shift, whose times belong to no
// zone. The longest shift is a length on the clock face.
func draftShift(sent *schedulingv1.Shift, employee *projection.Employee, maxLength time.Duration) (*draft, error) {
	shift := proto.CloneOf(sent)
	var zone *civil.Zone
	if employee != nil {
		zone = employee.Zone
	}
	whole, err := readPeriod("", shift.GetStartDateTime(), shift.GetEndDateTime(), zone)
	if err != nil {
		return nil, err
	}
	if seconds(whole) > int64(maxLength/time.Second) {
		return nil, fault.Invalid(CodeShiftLength, fmt.Sprintf("endDateTime must be at most %s after startDateTime.", maxLength))
	}
	if err := completeSegments(shift, whole, zone); err != nil {
		return nil, err
	}
	shift.StartDateTime, shift.EndDateTime = whole.start.String(), whole.end.String()
	applyTransfer(shift)
	shift.Id, shift.Employee, shift.Version, shift.Deleted, shift.OnCall = nil, nil, nil, nil, nil
	shift.EmployeeId, shift.ElementId, shift.ElementType, shift.DataElementType = nil, nil, "", ""
	shift.ApplyDate, shift.EventDate, shift.ModifiedDateTime = "", "", ""
	shift.Generated = proto.Bool(false)
	shift.Open = proto.Bool(employee == nil)
	shift.Relations = ownRelations(shift.GetRelations())
	forgetPrimaryJob(shift, employee.JobOn(whole.start.Date))
	segment.Complete(shift)
	if _, err := encode(shift); err != nil {
		return nil, err
	}
	from := whole.start.Date
	last, _ := civil.DateTime{Date: whole.end.Date, Seconds: whole.end.Seconds - 1}.Clock()
	return &draft{
		employee: employee, from: from, to: last, segmented: shift,
		occupies: civil.Range{From: from, To: from + 1}, // it belongs to the day it starts
	}, nil
}

// nameEmployees names the employees of shifts that say them by employeeId alone.
func nameEmployees(shifts ...*schedulingv1.Shift) {
	for _, s := range shifts {
		if s.GetEmployee() == nil && s.EmployeeId != nil {
			s.Employee = &commonv1.Ref{Id: s.EmployeeId}
		}
	}
}

// applyTransfer gives the transfer of a shift to its segments that are no breaks, where
// they do not say themselves what it says.
func applyTransfer(shift *schedulingv1.Shift) {
	transfer := shift.GetTransfer()
	shift.Transfer = nil
	for _, s := range shift.GetSegments() {
		if s.GetType() == segmentTypes[1] {
			continue
		}
		if transfer.GetOrgJobId() != 0 && !named(s.GetOrgJobRef()) {
			s.OrgJobRef = &commonv1.Ref{Id: transfer.OrgJobId}
		}
		if transfer.GetWorkRuleId() != 0 && !named(s.GetWorkruleRef()) {
			s.WorkruleRef = &commonv1.Ref{Id: transfer.WorkRuleId}
		}
		s.TransferString = cmp.Or(s.GetTransferString(), transfer.GetTransferString())
	}
}

// forgetPrimaryJob takes from a shift what responses show of the primary job: it says nothing
// when it comes back. What somebody entered stays, also when it is that job.
func forgetPrimaryJob(shift *schedulingv1.Shift, path string) {
	if shownJob(shift.GetPosition(), path) && !shift.GetUserEnteredPosition() {
		shift.Position = nil
	}
	for _, s := range shift.GetSegments() {
		s.PrimaryOrgJobRef, s.TransferOrgJob = nil, nil
		if shownJob(s.GetOrgJobRef(), path) && s.UserEnteredOrgJob != nil && !s.GetUserEnteredOrgJob() {
			s.OrgJobRef = nil
		}
	}
}

// shownJob reports whether a reference is what responses show of the primary job with a path,
// or "".
func shownJob(ref *commonv1.Ref, path string) bool {
	return ref.GetId() == 0 && path != "" && ref.GetQualifier() == path
}

// completeSegments checks the segments and puts them in order. A shift without
// any gets one that fills it.
func completeSegments(shift *schedulingv1.Shift, whole period, zone *civil.Zone) error {
	if len(shift.GetSegments()) == 0 {
		shift.Segments = []*schedulingv1.ShiftSegment{{
			StartDateTime: whole.start.String(), EndDateTime: whole.end.String(),
		}}
	}
	periods := make(map[*schedulingv1.ShiftSegment]period, len(shift.GetSegments()))
	for i, piece := range shift.GetSegments() {
		path := fmt.Sprintf("segments[%d].", i)
		p, err := readPeriod(path, piece.GetStartDateTime(), piece.GetEndDateTime(), zone)
		if err != nil {
			return err
		}
		if p.start.Compare(whole.start) < 0 || p.end.Compare(whole.end) > 0 {
			return invalidShift(path+"startDateTime, endDateTime", "must lie inside the shift")
		}
		if piece.SegmentTypeRef, err = segmentType(path, piece); err != nil {
			return err
		}
		piece.Type = piece.GetSegmentTypeRef().GetQualifier()
		piece.StartDateTime, piece.EndDateTime = p.start.String(), p.end.String()
		periods[piece] = p
	}
	slices.SortStableFunc(shift.Segments, func(a, b *schedulingv1.ShiftSegment) int {
		return periods[a].start.Compare(periods[b].start)
	})
	for i, piece := range shift.GetSegments() {
		if i > 0 && periods[piece].start.Compare(periods[shift.Segments[i-1]].end) < 0 {
			return invalidShift("segments", "must not overlap")
		}
	}
	return nil
}

// segmentType completes the kind of a segment, which is named by a ref, whose
// id wins, or by the flat type.
func segmentType(path string, piece *schedulingv1.ShiftSegment) (*commonv1.Ref, error) {
	id := piece.GetSegmentTypeRef().GetId()
	name := cmp.Or(piece.GetSegmentTypeRef().GetQualifier(), piece.GetType(), segmentTypes[0])
	if id == 0 {
		id = int64(slices.Index(segmentTypes[:], name)) + 1
	}
	if id < 1 || id > int64(len(segmentTypes)) {
		return nil, invalidShift(path+"segmentTypeRef", "must be one of %s", strings.Join(segmentTypes[:], ", "))
	}
	return &commonv1.Ref{Id: proto.Int64(id), Qualifier: proto.String(segmentTypes[id-1])}, nil
}

// readPeriod reads two times. One that a clock change of the zone skips moves
// forward.
func readPeriod(path, start, end string, zone *civil.Zone) (period, error) {
	from, err := readTime(path+"startDateTime", start, zone)
	if err != nil {
		return period{}, err
	}
	to, err := readTime(path+"endDateTime", end, zone)
	if err != nil {
		return period{}, err
	}
	if to.Compare(from) <= 0 {
		return period{}, invalidShift(path+"endDateTime", "must be after startDateTime")
	}
	return period{from, to}, nil
}

func readTime(path, text string, zone *civil.Zone) (civil.DateTime, error) {
	if text == "" {
		return civil.DateTime{}, invalidShift(path, "must not be missing")
	}
	at, err := civil.ParseDateTime(text)
	if err != nil {
		return civil.DateTime{}, fault.Invalid(fault.CodeDate, path+": "+err.Error()+".")
	}
	if at.Date < civil.Beginning || at.Date >= civil.Forever {
		return civil.DateTime{}, invalidShift(path, "must be from %s and before %s", civil.Beginning, civil.Forever)
	}
	if zone != nil {
		at = zone.Adjust(at)
	}
	return at, nil
}

// seconds is the length of a period on the clock face.
func seconds(p period) int64 {
	return int64(p.end.Date-p.start.Date)*civil.SecondsPerDay + int64(p.end.Seconds) - int64(p.start.Seconds)
}
