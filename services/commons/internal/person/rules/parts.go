package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

var (
	// expectedPeriods are the names of the periods of expected hours.
	expectedPeriods = []string{"Daily", "Weekly", "Pay Period"}
	// accessRoles are the roles of group data access.
	accessRoles = []string{"manager_role", "employee_role"}
)

// checkParts checks the parts that are stored as they are sent.
func checkParts(p *commonsv1.Person) error {
	info := p.GetPersonInformation()
	var errs []error
	for i, e := range info.GetExpectedHoursList() {
		at := fmt.Sprintf("personInformation.expectedHoursList[%d].timePeriodTypeName", i)
		errs = append(errs, checkOneName(at, e.GetTimePeriodTypeName(), expectedPeriods))
	}
	errs = append(errs, checkHours(info))
	for i, g := range p.GetGdapAssignments() {
		errs = append(errs, checkOneName(fmt.Sprintf("gdapAssignments[%d].role", i), g.GetRole(), accessRoles))
	}
	errs = append(errs, checkApprovers(info.GetApproverList()), checkUnassigned(info.GetAccessAssignment()))
	for _, s := range spans(p) {
		errs = append(errs, s.check())
	}
	return fault.Join(errs...)
}

func checkOneName(path, given string, names []string) error {
	if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, given) }) {
		return nil
	}
	return fault.Invalid(CodeBadValue, suggest.NotOneOf(path, given, names...)).WithMembers(path)
}

// storedName returns the spelling of a name in a list. Callers may use any case.
func storedName(given string, names []string) string {
	if i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, given) }); i >= 0 {
		return names[i]
	}
	return given
}

// checkApprovers refuses approvers that do not begin with level 1.
func checkApprovers(list []*commonsv1.Approver) error {
	first := len(list) == 0
	for i, a := range list {
		at := fmt.Sprintf("personInformation.approverList[%d].", i)
		level, err := strconv.ParseUint(a.GetApproveLevel(), 10, 16)
		if err != nil || level == 0 {
			return fault.Invalid(CodeBadValue, at+"approveLevel must be a whole number from 1 on.")
		}
		first = first || level == 1
		if days := a.GetDueDateAmount(); days != "" {
			if _, err := strconv.ParseUint(days, 10, 16); err != nil {
				return fault.Invalid(CodeBadValue, at+"dueDateAmount must be a whole number of days.")
			}
		}
	}
	if !first {
		return fault.Invalid(CodeNoApprover, "personInformation.approverList has no approver with the approveLevel 1.")
	}
	return nil
}

// checkLengths limits the lengths of a person's lists.
func checkLengths(r *record.Record) error {
	info, job := r.Message.GetPersonInformation(), r.Message.GetJobAssignment()
	lengths := map[string]int{
		"personInformation.telephoneNumbers":        len(info.GetTelephoneNumbers()),
		"personInformation.postalAddresses":         len(info.GetPostalAddresses()),
		"personInformation.expectedHoursList":       len(info.GetExpectedHoursList()),
		"personInformation.personLicenseTypes":      len(info.GetPersonLicenseTypes()),
		"personInformation.analyticsLaborTypeList":  len(info.GetAnalyticsLaborTypeList()),
		"personInformation.approverList":            len(info.GetApproverList()),
		"personInformation.purposeAssignments":      len(info.GetPurposeAssignments()),
		"jobAssignment.personalOvertimeAssignments": len(job.GetPersonalOvertimeAssignments()),
		"positions": len(r.Message.GetPositions()),
	}
	for _, l := range record.Lists() {
		lengths[l.Path] = len(l.Elements(r))
	}
	for path, n := range lengths {
		if n > maxList {
			return fault.Invalid(CodeBadValue, fmt.Sprintf("%s has %d elements, more than the allowed %d.", path, n, maxList))
		}
	}
	return nil
}

// datedSpan is a pair of dates in a part that is stored as it is sent.
type datedSpan struct{ path, from, to string }

// check refuses a second date that is not after the first. The format of the dates was
// checked before.
func (s datedSpan) check() error {
	from, err := civil.ParseDate(s.from)
	if err != nil {
		return nil
	}
	to, err := civil.ParseDate(s.to)
	if err != nil || to > from {
		return nil
	}
	return fault.Invalid(CodeDates, fmt.Sprintf("%s: expirationDate %s is not after effectiveDate %s.", s.path, to, from))
}

func spans(p *commonsv1.Person) []datedSpan {
	info, job := p.GetPersonInformation(), p.GetJobAssignment()
	out := datedSpans("personInformation.personAccessAssignments", info.GetPersonAccessAssignments())
	for i, a := range info.GetPersonAccessAssignments() {
		out = append(out, datedSpan{
			fmt.Sprintf("personInformation.personAccessAssignments[%d], the employee group", i),
			a.GetManagerEmployeeGroupEffectiveDate(), a.GetManagerEmployeeGroupExpirationDate(),
		})
	}
	out = append(out, datedSpans("personInformation.analyticsLaborTypeList", info.GetAnalyticsLaborTypeList())...)
	out = append(out, datedSpans("personInformation.accessAssignment.effectiveDatedTimeEntryMethods",
		info.GetAccessAssignment().GetEffectiveDatedTimeEntryMethods())...)
	out = append(out, datedSpans("jobAssignment.personalOvertimeAssignments", job.GetPersonalOvertimeAssignments())...)
	out = append(out, datedSpans("jobAssignment.predictiveSchedulingEligibilityList", job.GetPredictiveSchedulingEligibilityList())...)
	out = append(out, datedSpans("jobAssignment.predictiveSchedulingRuleOverrideList", job.GetPredictiveSchedulingRuleOverrideList())...)
	return append(out, datedSpans("gdapAssignments", p.GetGdapAssignments())...)
}

func datedSpans[M record.Dated](path string, list []M) []datedSpan {
	out := make([]datedSpan, len(list))
	for i, m := range list {
		out[i] = datedSpan{fmt.Sprintf("%s[%d]", path, i), m.GetEffectiveDate(), m.GetExpirationDate()}
	}
	return out
}
