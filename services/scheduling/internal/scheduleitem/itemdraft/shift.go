package itemdraft

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
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
)

// segmentTypes are the kinds of segments. The id is the index plus one.
var segmentTypes = [...]string{"REGULAR_SEGMENT", "BREAK_SEGMENT", "TRANSFER_SEGMENT"}

// utc is the zone of open shifts. Its clock never changes.
var utc = civil.NewZone(time.UTC)

// Period is an interval of wall-clock time.
type Period struct{ Start, End civil.DateTime }

// Shift checks a shift of a request, and converts it to its stored form. The employee is nil for an
// open shift; its times have no zone.
func Shift(input *schedulingv1.Shift, employee *projection.Employee, maxLength time.Duration) (*Draft, error) {
	shift := proto.CloneOf(input)
	zone := utc
	if employee != nil {
		zone = employee.Zone
	}
	sent, err := ReadPeriod("", shift.GetStartDateTime(), shift.GetEndDateTime())
	if err != nil {
		return nil, err
	}
	if seconds(sent, zone) > int64(maxLength/time.Second) {
		return nil, fault.Invalid(itemfault.CodeShiftLength, fmt.Sprintf("endDateTime must be at most %s after startDateTime.", maxLength))
	}
	forward, err := moveForward(sent, zone)
	if err != nil {
		return nil, err
	}
	if err := completeSegments(shift, sent, &forward); err != nil {
		return nil, err
	}
	whole := Period{forward.Start, forward.End}
	shift.StartDateTime, shift.EndDateTime = whole.Start.String(), whole.End.String()
	applyTransfer(shift)
	shift.Id, shift.Employee, shift.Version, shift.Deleted, shift.OnCall = nil, nil, nil, nil, nil
	shift.EmployeeId, shift.ElementId, shift.ElementType, shift.DataElementType = nil, nil, "", ""
	shift.ApplyDate, shift.EventDate, shift.ModifiedDateTime = "", "", ""
	shift.RuleViolations = nil
	shift.Generated = proto.Bool(false)
	shift.Open = proto.Bool(employee == nil)
	shift.Relations = withoutPatternRelations(shift.GetRelations())
	clearPrimaryJob(shift, employee.JobOn(whole.Start.Date))
	segment.Complete(shift)
	if _, err := Encode(shift); err != nil {
		return nil, err
	}
	from := whole.Start.Date
	return &Draft{
		Employee: employee, From: from, To: lastDay(whole), Segmented: shift,
		Occupies: civil.Range{From: from, To: from + 1}, // It belongs to the day when it starts.
	}, nil
}

// ResolveEmployeeIDs sets the employees of shifts that only have an employeeId.
func ResolveEmployeeIDs(shifts ...*schedulingv1.Shift) {
	for _, s := range shifts {
		if s.GetEmployee() == nil && s.EmployeeId != nil {
			s.Employee = &commonv1.Ref{Id: s.EmployeeId}
		}
	}
}

// applyTransfer copies the transfer of a shift to its segments, except for breaks and values that
// the segments already have.
func applyTransfer(shift *schedulingv1.Shift) {
	transfer := shift.GetTransfer()
	shift.Transfer = nil
	for _, s := range shift.GetSegments() {
		if s.GetType() == segmentTypes[1] {
			continue
		}
		if transfer.GetOrgJobId() != 0 && !IsSet(s.GetOrgJobRef()) {
			s.OrgJobRef = &commonv1.Ref{Id: transfer.OrgJobId}
		}
		if transfer.GetWorkRuleId() != 0 && !IsSet(s.GetWorkruleRef()) {
			s.WorkruleRef = &commonv1.Ref{Id: transfer.WorkRuleId}
		}
		s.TransferString = cmp.Or(s.GetTransferString(), transfer.GetTransferString())
	}
}

// clearPrimaryJob removes the values of the primary job that responses add, in case the client
// sends them back. A value that a user entered stays, even if it is the primary job.
func clearPrimaryJob(shift *schedulingv1.Shift, path string) {
	if isPrimaryJob(shift.GetPosition(), path) && !shift.GetUserEnteredPosition() {
		shift.Position = nil
	}
	for _, s := range shift.GetSegments() {
		s.PrimaryOrgJobRef, s.TransferOrgJob = nil, nil
		if isPrimaryJob(s.GetOrgJobRef(), path) && s.UserEnteredOrgJob != nil && !s.GetUserEnteredOrgJob() {
			s.OrgJobRef = nil
		}
	}
}

// isPrimaryJob reports whether a reference is the primary job as responses show it. path is the
// path of the primary job, or "".
func isPrimaryJob(ref *commonv1.Ref, path string) bool {
	return ref.GetId() == 0 && path != "" && ref.GetQualifier() == path
}

