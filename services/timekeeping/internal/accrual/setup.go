// Package accrual keeps the entitlements of employees and calculates their balances: accrual
// profiles grant time, and bookings under the pay codes of an accrual code deduct time. Balances
// are not stored. They are calculated from timecards and schedules.
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

// Our own codes of accrual codes, accrual profiles and balances.
const (
	// CodeInvalid (400): a property has a value that is not allowed.
	CodeInvalid = "WRL-21001"
	// CodeMissing (400): a required property is missing.
	CodeMissing = "WRL-21002"
	// CodeTaken (400): another accrual code or profile has the name. Choose another name.
	CodeTaken = "WRL-21003"
	// CodeUnknown (400, 404): the accrual code or profile does not exist.
	CodeUnknown = "WRL-21004"
	// CodeOtherID (400): the id in the body differs from the id in the path.
	CodeOtherID = "WRL-21005"
	// CodeInUse (400): an accrual profile refers to the accrual code. Change or delete the profile
	// first.
	CodeInUse = "WRL-21006"
	// CodeTooLong (400): a balance would cover more years than are allowed. Assign a later accrual
	// profile to the person, or request an earlier day.
	CodeTooLong = "WRL-21007"
	// CodeNotCovered (400): the balance does not cover the time off, or would no longer cover
	// deductions that are planned later. Request less time, or let the request subtype allow debt
	// (allowDebt).
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

// parseEnum returns the stored form of a value. A missing value becomes the first known one.
func parseEnum(path, value string, known ...string) (string, error) {
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
	if c.Unit, err = parseEnum("unit", c.GetUnit(), unitHour, unitDay); err != nil {
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
