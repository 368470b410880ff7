// Package payrollearning keeps earnings that other systems import until payroll stages them.
package payrollearning

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

const (
	// CodeInvalid (400): a property of the earning is missing or not allowed. The message names it.
	CodeInvalid = "WRL-20901"
	// CodeUsed (409): another earning has the refId. Choose a new one.
	CodeUsed = "WRL-20902"
	// CodeUnknown (404): no earning has the refId, or the caller may not see its employee.
	CodeUnknown = "WRL-20903"
	// CodeTaken (405): the earning is part of payroll and cannot be deleted. Import an earning that
	// offsets it.
	CodeTaken = "WRL-20904"
	// CodeNone (400, 409): none of the earnings was stored. The errors give the reasons.
	CodeNone = "WRL-20905"
)

// maxText is the maximum length of a text of an earning, in characters.
const maxText = 200

var (
	// hoursForm and numberForm match the numbers that fit the columns of the table.
	hoursForm  = regexp.MustCompile(`^-?\d{1,9}(\.\d{1,4})?$`)
	numberForm = regexp.MustCompile(`^-?\d{1,14}(\.\d{1,6})?$`)
)

func invalid(format string, args ...any) *fault.Error {
	return fault.Invalid(CodeInvalid, fmt.Sprintf(format, args...))
}

// check validates an earning and returns its id.
func check(e *timekeepingv1.PayrollEarning) (uuid.UUID, error) {
	id, err := ParseRef(e.GetRefId())
	if err != nil {
		return id, err
	}
	if err := checkTexts(e); err != nil {
		return id, err
	}
	if err := checkNumbers(e); err != nil {
		return id, err
	}
	for _, d := range []struct{ name, text string }{
		{"roePayDate", e.GetRoePayDate()},
		{"adjEarnPeriodStartDate", e.GetAdjEarnPeriodStartDate()},
		{"adjEarnPeriodEndDate", e.GetAdjEarnPeriodEndDate()},
		{"chargeDate", e.GetChargeDate()},
	} {
		if _, err := day(d.name, d.text, 0); err != nil {
			return id, err
		}
	}
	return id, nil
}

// ParseRef parses a refId.
func ParseRef(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return id, invalid("refId: %q is no UUID, such as 3f6a6c1e-6d0f-4a43-9a0e-55b1c0d7e9f0.", truncate(text))
	}
	return id, nil
}

func checkTexts(e *timekeepingv1.PayrollEarning) error {
	for _, t := range []struct {
		name, text string
		needed     bool
	}{
		{"companyCode", e.GetCompanyCode(), true},
		{"empNo", e.GetEmpNo(), true},
		{"code", e.GetCode(), true},
		{"source", e.GetSource(), true},
		{"shiftCode", e.GetShiftCode(), false},
		{"location", e.GetLocation(), false},
		{"job", e.GetJob(), false},
		{"project", e.GetProject(), false},
		{"orgLvl1", e.GetOrgLvl1(), false},
		{"orgLvl2", e.GetOrgLvl2(), false},
		{"orgLvl3", e.GetOrgLvl3(), false},
		{"orgLvl4", e.GetOrgLvl4(), false},
		{"grossUp", e.GetGrossUp(), false},
	} {
		switch {
		case t.needed && strings.TrimSpace(t.text) == "":
			return invalid("%s is required.", t.name)
		case utf8.RuneCountInString(t.text) > maxText || strings.ContainsRune(t.text, 0):
			return invalid("%s needs a text of at most %d characters.", t.name, maxText)
		}
	}
	if t := e.GetCreatePayType(); t != "" && t != "R" {
		return invalid(`createPayType: %q is not known. "R" is a regular check.`, truncate(t))
	}
	if t := e.GetForcePayCreation(); t != "" && t != "Y" && t != "N" {
		return invalid(`forcePayCreation: %q is not known. It is "Y" or "N".`, truncate(t))
	}
	return nil
}

func checkNumbers(e *timekeepingv1.PayrollEarning) error {
	if e.GetHours() == "" && e.GetAmount() == "" && e.GetPieceCount() == "" {
		return invalid("One of hours, amount and pieceCount is required.")
	}
	if t := e.GetHours(); t != "" && !hoursForm.MatchString(t) {
		return invalid("hours: %q is no number with at most 9 digits and 4 decimals.", truncate(t))
	}
	for name, text := range fault.InOrder(map[string]string{
		"amount": e.GetAmount(), "pieceCount": e.GetPieceCount(), "payRate": e.GetPayRate(), "pieceRate": e.GetPieceRate(),
	}) {
		if text != "" && !numberForm.MatchString(text) {
			return invalid("%s: %q is no number with at most 14 digits and 6 decimals.", name, truncate(text))
		}
	}
	return nil
}

// day parses a date, or takes the date from a time stamp. The UTC offset of a time stamp does not
// move the earning to another day. Without a date, it returns today.
func day(name, text string, today civil.Date) (civil.Date, error) {
	if text == "" {
		return today, nil
	}
	if d, err := civil.ParseDate(text); err == nil {
		return d, nil
	}
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil || moment.Year() < 1900 || moment.Year() > 3000 {
		return 0, fault.Invalid(fault.CodeDate, fmt.Sprintf("%s: %q is neither a date nor a moment such as 2024-02-05T00:00:00Z.", name, truncate(text)))
	}
	return civil.FromTime(moment), nil
}

func truncate(text string) string {
	if len(text) > 40 {
		text = strings.ToValidUTF8(text[:40], "")
	}
	return text
}
