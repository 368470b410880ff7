package rules

import (
	"fmt"
	"math"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/emailaddress"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

// checkTexts checks the texts in columns and the lengths of the lists.
func checkTexts(r *record.Record) error {
	var errs []error
	for _, c := range record.Columns() {
		errs = append(errs, checkText(c.Path, c.Text(r.Message.ProtoReflect()), maxText))
	}
	details := record.JobDetailsOrEmpty(r)
	errs = append(errs, checkText("jobAssignment.jobAssignmentDetails.payRuleName", details.GetPayRuleName(), maxText))
	for _, l := range record.Lists() {
		elements := l.Elements(r)
		if n := len(elements); n > maxList {
			errs = append(errs, fault.Invalid(CodeBadValue, fmt.Sprintf("%s has %d elements, more than the allowed %d.", l.Path, n, maxList)).WithMembers(l.Path))
			continue
		}
		for i, e := range elements {
			errs = append(errs, checkElement(l, i, e))
		}
	}
	return fault.Join(errs...)
}

// checkElement checks the texts of an element of a list.
func checkElement(l record.List, i int, e record.Element) error {
	for _, c := range l.Columns {
		if !c.IsText() {
			continue
		}
		limit := maxText
		switch c.Name {
		case "organization_path":
			limit = maxPath
		case "labor_category_name":
			limit = maxCategory
		}
		if err := checkText(fmt.Sprintf("%s[%d].%s", l.Path, i, c.Path), c.Text(e), limit); err != nil {
			return err
		}
	}
	return nil
}

// normalise checks the lists of a person and fills in missing dates. By default, an element
// starts on first.
func normalise(r *record.Record, first civil.Date) error {
	info, job := r.Message.GetPersonInformation(), r.Message.GetJobAssignment()
	var errs []error
	if text := info.GetPerson().GetHireDate(); text != "" {
		if hired, err := civil.ParseDate(text); err == nil {
			info.Person.HireDate = hired.Clamp().String()
		} else {
			errs = append(errs, fault.Invalid(fault.CodeDate, fmt.Sprintf("personInformation.person.hireDate: %s.", err)))
		}
	}
	for i, s := range info.GetEmploymentStatusList() {
		errs = append(errs, normaliseStatus(fmt.Sprintf("personInformation.employmentStatusList[%d].employmentStatusName", i), &s.EmploymentStatusName))
	}
	for i, s := range info.GetUserAccountStatusList() {
		errs = append(errs, normaliseStatus(fmt.Sprintf("personInformation.userAccountStatusList[%d].userAccountStatusName", i), &s.UserAccountStatusName))
	}
	for _, e := range info.GetExpectedHoursList() {
		e.TimePeriodTypeName = storedName(e.GetTimePeriodTypeName(), expectedPeriods)
	}
	for i, e := range info.GetEmailAddresses() {
		e.Address = strings.TrimSpace(e.GetAddress())
		if e.GetAddress() != "" && !emailaddress.Valid(e.GetAddress()) {
			path := fmt.Sprintf("personInformation.emailAddresses[%d].address", i)
			errs = append(errs, fault.Invalid(CodeBadValue, fmt.Sprintf(
				"%s: %.100q is not an e-mail address. Send an address such as ada@example.com, without a name.", path, e.GetAddress())).WithMembers(path))
		}
	}
	r.ExpandCurrent()
	for i, w := range job.GetBaseWageRates() {
		if w.GetHourlyRate() < 0 || math.IsNaN(w.GetHourlyRate()) || math.IsInf(w.GetHourlyRate(), 0) {
			path := fmt.Sprintf("jobAssignment.baseWageRates[%d].hourlyRate", i)
			errs = append(errs, fault.Invalid(CodeBadValue, path+" is not a rate.").WithMembers(path))
		}
	}
	if err := fault.Join(errs...); err != nil {
		return err
	}
	for _, g := range r.Message.GetGdapAssignments() {
		g.Role = strings.ToLower(g.GetRole())
	}
	for _, l := range record.Lists() {
		if err := normaliseDates(l, l.Elements(r), first); err != nil {
			return err
		}
	}
	return nil
}

// normaliseStatus converts a status to its stored spelling. Callers may use any case.
func normaliseStatus(path string, name *string) error {
	for _, status := range record.Statuses {
		if strings.EqualFold(*name, status) {
			*name = status
			return nil
		}
	}
	return fault.Invalid(CodeBadValue, suggest.NotOneOf(path, *name, record.Statuses...)).WithMembers(path)
}
