// Package leaveedit keeps leave edits: the time that employees use of their leave cases.
package leaveedit

import (
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

const (
	fullDay = "FULL_DAY"
	halfDay = "HALF_DAY"

	// maxDays is the maximum number of days that an edit may overlap.
	maxDays = 366
	// maxOverrides is the maximum number of override segments of an edit, and maxPayCode the
	// maximum length of a pay code name in bytes. Events contain them.
	maxOverrides = 10
	maxPayCode   = 250
)

// Positions of the segments of an edit. They are also the ids of the segments.
const (
	paidSegment = iota + 1
	trackingSegment
	firstOverride
)

// draft is an edit that has been validated against its case. Its body is stored unchanged.
type draft struct {
	id          int64 // id of the edit to change; 0 for a new edit
	first, last civil.Date
	// overnight means that the edit ends on the day after its start, at the same time of day at the
	// latest.
	overnight bool
	body      *timekeepingv1.LeaveEdit
}

// newDraft validates an edit of a request. Edits without a start begin at clock, unless clock is
// nil.
func newDraft(sent *timekeepingv1.LeaveEdit, clock *civil.TimeOfDay, c *leavecase.Case, zone *civil.Zone) (*draft, error) {
	if err := checkOwner(sent, c); err != nil {
		return nil, err
	}
	body := proto.CloneOf(sent)
	if err := checkSegments(body); err != nil {
		return nil, err
	}
	day, err := parseDay(body)
	if err != nil {
		return nil, err
	}
	d := &draft{id: sent.GetId(), first: day, last: day, body: body}
	if err := d.times(day, clock, zone); err != nil {
		return nil, err
	}
	if d.overnight && d.last == c.Days.To {
		d.last = d.first // The night that begins on the last day of the case belongs to the case.
	}
	if days := civil.Through(d.first, d.last); !c.Days.Covers(days) {
		return nil, fault.Invalid(CodeOutsideCase, fmt.Sprintf("The leave edit from %s to %s lies outside of leave case %s, from %s to %s.",
			d.first, d.last, c.Code(), c.Days.From, c.Days.To.AddDays(-1)))
	}
	body.Date = day.String()
	body.Id, body.LeaveCase, body.LeaveCaseShortName, body.Employee = nil, nil, "", nil
	body.Category, body.Reason, body.Frequency, body.InMemory, body.Takings = nil, nil, nil, nil, nil
	return d, nil
}

// checkOwner returns an error if an edit names another case or employee than its own. Such a
// request would change leave of a person that the caller does not mean. Edits of a response can be
// sent back unchanged.
func checkOwner(sent *timekeepingv1.LeaveEdit, c *leavecase.Case) error {
	of, who := c.Ref(), c.Employee()
	if ref := sent.GetLeaveCase(); differs(ref.GetId(), of.GetId(), ref.GetQualifier(), of.GetQualifier()) {
		return fault.Invalid(CodeOtherCase, fmt.Sprintf("The leave edit names another leave case than %s.", c.Code()))
	}
	if ref := sent.GetEmployee(); differs(ref.GetId(), who.GetId(), ref.GetQualifier(), who.GetQualifier()) {
		return fault.Invalid(fault.CodeInput, fmt.Sprintf("The leave edit names another employee than leave case %s.", c.Code()))
	}
	return nil
}

// differs compares two refs by id; without an id, by qualifier, without regard to case, as for all
// codes. A ref with neither never differs.
func differs(id, otherID int64, qualifier, other string) bool {
	if id != 0 {
		return id != otherID
	}
	return qualifier != "" && !strings.EqualFold(qualifier, other)
}

// parseDay returns the day that an edit belongs to.
func parseDay(body *timekeepingv1.LeaveEdit) (civil.Date, error) {
	var start civil.Date
	if body.GetStartDateTime() != "" {
		at, err := civil.ParseDateTime(body.GetStartDateTime())
		if err != nil {
			return 0, fault.Invalid(fault.CodeDate, "startDateTime: "+err.Error()+".")
		}
		start = at.Date
		if body.GetDate() == "" {
			return start, nil
		}
	}
	if body.GetDate() == "" {
		return 0, fault.Invalid(CodeDateMissing, "date is missing.")
	}
	day, err := civil.ParseDate(body.GetDate())
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, "date: "+err.Error()+".")
	}
	if body.GetStartDateTime() != "" && start != day {
		return 0, fault.Invalid(fault.CodeInput, fmt.Sprintf("startDateTime is on %s, but date says %s.", start, day))
	}
	return day, nil
}

