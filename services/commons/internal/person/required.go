package person

import (
	"fmt"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// property is a required property: where it is, and whether it is there.
type property struct {
	path    string
	present bool
}

func text(path, value string) property { return property{path, strings.TrimSpace(value) != ""} }

func flag(path string, value *bool) property { return property{path, value != nil} }

// checkRequired refuses a person who lacks a required property, naming the
// first that is missing by its path.
func checkRequired(p *commonsv1.Person) error {
	if err := checkRequiredOnce(p); err != nil {
		return err
	}
	return checkRequiredParts(p)
}

// checkWages refuses the wages of a new person that have no rate.
func checkWages(p *commonsv1.Person) error {
	var wages []property
	for i, w := range p.GetJobAssignment().GetBaseWageRates() {
		wages = append(wages, property{fmt.Sprintf("jobAssignment.baseWageRates[%d].hourlyRate", i), w.HourlyRate != nil})
	}
	return missing(wages)
}

// checkRequiredOnce looks at what a person has once, and keeps when only other
// properties are changed.
func checkRequiredOnce(p *commonsv1.Person) error {
	details := p.GetPersonInformation().GetPerson()
	required := []property{
		text("personInformation.person.personNumber", details.GetPersonNumber()),
		text("personInformation.person.firstName", details.GetFirstName()),
		text("personInformation.person.lastName", details.GetLastName()),
	}
	if user := p.GetUser(); user != nil {
		required = append(required, property{"user.userAccount", user.GetUserAccount() != nil},
			text("user.userAccount.userName", user.GetUserAccount().GetUserName()))
	}
	return missing(required)
}

// checkRequiredParts looks at what the parts need that were sent.
func checkRequiredParts(p *commonsv1.Person) error {
	return missing(append(requiredInformation(p.GetPersonInformation()), requiredElsewhere(p)...))
}

func missing(required []property) error {
	for _, r := range required {
		if !r.present {
			return fault.Invalid(CodeMissing, "The required property "+r.path+" is missing.")
		}
	}
	return nil
}

func requiredInformation(info *commonsv1.PersonInformation) []property {
	var out []property
	at := func(list string, i int, name string) string {
		return fmt.Sprintf("personInformation.%s[%d].%s", list, i, name)
	}
	for i, s := range info.GetEmploymentStatusList() {
		out = append(out, text(at("employmentStatusList", i, "employmentStatusName"), s.GetEmploymentStatusName()))
	}
	for i, s := range info.GetUserAccountStatusList() {
		out = append(out, text(at("userAccountStatusList", i, "userAccountStatusName"), s.GetUserAccountStatusName()))
	}
	for i, b := range info.GetBadgeAssignments() {
		out = append(out, text(at("badgeAssignments", i, "badgeNumber"), b.GetBadgeNumber()))
	}
	for i, e := range info.GetEmailAddresses() {
		out = append(out, text(at("emailAddresses", i, "contactTypeName"), e.GetContactTypeName()))
	}
	for i, t := range info.GetTelephoneNumbers() {
		out = append(out, text(at("telephoneNumbers", i, "contactTypeName"), t.GetContactTypeName()))
	}
	for i, a := range info.GetPostalAddresses() {
		out = append(out, text(at("postalAddresses", i, "contactTypeName"), a.GetContactTypeName()))
	}
	for i, c := range info.GetCustomDataList() {
		out = append(out, text(at("customDataList", i, "customDataTypeName"), c.GetCustomDataTypeName()))
	}
	for i, c := range info.GetCustomDateList() {
		out = append(out, text(at("customDateList", i, "customDateTypeName"), c.GetCustomDateTypeName()),
			text(at("customDateList", i, "date"), c.GetDate()))
	}
	for i, l := range info.GetPersonLicenseTypes() {
		out = append(out, text(at("personLicenseTypes", i, "licenseTypeName"), l.GetLicenseTypeName()),
			flag(at("personLicenseTypes", i, "activeFlag"), l.ActiveFlag))
	}
	for i, a := range info.GetPersonAuthenticationTypes() {
		out = append(out, text(at("personAuthenticationTypes", i, "authenticationTypeName"), a.GetAuthenticationTypeName()),
			flag(at("personAuthenticationTypes", i, "activeFlag"), a.ActiveFlag))
	}
	for i, a := range info.GetAnalyticsLaborTypeList() {
		out = append(out, text(at("analyticsLaborTypeList", i, "analyticsLaborTypeName"), a.GetAnalyticsLaborTypeName()))
	}
	for i, a := range info.GetApproverList() {
		out = append(out, property{at("approverList", i, "approveLevel"), a.ApproveLevel != nil},
			text(at("approverList", i, "fullName"), a.GetFullName()))
	}
	for i, e := range info.GetExpectedHoursList() {
		out = append(out, text(at("expectedHoursList", i, "timePeriodTypeName"), e.GetTimePeriodTypeName()))
	}
	return out
}

func requiredElsewhere(p *commonsv1.Person) []property {
	out := requiredJob(p.GetJobAssignment())
	for i, g := range p.GetGdapAssignments() {
		at := fmt.Sprintf("gdapAssignments[%d].", i)
		out = append(out, text(at+"gdapName", g.GetGdapName()), text(at+"role", g.GetRole()),
			flag(at+"defaultSwitch", g.DefaultSwitch), text(at+"effectiveDate", g.GetEffectiveDate()),
			text(at+"expirationDate", g.GetExpirationDate()))
	}
	if currency := p.GetUser().GetUserCurrency(); currency != nil {
		out = append(out, text("user.userCurrency.currencyCode", currency.GetCurrencyCode()))
	}
	return out
}

func requiredJob(job *commonsv1.JobAssignment) []property {
	var out []property
	for i, a := range job.GetPrimaryLaborAccounts() {
		at := fmt.Sprintf("jobAssignment.primaryLaborAccounts[%d].", i)
		out = append(out, text(at+"organizationPath", a.GetOrganizationPath()))
		if by := a.GetOrgPathByCriteria(); by != nil {
			out = append(out, property{at + "orgPathByCriteria.orgNodes", len(by.GetOrgNodes()) > 0})
			for k, node := range by.GetOrgNodes() {
				at := fmt.Sprintf("%sorgPathByCriteria.orgNodes[%d].", at, k)
				out = append(out, text(at+"attribute", node.GetAttribute()),
					property{at + "locationType", node.GetLocationType() != nil}, text(at+"value", node.GetValue()))
			}
		}
	}
	for i, o := range job.GetPersonalOvertimeAssignments() {
		at := fmt.Sprintf("jobAssignment.personalOvertimeAssignments[%d].", i)
		out = append(out, property{at + "overtimeLevel", o.OvertimeLevel != nil}, text(at+"overtimeTypeName", o.GetOvertimeTypeName()))
	}
	return out
}
