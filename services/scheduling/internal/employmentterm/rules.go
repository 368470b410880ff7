// Package employmentterm manages employment terms: the contracts that employees work under.
package employmentterm

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Error codes of employment terms.
const (
	// CodeUnknownID (404 on a path with an id, else 400): no term has the id.
	CodeUnknownID = "WTK-82600"
	// CodeExists (400): another term has the name.
	CodeExists = "WTK-82604"
	// CodeIncomplete (400): a required property of a term is missing.
	CodeIncomplete = "WTK-82606"
	// CodeOtherTerm (400): the id or name differs from the term in the path.
	CodeOtherTerm = "WTK-82607"
	// CodeInvalid (400): a property of a term has a value that is not allowed.
	CodeInvalid = "WTK-82608"
	// CodeItemUnknownID (in a 207): no term has the requested id.
	CodeItemUnknownID = "WTK-82609"
	// CodeItemUnknownPersistentID (in a 207): no term has the requested persistent id.
	CodeItemUnknownPersistentID = "WTK-82610"
	// CodeSome (207, 400): some or all requested terms are unknown.
	CodeSome = "WTK-82612"
	// CodeNothing (400): the request names no terms.
	CodeNothing = "WTK-82613"
	// CodeSeveral (400): the request uses more than one list of terms.
	CodeSeveral = "WTK-82614"
	// CodeUnknownName (400): no term has the name.
	CodeUnknownName = "WTK-82615"
	// CodeInUse (400): persons are assigned to the term. Remove their assignments first.
	CodeInUse = "WRL-20401"
)

const (
	enforceEndDate       = "ENFORCE_END_DATE"
	enforceBeyondEndDate = "ENFORCE_BEYOND_END_DATE"

	// maxText limits names and persistent ids, and maxDescription limits descriptions, in
	// characters.
	maxText        = 250
	maxDescription = 2000
	// maxVersions limits the versions of a term.
	maxVersions = 200
)

// prepareNew checks a new term, and returns it in its stored form: without id, with default flags,
// and with sorted versions.
func prepareNew(in *schedulingv1.EmploymentTerm) (*schedulingv1.EmploymentTerm, error) {
	term := proto.CloneOf(in)
	term.Id = 0
	if term.IsActive == nil {
		term.IsActive = proto.Bool(true)
	}
	if term.AllowsInheritance == nil {
		term.AllowsInheritance = proto.Bool(false)
	}
	return term, check(term)
}

// prepareChange checks the new state of a stored term, and returns it in its stored form. Omitted
// properties keep their values: a client that does not know a flag must not change the schedules of
// thousands of employees.
func prepareChange(id int64, old, in *schedulingv1.EmploymentTerm) (*schedulingv1.EmploymentTerm, error) {
	if in.GetId() != 0 && in.GetId() != id {
		return nil, fault.Invalid(CodeOtherTerm, fmt.Sprintf("The id %d differs from the id %d in the path.", in.GetId(), id))
	}
	if in.GetName() != "" && !strings.EqualFold(in.GetName(), old.GetName()) {
		return nil, fault.Invalid(CodeOtherTerm, fmt.Sprintf("The name %q differs from the name of employment term %d, %q.", in.GetName(), id, old.GetName()))
	}
	term := proto.CloneOf(in)
	term.Id = 0
	if term.Name == "" {
		term.Name = old.GetName()
	}
	if term.IsActive == nil {
		term.IsActive = old.IsActive
	}
	if term.AllowsInheritance == nil {
		term.AllowsInheritance = old.AllowsInheritance
	}
	if term.ProcessType == "" {
		term.ProcessType = old.GetProcessType()
	}
	if term.PersistentId == "" {
		term.PersistentId = old.GetPersistentId()
	}
	if term.Versions == nil {
		term.Versions = old.GetVersions()
	}
	return term, check(term)
}