// completeSegments checks the segments, sorts them, and moves their times forward together with the
// shift. whole is the period in the request. A shift without segments gets one that fills it.
func completeSegments(shift *schedulingv1.Shift, whole Period, forward *segment.Forward) error {
	if len(shift.GetSegments()) == 0 {
		shift.Segments = []*schedulingv1.ShiftSegment{{
			StartDateTime: whole.Start.String(), EndDateTime: whole.End.String(),
		}}
	}
	periods := make(map[*schedulingv1.ShiftSegment]Period, len(shift.GetSegments()))
	var errs []error
	for i, piece := range shift.GetSegments() {
		path := fmt.Sprintf("segments[%d].", i)
		p, err := readSegment(path, piece, forward)
		if err == nil && (p.Start.Compare(whole.Start) < 0 || p.End.Compare(whole.End) > 0) {
			err = itemfault.InvalidShift(path+"startDateTime, endDateTime", "must lie inside the shift")
		}
		kind, badKind := segmentType(path, piece)
		errs = append(errs, err, badKind)
		piece.SegmentTypeRef, piece.Type = kind, kind.GetQualifier()
		periods[piece] = p
	}
	if err := fault.Join(errs...); err != nil {
		return err
	}
	slices.SortStableFunc(shift.Segments, func(a, b *schedulingv1.ShiftSegment) int {
		return cmp.Or(periods[a].Start.Compare(periods[b].Start), periods[a].End.Compare(periods[b].End))
	})
	for i, piece := range shift.GetSegments() {
		p := periods[piece]
		if i > 0 && p.Start.Compare(periods[shift.Segments[i-1]].End) < 0 {
			return itemfault.InvalidShift("segments", "must not overlap")
		}
		piece.StartDateTime, piece.EndDateTime = forward.Next(p.Start).String(), forward.Next(p.End).String()
	}
	return nil
}

// segmentType returns the complete kind of a segment. The reference takes precedence over the flat
// type, and its id over its qualifier.
func segmentType(path string, piece *schedulingv1.ShiftSegment) (*commonv1.Ref, error) {
	id := piece.GetSegmentTypeRef().GetId()
	name := cmp.Or(piece.GetSegmentTypeRef().GetQualifier(), piece.GetType(), segmentTypes[0])
	if id == 0 {
		id = int64(slices.Index(segmentTypes[:], name)) + 1
	}
	if id < 1 || id > int64(len(segmentTypes)) {
		return nil, itemfault.InvalidShift(path+"segmentTypeRef", "must be one of %s", strings.Join(segmentTypes[:], ", "))
	}
	return &commonv1.Ref{Id: proto.Int64(id), Qualifier: proto.String(segmentTypes[id-1])}, nil
}

// ReadPeriod parses the two times of an entry.
func ReadPeriod(path, start, end string) (Period, error) {
	p, err := readTimes(path, start, end)
	if err == nil && p.End.Compare(p.Start) <= 0 {
		err = endsEarly(path)
	}
	return p, err
}

// readSegment parses the times of a segment. A segment may have no duration if its end is a time
// that a clock change moved, because responses show such segments.
func readSegment(path string, piece *schedulingv1.ShiftSegment, forward *segment.Forward) (Period, error) {
	p, err := readTimes(path, piece.GetStartDateTime(), piece.GetEndDateTime())
	if order := p.End.Compare(p.Start); err == nil && (order < 0 || order == 0 && !forward.Reaches(p.End)) {
		err = endsEarly(path)
	}
	return p, err
}

func readTimes(path, start, end string) (Period, error) {
	from, err := ReadTime(path+"startDateTime", start)
	if err != nil {
		return Period{}, err
	}
	to, err := ReadTime(path+"endDateTime", end)
	return Period{from, to}, err
}

func endsEarly(path string) error {
	return itemfault.InvalidShift(path+"endDateTime", "must be after startDateTime")
}

// ReadTime parses a time of an entry.
func ReadTime(path, text string) (civil.DateTime, error) {
	if text == "" {
		return civil.DateTime{}, itemfault.InvalidShift(path, "must not be missing")
	}
	at, err := civil.ParseDateTime(text)
	if err != nil {
		return civil.DateTime{}, fault.Invalid(fault.CodeDate, path+": "+err.Error()+".")
	}
	if at.Date < civil.Beginning || at.Date >= civil.Forever {
		return civil.DateTime{}, itemfault.InvalidShift(path, "must be from %s and before %s", civil.Beginning, civil.Forever)
	}
	return at, nil
}

// moveForward returns the Forward that moves the times of an entry out of the gap of a clock
// change. The entry must still have a duration.
func moveForward(sent Period, zone *civil.Zone) (segment.Forward, error) {
	forward := segment.NewForward(zone, sent.Start, sent.End)
	if forward.End.Compare(forward.Start) <= 0 {
		return forward, itemfault.InvalidShift("endDateTime", "must be after startDateTime, which a clock change moves to %s", forward.Start)
	}
	return forward, nil
}

// seconds returns the length of a period, either on the clock or elapsed, whichever is shorter, so
// that a clock change makes no shift too long.
func seconds(p Period, zone *civil.Zone) int64 {
	shown := int64(p.End.Date-p.Start.Date)*civil.SecondsPerDay + int64(p.End.Seconds) - int64(p.Start.Seconds)
	return min(shown, zone.Elapsed(p.Start, p.End))
}

// lastDay returns the last day that a period touches.
func lastDay(p Period) civil.Date {
	last, _ := civil.DateTime{Date: p.End.Date, Seconds: p.End.Seconds - 1}.Clock()
	return last
}
