package person

import (
	"fmt"
	"math"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

const active = "Active"

// statuses are the names that employment and user account statuses have.
var statuses = []string{active, "Inactive", "Terminated"}

// checkTexts checks the texts that are stored in columns, and the lengths of
// the lists.
func checkTexts(p *commonsv1.Person) error {
	info, job := p.GetPersonInformation(), p.GetJobAssignment()
	for _, l := range lists() {
		if n := len(l.elements(p)); n > maxList {
			return fault.Invalid(CodeBadValue, fmt.Sprintf("%s has %d elements, more than the allowed %d.", l.path, n, maxList))
		}
	}
	type bounded struct {
		path, text string
		longest    int
	}
	texts := []bounded{
		{"personInformation.person.personNumber", info.GetPerson().GetPersonNumber(), maxText},
		{"personInformation.person.firstName", info.GetPerson().GetFirstName(), maxText},
		{"personInformation.person.lastName", info.GetPerson().GetLastName(), maxText},
		{"user.userAccount.userName", p.GetUser().GetUserAccount().GetUserName(), maxText},
		{"personInformation.accessAssignment.accessProfileName", info.GetAccessAssignment().GetAccessProfileName(), maxText},
	}
	for i, b := range info.GetBadgeAssignments() {
		texts = append(texts, bounded{fmt.Sprintf("personInformation.badgeAssignments[%d].badgeNumber", i), b.GetBadgeNumber(), maxText})
	}
	for i, a := range job.GetPrimaryLaborAccounts() {
		at := fmt.Sprintf("jobAssignment.primaryLaborAccounts[%d].", i)
		texts = append(texts, bounded{at + "organizationPath", a.GetOrganizationPath(), maxPath},
			bounded{at + "laborCategoryName", a.GetLaborCategoryName(), maxPath})
	}
	for _, t := range texts {
		if err := checkText(t.path, t.text, t.longest); err != nil {
			return err
		}
	}
	return nil
}

// settle checks the effective-dated lists of a person and fills in the dates
// that were left out: a first element begins on the day of hire.
func settle(p *commonsv1.Person) error {
	info, job := p.GetPersonInformation(), p.GetJobAssignment()
	first := civil.Beginning
	if text := info.GetPerson().GetHireDate(); text != "" {
		hired, err := civil.ParseDate(text)
		if err != nil {
			return fault.Invalid(fault.CodeDate, fmt.Sprintf("personInformation.person.hireDate: %s.", err))
		}
		first = hired.Clamp()
		info.Person.HireDate = first.String()
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
	for i, w := range job.GetBaseWageRates() {
		if w.GetHourlyRate() < 0 || math.IsNaN(w.GetHourlyRate()) || math.IsInf(w.GetHourlyRate(), 0) {
			return fault.Invalid(CodeBadValue, fmt.Sprintf("jobAssignment.baseWageRates[%d].hourlyRate is not a rate.", i))
		}
	}
	for _, l := range lists() {
		if err := settleDates(l, l.elements(p), first); err != nil {
			return err
		}
	}
	return checkBadges(info.GetBadgeAssignments())
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

// checkBadges refuses the same badge from the same day on twice.
func checkBadges(badges []*commonsv1.BadgeAssignment) error {
	type key struct{ number, from string }
	seen := make(map[key]bool, len(badges))
	for i, b := range badges {
		k := key{b.GetBadgeNumber(), b.GetEffectiveDate()}
		if seen[k] {
			return fault.Invalid(CodeDates, fmt.Sprintf("personInformation.badgeAssignments[%d] is there twice.", i))
		}
		seen[k] = true
	}
	return nil
}
