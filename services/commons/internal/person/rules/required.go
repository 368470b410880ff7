package rules

import (
	"fmt"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Property is a required property, with its path and its presence.
type Property struct {
	Path    string
	Present bool
}

// TextProperty returns a property that is present if its text is not blank.
func TextProperty(path, value string) Property { return Property{path, strings.TrimSpace(value) != ""} }

func flag(path string, value *bool) Property { return Property{path, value != nil} }

// checkRequired refuses a person who lacks a required property. The error has the path of the
// first missing one, and lists the others.
func checkRequired(p *commonsv1.Person) error {
	return fault.Join(checkRequiredOnce(p), checkRequiredParts(p))
}

// checkWages refuses wages of a new person without a rate.
func checkWages(p *commonsv1.Person) error {
	var wages []Property
	for i, w := range p.GetJobAssignment().GetBaseWageRates() {
		wages = append(wages, Property{fmt.Sprintf("jobAssignment.baseWageRates[%d].hourlyRate", i), w.HourlyRate != nil})
	}
	return CheckPresent(wages)
}

// checkRequiredOnce checks the required properties that a person has once. They stay when
// only other properties are changed.
func checkRequiredOnce(p *commonsv1.Person) error {
	details := p.GetPersonInformation().GetPerson()
	required := []Property{
		TextProperty("personInformation.person.personNumber", details.GetPersonNumber()),
		TextProperty("personInformation.person.firstName", details.GetFirstName()),
		TextProperty("personInformation.person.lastName", details.GetLastName()),
	}
	if user := p.GetUser(); user != nil {
		required = append(required, Property{"user.userAccount", user.GetUserAccount() != nil},
			TextProperty("user.userAccount.userName", user.GetUserAccount().GetUserName()))
	}
	return CheckPresent(required)
}

// checkRequiredParts checks the required properties of the sent parts.
func checkRequiredParts(p *commonsv1.Person) error {
	return CheckPresent(append(requiredInformation(p.GetPersonInformation()), requiredElsewhere(p)...))
}

// CheckPresent refuses a request that lacks one of the properties. The error names the first
// missing one, and lists the others.
func CheckPresent(required []Property) error {
	var errs []error
	for _, r := range required {
		if !r.Present {
			errs = append(errs, fault.Invalid(CodeMissing, "The required property "+r.Path+" is missing.").WithMembers(r.Path))
		}
	}
	return fault.Join(errs...)
}

func requiredInformation(info *commonsv1.PersonInformation) []Property {
	var out []Property
	at := func(list string, i int, name string) string {
		return fmt.Sprintf("personInformation.%s[%d].%s", list, i, name)
	}
	for i, s := range info.GetEmploymentStatusList() {
		out = append(out, TextProperty(at("employmentStatusList", i, "employmentStatusName"), s.GetEmploymentStatusName()))
	}
	for i, s := range info.GetUserAccountStatusList() {
		out = append(out, TextProperty(at("userAccountStatusList", i, "userAccountStatusName"), s.GetUserAccountStatusName()))
	}
	for i, b := range info.GetBadgeAssignments() {
		out = append(out, TextProperty(at("badgeAssignments", i, "badgeNumber"), b.GetBadgeNumber()))
	}
	for i, e := range info.GetEmailAddresses() {
		out = append(out, TextProperty(at("emailAddresses", i, "contactTypeName"), e.GetContactTypeName()))
	}
	for i, t := range info.GetTelephoneNumbers() {
		out = append(out, TextProperty(at("telephoneNumbers", i, "contactTypeName"), t.GetContactTypeName()))
	}
	for i, a := range info.GetPostalAddresses() {
		out = append(out, TextProperty(at("postalAddresses", i, "contactTypeName"), a.GetContactTypeName()))
	}
	for i, c := range info.GetCustomDataList() {
		out = append(out, TextProperty(at("customDataList", i, "customDataTypeName"), c.GetCustomDataTypeName()))
	}
	for i, c := range info.GetCustomDateList() {
		out = append(out, TextProperty(at("customDateList", i, "customDateTypeName"), c.GetCustomDateTypeName()),
			TextProperty(at("customDateList", i, "date"), c.GetDate()))
	}
	for i, l := range info.GetPersonLicenseTypes() {
		out = append(out, TextProperty(at("personLicenseTypes", i, "licenseTypeName"), l.GetLicenseTypeName()),
			flag(at("personLicenseTypes", i, "activeFlag"), l.ActiveFlag))
	}
	for i, a := range info.GetPersonAuthenticationTypes() {
		out = append(out, TextProperty(at("personAuthenticationTypes", i, "authenticationTypeName"), a.GetAuthenticationTypeName()),
			flag(at("personAuthenticationTypes", i, "activeFlag"), a.ActiveFlag))
	}
	for i, a := range info.GetAnalyticsLaborTypeList() {
		out = append(out, TextProperty(at("analyticsLaborTypeList", i, "analyticsLaborTypeName"), a.GetAnalyticsLaborTypeName()))
	}
	for i, a := range info.GetApproverList() {
		out = append(out, TextProperty(at("approverList", i, "approveLevel"), a.GetApproveLevel()),
			TextProperty(at("approverList", i, "fullName"), a.GetFullName()))
	}
	if access := info.GetAccessAssignment(); access.GetTimeEntryActivityTrackingStatus() != "" {
		out = append(out, TextProperty("personInformation.accessAssignment.timeEntryTypeName", access.GetTimeEntryTypeName()))
	}
	for i, e := range info.GetExpectedHoursList() {
		out = append(out, TextProperty(at("expectedHoursList", i, "timePeriodTypeName"), e.GetTimePeriodTypeName()))
	}
	return out
}

func requiredElsewhere(p *commonsv1.Person) []Property {
	out := requiredJob(p.GetJobAssignment())
	for i, g := range p.GetGdapAssignments() {
		at := fmt.Sprintf("gdapAssignments[%d].", i)
		out = append(out, TextProperty(at+"gdapName", g.GetGdapName()), TextProperty(at+"role", g.GetRole()),
			flag(at+"defaultSwitch", g.DefaultSwitch), TextProperty(at+"effectiveDate", g.GetEffectiveDate()),
			TextProperty(at+"expirationDate", g.GetExpirationDate()))
	}
	if currency := p.GetUser().GetUserCurrency(); currency != nil {
		out = append(out, TextProperty("user.userCurrency.currencyCode", currency.GetCurrencyCode()))
	}
	return out
}

func requiredJob(job *commonsv1.JobAssignment) []Property {
	var out []Property
	for i, a := range job.GetPrimaryLaborAccounts() {
		at := fmt.Sprintf("jobAssignment.primaryLaborAccounts[%d].", i)
		out = append(out, TextProperty(at+"organizationPath", a.GetOrganizationPath()))
		if by := a.GetOrgPathByCriteria(); by != nil {
			out = append(out, Property{at + "orgPathByCriteria.orgNodes", len(by.GetOrgNodes()) > 0})
			for k, node := range by.GetOrgNodes() {
				at := fmt.Sprintf("%sorgPathByCriteria.orgNodes[%d].", at, k)
				out = append(out, TextProperty(at+"attribute", node.GetAttribute()),
					Property{at + "locationType", node.GetLocationType() != nil}, TextProperty(at+"value", node.GetValue()))
			}
		}
	}
	for i, o := range job.GetPersonalOvertimeAssignments() {
		at := fmt.Sprintf("jobAssignment.personalOvertimeAssignments[%d].", i)
		out = append(out, Property{at + "overtimeLevel", o.OvertimeLevel != nil}, TextProperty(at+"overtimeTypeName", o.GetOvertimeTypeName()))
	}
	return out
}
