package person

import (
	"fmt"
	"math"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// checkTexts checks the texts that are stored in columns, and the lengths of
// the lists.
func checkTexts(r *record) error {
	for _, s := range scalars() {
		if err := checkText(s.path, *s.at(r), maxText); err != nil {
			return err
		}
	}
	details := jobDetailsOf(r)
	if err := checkText("jobAssignment.jobAssignmentDetails.payRuleName", details.GetPayRuleName(), maxText); err != nil {
		return err
	}
	for _, l := range lists() {
		elements := l.elements(r)
		if n := len(elements); n > maxList {
			return fault.Invalid(CodeBadValue, fmt.Sprintf("%s has %d elements, more than the allowed %d.", l.path, n, maxList))
		}
		for i, e := range elements {
			if err := checkElement(l, i, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkElement checks the texts of an element of a list.
func checkElement(l list, i int, e element) error {
	for k, c := range l.columns {
		text, ok := e.values[k].(*string)
		if !ok {
			continue
		}
		longest := maxText
		switch c.name {
		case "organization_path":
			longest = maxPath
		case "labor_category_name":
			longest = maxCategory
		}
		if err := checkText(fmt.Sprintf("%s[%d].%s", l.path, i, c.property), *text, longest); err != nil {
			return err
		}
	}
	return nil
}

// settle checks the lists of a person and fills in the dates that were left
// out: an element begins on first unless it says otherwise.
func settle(r *record, first civil.Date) error {
	info, job := r.person.GetPersonInformation(), r.person.GetJobAssignment()
	if text := info.GetPerson().GetHireDate(); text != "" {
		hired, err := civil.ParseDate(text)
		if err != nil {
			return fault.Invalid(fault.CodeDate, fmt.Sprintf("personInformation.person.hireDate: %s.", err))
		}
		info.Person.HireDate = hired.Clamp().String()
	}
	for i, s := range info.GetEmploymentStatusList() {
		if err := settleStatus(fmt.Sprintf("personInformation.employmentStatusList[%d].employmentStatusName", i), &s.EmploymentStatusName); err != nil {
			return err
		}
	}
	for i, s := range info.GetUserAccountStatusList() {
		if err := settleStatus(fmt.Sprintf("personInformation.userAccountStatusList[%d].userAccountStatusName", i), &s.UserAccountStatusName); err != nil {
			return err
		}
	}
	r.spread()
	for i, w := range job.GetBaseWageRates() {
		if w.GetHourlyRate() < 0 || math.IsNaN(w.GetHourlyRate()) || math.IsInf(w.GetHourlyRate(), 0) {
			return fault.Invalid(CodeBadValue, fmt.Sprintf("jobAssignment.baseWageRates[%d].hourlyRate is not a rate.", i))
		}
	}
	for _, g := range r.person.GetGdapAssignments() {
		g.Role = strings.ToLower(g.GetRole())
	}
	for _, l := range lists() {
		if err := settleDates(l, l.elements(r), first); err != nil {
			return err
		}
	}
	return nil
}

// settleStatus writes a status as it is stored; callers write it in any case.
func settleStatus(path string, name *string) error {
	for _, status := range statuses {
		if strings.EqualFold(*name, status) {
			*name = status
			return nil
		}
	}
	return fault.Invalid(CodeBadValue, fmt.Sprintf("%s: %q is none of %s.", path, *name, strings.Join(statuses, ", ")))
}
