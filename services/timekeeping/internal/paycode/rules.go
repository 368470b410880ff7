// Package paycode keeps pay codes. Hours and money are booked under pay codes.
package paycode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/setup"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Our own codes of pay codes, work rules and pay rules.
const (
	// CodeInvalid (400): a property has a value that is not allowed.
	CodeInvalid = "WRL-20501"
	// CodeMissing (400): a required property is missing.
	CodeMissing = "WRL-20502"
	// CodeTaken (400): another item has the name. Choose another name.
	CodeTaken = "WRL-20503"
	// CodeUnknown (400, 404): the pay code, work rule or pay rule does not exist.
	CodeUnknown = "WRL-20504"
	// CodeOtherID (400): the id in the body differs from the id in the path.
	CodeOtherID = "WRL-20505"
	// CodeInUse (400): an employment term, a work rule or a pay rule refers to the item. Change or
	// delete the term or rule first.
	CodeInUse = "WRL-20506"
)

const unitMoney = "MONEY"

// Codes returns the codes of pay codes, work rules and pay rules.
func Codes() setup.Codes {
	return setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, Unknown: CodeUnknown, OtherID: CodeOtherID, InUse: CodeInUse}
}

func invalid(format string, args ...any) error {
	return fault.Invalid(CodeInvalid, fmt.Sprintf(format, args...)+".")
}

// prepare validates a pay code and sets the defaults.
func prepare(_ string, p *timekeepingv1.PayCode) (*timekeepingv1.PayCode, error) {
	var err error
	if p.Type, err = parseEnum("type", p.GetType(), "REGULAR", "CASCADE", "DURATION"); err != nil {
		return nil, err
	}
	if p.Unit, err = parseEnum("unit", p.GetUnit(), "HOUR", "DAY", unitMoney); err != nil {
		return nil, err
	}
	return p, checkWages(p)
}

// checkWages validates the properties that depend on the unit.
func checkWages(p *timekeepingv1.PayCode) error {
	isMoney := p.GetUnit() == unitMoney
	if p.Money != nil && p.GetMoney() != isMoney {
		return invalid("money must be %t: the unit is %s", isMoney, p.GetUnit())
	}
	p.Money = &isMoney
	if isMoney && (p.GetWageMultiplier() != 0 || p.GetWageAddition() != 0) {
		return invalid("wageMultiplier and wageAddition are of no use to the unit %s", unitMoney)
	}
	return nil
}

// parseEnum returns the stored form of a value. A missing value becomes the first known one.
func parseEnum(name, value string, known ...string) (string, error) {
	if value == "" {
		return known[0], nil
	}
	value = strings.ToUpper(value)
	if !slices.Contains(known, value) {
		return "", invalid("%s must be one of %s", name, strings.Join(known, ", "))
	}
	return value, nil
}
