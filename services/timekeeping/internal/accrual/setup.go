// Package accrual keeps what employees are entitled to, and calculates what is left of
// it: accrual profiles grant time, and what is booked under the pay codes of an accrual code
// takes from it. Balances are stored nowhere: they follow from timecards and schedules.
package accrual

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/setup"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
)

// Codes of ours for accrual codes, accrual profiles and balances.
const (
	// CodeInvalid (400): a value is not one that its property may have.
	CodeInvalid = "WRL-21001"
	// CodeMissing (400): something that is needed was not given.
	CodeMissing = "WRL-21002"
	// CodeTaken (400): another one has the name.
	CodeTaken = "WRL-21003"
	// CodeUnknown (400, 404): there is no such accrual code or profile.
	CodeUnknown = "WRL-21004"
	// CodeOtherID (400): the id in the body is not the one in the path.
	CodeOtherID = "WRL-21005"
	// CodeInUse (400): an accrual profile refers to the accrual code. Change or delete that first.
	CodeInUse = "WRL-21006"
	// CodeTooLong (400): a balance would count more years than are allowed. Let the accrual profile of the person begin later, or ask for an earlier day.
	CodeTooLong = "WRL-21007"
	// CodeNotCovered (400): the balance does not cover the time off, or would no longer cover what is planned later. Ask for less, or let the request subtype allow debt (allowDebt).
	CodeNotCovered = "WRL-21008"
)

const (
	unitHour, unitDay = "HOUR", "DAY"
	defaultHours      = 8.0
)

func codes() setup.Codes {
	return setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, Unknown: CodeUnknown, OtherID: CodeOtherID, InUse: CodeInUse}
}

func accrualCodes() *setup.Kind[*timekeepingv1.AccrualCode] {
	hoursOrDays := paycode.Kind().Only(func(path string, p *timekeepingv1.PayCode) error {
		if p.GetMoney() {
			return invalid("%s must be of hours or days: the pay code %q is of money", path, p.GetName())
		}
		return nil
	})
	return setup.NewKind(setup.Declaration[*timekeepingv1.AccrualCode]{
		Codes: codes(), What: "accrual code", Table: "accrual_code",
		References: []setup.Reference{{Field: "pay_codes", To: hoursOrDays, Distinct: true}},
	})
}

func accrualProfiles() *setup.Kind[*timekeepingv1.AccrualProfile] {
	return setup.NewKind(setup.Declaration[*timekeepingv1.AccrualProfile]{
		Codes: codes(), What: "accrual profile", Table: "accrual_profile",
		References: []setup.Reference{{Field: "accrual_policies.accrual_code", To: accrualCodes(), Distinct: true}},
	})
}

func invalid(format string, args ...any) error {
	return fault.Invalid(CodeInvalid, fmt.Sprintf(format, args...)+".")
}

// oneOf returns a value as it is stored: the first of those that there are, when it is
// not given.
func oneOf(path, value string, known ...string) (string, error) {
	if value == "" {
		return known[0], nil
	}
	value = strings.ToUpper(value)
	if !slices.Contains(known, value) {
		return "", invalid("%s must be one of %s", path, strings.Join(known, ", "))
	}
	return value, nil
}

func prepareCode(_ string, c *timekeepingv1.AccrualCode) (*timekeepingv1.AccrualCode, error) {
	var err error
	if c.Unit, err = oneOf("unit", c.GetUnit(), unitHour, unitDay); err != nil {
		return nil, err
	}
	if c.HoursPerDay == nil {
		c.HoursPerDay = proto.Float64(defaultHours)
	}
	if h := c.GetHoursPerDay(); math.IsNaN(h) || h <= 0 || h > 24 {
		return nil, invalid("hoursPerDay must be more than 0 and at most 24")
	}
	return c, nil
}