func check(term *schedulingv1.EmploymentTerm) error {
	if strings.TrimSpace(term.GetName()) == "" {
		return fault.Invalid(CodeIncomplete, "The employment term needs a name.")
	}
	if err := checkText("name", term.GetName()); err != nil {
		return err
	}
	if err := checkText("persistentId", term.GetPersistentId()); err != nil {
		return err
	}
	if utf8.RuneCountInString(term.GetDescription()) > maxDescription {
		return fault.Invalid(CodeInvalid, fmt.Sprintf("description is longer than %d characters.", maxDescription))
	}
	switch term.GetProcessType() {
	case enforceEndDate, enforceBeyondEndDate:
	case "":
		term.ProcessType = enforceEndDate
	default:
		return fault.Invalid(CodeInvalid, fmt.Sprintf("processType %q is neither %s nor %s.", term.GetProcessType(), enforceEndDate, enforceBeyondEndDate))
	}
	return checkVersions(term.GetVersions().GetEmploymentTermVersion())
}

// checkText rejects texts that are too long or contain control characters.
func checkText(property, text string) error {
	if utf8.RuneCountInString(text) > maxText {
		return fault.Invalid(CodeInvalid, fmt.Sprintf("%s is longer than %d characters.", property, maxText))
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return fault.Invalid(CodeInvalid, property+" contains a control character.")
	}
	return nil
}

// checkVersions clamps the dates of the versions to the supported calendar, sorts the versions by
// their start, and rejects overlapping versions.
func checkVersions(versions []*schedulingv1.EmploymentTermVersion) error {
	if len(versions) == 0 {
		return fault.Invalid(CodeIncomplete, "The employment term needs at least one version.")
	}
	if len(versions) > maxVersions {
		return fault.OverLimit(fault.CodeItemLimit, http.StatusRequestEntityTooLarge, "versions of the employment term", len(versions), maxVersions,
			"Delete old versions first.")
	}
	for i, v := range versions {
		days, err := versionDays(v)
		if err != nil {
			return fault.Invalid(CodeInvalid, fmt.Sprintf("versions.employmentTermVersion[%d]: %s", i, err))
		}
		v.StartDate, v.EndDate = days.From.String(), days.To.String()
	}
	// Dates in this form compare as texts.
	slices.SortStableFunc(versions, func(a, b *schedulingv1.EmploymentTermVersion) int {
		return strings.Compare(a.StartDate, b.StartDate)
	})
	for i := 1; i < len(versions); i++ {
		if before, next := versions[i-1], versions[i]; next.StartDate < before.EndDate {
			return fault.Invalid(CodeInvalid, fmt.Sprintf("The versions from %s and from %s overlap.", before.StartDate, next.StartDate))
		}
	}
	return nil
}

func versionDays(v *schedulingv1.EmploymentTermVersion) (civil.Range, error) {
	var days civil.Range
	if v.GetStartDate() == "" || v.GetEndDate() == "" {
		return days, fmt.Errorf("startDate and endDate are needed")
	}
	var err error
	if days.From, err = civil.ParseDate(v.GetStartDate()); err != nil {
		return days, err
	}
	if days.To, err = civil.ParseDate(v.GetEndDate()); err != nil {
		return days, err
	}
	if days = days.Clamp(); days.Empty() {
		return days, fmt.Errorf("endDate %s is not after startDate %s", v.GetEndDate(), v.GetStartDate())
	}
	return days, nil
}

// omitDetails removes the details that a list omits.
func omitDetails(term *schedulingv1.EmploymentTerm) *schedulingv1.EmploymentTerm {
	term.Versions = nil
	return term
}

// filterVersions keeps the versions with a day in a window.
func filterVersions(term *schedulingv1.EmploymentTerm, window civil.Range) {
	versions := term.GetVersions().GetEmploymentTermVersion()
	if versions == nil {
		return
	}
	term.Versions.EmploymentTermVersion = slices.DeleteFunc(versions, func(v *schedulingv1.EmploymentTermVersion) bool {
		days, err := versionDays(v)
		return err == nil && !days.Overlaps(window)
	})
}
