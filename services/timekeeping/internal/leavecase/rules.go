// Package leavecase keeps leave cases: periods for which an employee is granted leave.
package leavecase

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

const (
	// maxCaseCode and maxCode are the maximum lengths of the codes of a case, in characters.
	maxCaseCode = 50
	maxCode     = 100
	// reserved characters are not allowed in codes: they have a meaning in searches and in the
	// texts that name cases.
	reserved = `"'<>&;%\|*?`
)

// choice is a property whose value is an entry of a list.
type choice struct {
	name             string
	list             leavesetup.List
	of               func(*timekeepingv1.LeaveCase) **commonv1.Ref
	missing, unknown string
}

func choices() []choice {
	return []choice{
		{"category", leavesetup.Categories(), func(c *timekeepingv1.LeaveCase) **commonv1.Ref { return &c.Category }, CodeCategoryMissing, CodeCategoryUnknown},
		{"reason", leavesetup.Reasons(), func(c *timekeepingv1.LeaveCase) **commonv1.Ref { return &c.Reason }, CodeReasonMissing, CodeReasonUnknown},
		{"frequency", leavesetup.Frequencies(), func(c *timekeepingv1.LeaveCase) **commonv1.Ref { return &c.Frequency }, CodeFrequencyMissing, CodeFrequencyUnknown},
		{"status", leavesetup.Statuses(), func(c *timekeepingv1.LeaveCase) **commonv1.Ref { return &c.Status }, CodeStatusMissing, CodeStatusUnknown},
		{"approvalStatus", leavesetup.ApprovalStatuses(), func(c *timekeepingv1.LeaveCase) **commonv1.Ref { return &c.ApprovalStatus }, CodeApprovalMissing, CodeApprovalUnknown},
	}
}

// draft is a case that has been validated without regard to other cases. Its body is stored
// unchanged.
type draft struct {
	body *timekeepingv1.LeaveCase
	days civil.Range
}

// newDraft validates a new case of an employee.
func newDraft(in *timekeepingv1.LeaveCase, who person.Person) (*draft, error) {
	d, err := check(proto.CloneOf(in))
	if err != nil {
		return nil, err
	}
	return d, checkHired(d, who)
}

// changedDraft validates the new state of a case. Omitted properties do not change.
func changedDraft(in *timekeepingv1.LeaveCase, old *Case, who person.Person) (*draft, error) {
	body := proto.CloneOf(old.body)
	proto.Merge(body, &timekeepingv1.LeaveCase{
		StartDate: in.GetStartDate(), EndDate: in.GetEndDate(), RequestDate: in.GetRequestDate(),
		FrequencyEffectiveDate: in.GetFrequencyEffectiveDate(), CaseCode: in.GetCaseCode(), Code: in.GetCode(),
	})
	for _, c := range choices() {
		if sent := *c.of(in); sent != nil {
			*c.of(body) = proto.CloneOf(sent)
		}
	}
	d, err := check(body)
	if err != nil {
		return nil, err
	}
	if old.StatusID() == leavesetup.StatusClosed && d.body.GetStatus().GetId() == leavesetup.StatusClosed {
		return nil, old.Closed()
	}
	effective, err := civil.ParseDate(d.body.GetFrequencyEffectiveDate())
	if err != nil || !d.days.Contains(effective) {
		return nil, fault.Invalid(CodeFrequencyDateOutside, "frequencyEffectiveDate must lie between startDate and endDate.")
	}
	return d, checkHired(d, who)
}

// check converts a case to its stored form.
func check(body *timekeepingv1.LeaveCase) (*draft, error) {
	for _, c := range choices() {
		ref := c.of(body)
		if !names(*ref) {
			return nil, missing(c.missing, c.name)
		}
		found, ok := c.list.Find(*ref)
		if !ok {
			return nil, fault.Invalid(c.unknown, fmt.Sprintf("%s is not known: %s.", c.name, Describe(*ref)))
		}
		*ref = found.Ref()
	}
	reason, _ := leavesetup.Reasons().Find(body.GetReason())
	if reason.Category != body.GetCategory().GetId() {
		return nil, fault.Invalid(CodeReasonOfOther, fmt.Sprintf("The reason %q does not belong to the category %q.",
			reason.Name, body.GetCategory().GetName()))
	}
	days, err := checkDates(body)
	if err != nil {
		return nil, err
	}
	for name, text := range fault.InOrder(map[string]string{"caseCode": body.GetCaseCode(), "code": body.GetCode()}) {
		if err := checkCode(name, text); err != nil {
			return nil, err
		}
	}
	body.Id, body.Employee = nil, nil
	body.DisplayCaseCode, body.LongCaseCode, body.EmployeeFullName = "", "", ""
	return &draft{body: body, days: days}, nil
}

func checkDates(body *timekeepingv1.LeaveCase) (civil.Range, error) {
	switch {
	case body.GetStartDate() == "":
		return civil.Range{}, missing(CodeStartMissing, "startDate")
	case body.GetRequestDate() == "":
		return civil.Range{}, missing(CodeRequestDateMissing, "requestDate")
	case body.GetFrequencyEffectiveDate() == "":
		return civil.Range{}, missing(CodeFrequencyDateMissing, "frequencyEffectiveDate")
	}
	first, err := civil.ParseDate(body.GetStartDate())
	if err != nil {
		return civil.Range{}, fault.Invalid(fault.CodeDate, "startDate: "+err.Error()+".")
	}
	days := civil.Range{From: first, To: civil.Forever}
	if body.GetEndDate() != "" {
		last, err := civil.ParseDate(body.GetEndDate())
		if err != nil {
			return civil.Range{}, fault.Invalid(fault.CodeDate, "endDate: "+err.Error()+".")
		}
		days = civil.Through(first, last)
	}
	if days = days.Clamp(); days.Empty() {
		return civil.Range{}, fault.Invalid(CodeStartAfterEnd, "endDate is before startDate, or both lie outside of the calendar.")
	}
	return days, nil
}

func checkHired(d *draft, who person.Person) error {
	if who.HireDate == nil {
		return nil
	}
	if hired := *who.HireDate; d.days.From < hired {
		return fault.Invalid(CodeBeforeHire, fmt.Sprintf("startDate %s is before the employee's hire date %s.", d.days.From, hired))
	}
	return nil
}

func checkCode(name, text string) error {
	limit := map[string]int{"caseCode": maxCaseCode, "code": maxCode}[name]
	if utf8.RuneCountInString(text) > limit {
		return fault.Newf(CodeTooLong, http.StatusBadRequest, "%s is longer than %d characters.", name, limit)
	}
	if strings.ContainsAny(text, reserved) {
		return fault.Newf(CodeReserved, http.StatusBadRequest, "%s has one of the reserved characters %s.", name, reserved)
	}
	return nil
}

func missing(code, name string) *fault.Error {
	return fault.Invalid(code, name+" is missing.")
}

// names reports whether a ref has an id or a qualifier.
func names(ref *commonv1.Ref) bool { return ref != nil && (ref.Id != nil || ref.GetQualifier() != "") }

// Describe formats a ref for messages.
func Describe(ref *commonv1.Ref) string {
	if ref.Id != nil {
		return fmt.Sprintf("id %d", ref.GetId())
	}
	return fmt.Sprintf("%.100q", ref.GetQualifier())
}
