package rules

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

const (
	// maxHours are the hours of a leap year, the longest period of hours.
	maxHours = 366 * 24
	// maxPercent is far above any real percentage, but below a number of hours that was sent as
	// a percentage by mistake.
	maxPercent = 1000
)

// checkHours checks the hours and percentages of a person.
func checkHours(info *commonsv1.PersonInformation) error {
	for i, e := range info.GetExpectedHoursList() {
		if err := checkQuantity(fmt.Sprintf("personInformation.expectedHoursList[%d]", i), e); err != nil {
			return err
		}
	}
	details := info.GetPerson()
	at := "personInformation.person"
	if err := checkFullTime(at, details.GetEmployeeStandardHours(), details.GetFullTimeStandardHours(), details.GetFullTimePercentage()); err != nil {
		return err
	}
	for i, f := range details.GetFullTimeEquivalencies() {
		at := fmt.Sprintf("personInformation.person.fullTimeEquivalencies[%d]", i)
		if err := checkFullTime(at, f.GetEmployeeStandardHours(), f.GetFullTimeStandardHours(), f.GetFullTimePercentage()); err != nil {
			return err
		}
	}
	return nil
}

// checkQuantity checks hours in a text. An empty text keeps the existing hours.
func checkQuantity(path string, e *commonsv1.ExpectedHours) error {
	if e.GetQuantity() == "" {
		return nil
	}
	hours, err := strconv.ParseFloat(strings.TrimSpace(e.GetQuantity()), 64)
	if err != nil || math.IsNaN(hours) || strings.ContainsAny(e.GetQuantity(), "xX_") {
		return fault.Invalid(CodeBadValue, fmt.Sprintf("%s.quantity: %.40q is not a number of hours.", path, e.GetQuantity()))
	}
	limit := float64(maxHours)
	if strings.EqualFold(e.GetTimePeriodTypeName(), "Daily") {
		limit = 24
	}
	return checkLimit(path+".quantity", hours, limit)
}

func checkFullTime(path string, standard, fullTime, percentage float64) error {
	if err := checkLimit(path+".employeeStandardHours", standard, maxHours); err != nil {
		return err
	}
	if err := checkLimit(path+".fullTimeStandardHours", fullTime, maxHours); err != nil {
		return err
	}
	return checkLimit(path+".fullTimePercentage", percentage, maxPercent)
}

func checkLimit(path string, value, limit float64) error {
	if value >= 0 && value <= limit {
		return nil
	}
	return fault.Invalid(CodeHours, fmt.Sprintf("%s: %v is not between 0 and %v.", path, value, limit))
}

// timekeepingLicense returns the name of an active licence for timekeeping, or "".
func timekeepingLicense(p *commonsv1.Person) string {
	for _, l := range p.GetPersonInformation().GetPersonLicenseTypes() {
		if l.GetActiveFlag() && strings.Contains(strings.ToLower(l.GetLicenseTypeName()), "timekeeping") {
			return l.GetLicenseTypeName()
		}
	}
	return ""
}

// checkLicense refuses a timekeeping licence for a person without a pay rule.
func checkLicense(r *record.Record) error {
	if name := timekeepingLicense(r.Message); name != "" && len(r.PayRules) == 0 {
		return fault.Invalid(CodeNoPayRule, fmt.Sprintf("The licence %.100q needs a pay rule. "+
			"Name one in jobAssignment.jobAssignmentDetails.payRuleName.", name))
	}
	return nil
}
