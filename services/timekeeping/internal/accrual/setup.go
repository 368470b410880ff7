// Package accrual keeps what employees are entitled to, and calculates what is left of
// it: accrual profiles grant time, and what is booked under the pay codes of an accrual code
// takes from it. Balances are stored nowhere: they follow from timecards and schedules.
package accrual

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
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
	perUnit = 10_000

	unitHour, unitDay     = "HOUR", "DAY"
	yearly, monthly, once = "YEARLY", "MONTHLY", "ONCE"
	defaultHours          = 8.0
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

func prepareProfile(_ string, p *timekeepingv1.AccrualProfile) (*timekeepingv1.AccrualProfile, error) {
	for i, policy := range p.GetAccrualPolicies() {
		path := fmt.Sprintf("accrualPolicies[%d]", i)
		if policy.GetAccrualCode() == nil {
			return nil, fault.Invalid(CodeMissing, path+".accrualCode is missing.")
		}
		if policy.GrantAmount == nil {
			return nil, fault.Invalid(CodeMissing, path+".grantAmount is missing.")
		}
		if _, err := amount(path+".grantAmount", policy.GrantAmount); err != nil {
			return nil, err
		}
		if _, err := amount(path+".carryOverLimit", policy.CarryOverLimit); err != nil {
			return nil, err
		}
		var err error
		if policy.GrantFrequency, err = oneOf(path+".grantFrequency", policy.GetGrantFrequency(), yearly, monthly, once); err != nil {
			return nil, err
		}
		if policy.YearStart == "" {
			policy.YearStart = "01-01"
		}
		if _, _, err := yearStart(path+".yearStart", policy.GetYearStart()); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// amount returns an amount of a policy as an exact number, nil for none.
func amount(path string, given *float64) (*big.Rat, error) {
	if given == nil {
		return nil, nil
	}
	n, ok := new(big.Rat).SetString(strconv.FormatFloat(*given, 'f', -1, 64))
	if !ok || !new(big.Rat).Mul(n, big.NewRat(perUnit, 1)).IsInt() {
		return nil, invalid("%s must have at most four decimals", path)
	}
	return n, nil
}

// yearStart reads the month and the day on which a year of a policy begins. Each year
// has it.
func yearStart(path, text string) (month, day int, err error) {
	date, err := civil.ParseDate("2001-" + text)
	if err == nil && len(text) == len("01-01") {
		_, m, d := date.Civil()
		if d <= 28 {
			return int(m), d, nil
		}
	}
	return 0, 0, invalid("%s must be the month and the day as MM-DD, the day from 01 to 28", path)
}