// times calculates the start and the end of the edit, and the days that it overlaps.
func (d *draft) times(day civil.Date, clock *civil.TimeOfDay, zone *civil.Zone) error {
	body := d.body
	symbolic := body.GetPaidSegment().GetSymbolicValue() != "" || body.GetTrackingSegment().GetSymbolicValue() != ""
	var start civil.DateTime
	switch {
	case body.GetStartDateTime() != "":
		at, err := civil.ParseDateTime(body.GetStartDateTime())
		if err != nil {
			return fault.Invalid(fault.CodeDate, "startDateTime: "+err.Error()+".")
		}
		start = at
	case clock != nil && !symbolic:
		start = day.At(int32(*clock))
	case body.GetEndDateTime() != "":
		return fault.Invalid(CodeStartMissing, "endDateTime needs a startDateTime, or a startTime.")
	default:
		return nil
	}
	sent := start
	start = zone.Adjust(start)
	amount := max(body.GetPaidSegment().GetAmountInSeconds(), body.GetTrackingSegment().GetAmountInSeconds())
	end := zone.At(zone.Resolve(start).Add(seconds(amount)))
	switch {
	case body.GetEndDateTime() != "":
		at, err := civil.ParseDateTime(body.GetEndDateTime())
		if err != nil {
			return fault.Invalid(fault.CodeDate, "endDateTime: "+err.Error()+".")
		}
		if end = zone.Adjust(at); at.Compare(sent) >= 0 && end.Compare(start) < 0 {
			end = start // The edit began in an hour that clocks skip.
		}
	case symbolic:
		return fault.Invalid(fault.CodeInput, "A symbolicValue with a startDateTime needs an endDateTime.")
	}
	if end.Compare(start) < 0 {
		return fault.Invalid(leavecase.CodeStartAfterEnd, "endDateTime is before startDateTime.")
	}
	lastMoment, _ := civil.DateTime{Date: end.Date, Seconds: end.Seconds - 1}.Clock()
	d.last = max(day, lastMoment)
	d.overnight = end.Date == start.Date+1 && end.Seconds <= start.Seconds
	if civil.Through(d.first, d.last).Days() > maxDays {
		return tooMuch("A leave edit touches more than %d days.", maxDays)
	}
	body.StartDateTime, body.EndDateTime = withMilliseconds(start), withMilliseconds(end)
	return nil
}

// withMilliseconds formats times for responses. Schedules are precise to the second.
func withMilliseconds(t civil.DateTime) string { return t.String() + ".000" }

func checkSegments(body *timekeepingv1.LeaveEdit) error {
	if body.PaidSegment == nil {
		return fault.Invalid(CodePaidMissing, "paidSegment is missing.")
	}
	if body.TrackingSegment == nil {
		return fault.Invalid(CodeTrackingMissing, "trackingSegment is missing.")
	}
	for i, s := range []*timekeepingv1.LeaveSegment{body.PaidSegment, body.TrackingSegment} {
		name := []string{"paidSegment", "trackingSegment"}[i]
		if strings.EqualFold(s.GetSymbolicValue(), symbolicamount.Hours) {
			s.SymbolicValue = "" // The amount counts.
		}
		switch s.GetSymbolicValue() {
		case "":
			if err := checkAmount(name, s.AmountInSeconds); err != nil {
				return err
			}
		case fullDay, halfDay:
			if s.AmountInSeconds == nil {
				s.AmountInSeconds = proto.Int64(0)
			}
			if err := checkAmount(name, s.AmountInSeconds); err != nil {
				return err
			}
		default:
			return fault.Newf(fault.CodeValue, http.StatusBadRequest, "%s.symbolicValue %.50q is neither %s nor %s.", name, s.GetSymbolicValue(), fullDay, halfDay)
		}
		s.Id, s.Overridden = proto.Int64(int64(paidSegment+i)), proto.Bool(s.GetOverridden())
	}
	return checkOverrides(body.GetOverrideSegments())
}

func checkOverrides(segments []*timekeepingv1.LeaveOverrideSegment) error {
	if len(segments) > maxOverrides {
		return tooMuch("A leave edit has more than %d override segments.", maxOverrides)
	}
	ids, names := map[int64]bool{}, map[string]bool{}
	for i, s := range segments {
		code := s.GetPayCode()
		if code == nil || code.Id == nil && code.GetQualifier() == "" {
			return fault.Invalid(CodeTypeMissing, fmt.Sprintf("overrideSegments[%d].payCode is missing.", i))
		}
		if len(code.GetQualifier())+len(code.GetName())+len(code.GetLocalizedQualifier()) > maxPayCode {
			return tooMuch("The names of a pay code have more than %d bytes.", maxPayCode)
		}
		if code.Id != nil && ids[code.GetId()] || names[code.GetQualifier()] {
			return fault.Invalid(CodeTypeRepeated, fmt.Sprintf("overrideSegments[%d] repeats a pay code.", i))
		}
		if code.Id != nil {
			ids[code.GetId()] = true
		}
		if code.GetQualifier() != "" {
			names[code.GetQualifier()] = true
		}
		if err := checkAmount(fmt.Sprintf("overrideSegments[%d]", i), s.AmountInSeconds); err != nil {
			return err
		}
		s.Id = proto.Int64(int64(firstOverride + i))
	}
	return nil
}

func checkAmount(name string, amount *int64) error {
	switch {
	case amount == nil:
		return fault.Invalid(CodeAmountMissing, name+".amountInSeconds is missing.")
	case *amount < 0:
		return fault.Invalid(CodeAmountNegative, name+".amountInSeconds is negative.")
	case *amount > maxDays*civil.SecondsPerDay:
		return tooMuch(name+".amountInSeconds is more than %d days.", maxDays)
	}
	return nil
}

func tooMuch(format string, allowed int) *fault.Error {
	return fault.Newf(CodeTooMuch, http.StatusBadRequest, format, allowed)
}
