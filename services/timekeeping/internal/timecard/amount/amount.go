// Package amount parses and formats the values of pay code edits.
package amount

import (
	"math/big"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// Amount is a decimal with four digits after the point: days, or money.
type Amount int64

const (
	// PerUnit is the number of steps in one unit.
	PerUnit = 10_000
	// maxUnits is the maximum value of a pay code edit, in either direction.
	maxUnits = 1_000_000_000
)

// decimal returns the number in a value of a request.
func decimal(path string, v *structpb.Value) (*big.Rat, error) {
	text := v.GetStringValue()
	if _, ok := v.GetKind().(*structpb.Value_NumberValue); ok {
		text = strconv.FormatFloat(v.GetNumberValue(), 'g', -1, 64)
	}
	// A long exponent would expand to a number of gigabytes.
	if n := len(text); n == 0 || n > 40 || strings.ContainsAny(text, "/_xXpPbBoOnNiI") {
		return nil, timecardfault.InvalidAt(path, "must be a number")
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		if e, err := strconv.Atoi(text[at+1:]); err != nil || e < -40 || e > 40 {
			return nil, timecardfault.InvalidAt(path, "must be a number from -%d to %d", maxUnits, maxUnits)
		}
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, timecardfault.InvalidAt(path, "must be a number")
	}
	if new(big.Rat).Abs(n).Cmp(big.NewRat(maxUnits, 1)) > 0 {
		return nil, timecardfault.InvalidAt(path, "must be from -%d to %d", maxUnits, maxUnits)
	}
	return n, nil
}

// Parse parses days or money.
func Parse(path string, v *structpb.Value) (Amount, error) {
	n, err := decimal(path, v)
	if err != nil {
		return 0, err
	}
	n.Mul(n, big.NewRat(PerUnit, 1))
	if !n.IsInt() {
		return 0, timecardfault.InvalidAt(path, "must have at most four decimals")
	}
	return Amount(n.Num().Int64()), nil
}

// ParseHours parses hours, and returns seconds rounded to the nearest second.
func ParseHours(path string, v *structpb.Value) (int64, error) {
	n, err := decimal(path, v)
	if err != nil {
		return 0, err
	}
	if new(big.Rat).Abs(n).Cmp(big.NewRat(maxHours, 1)) > 0 {
		return 0, timecardfault.InvalidAt(path, "must be from -%d to %d", maxHours, maxHours)
	}
	n.Mul(n, big.NewRat(3600, 1))
	seconds, err := strconv.ParseInt(n.FloatString(0), 10, 64)
	return seconds, err
}

// maxHours is the maximum number of hours of one pay code edit.
const maxHours = 10_000

// String formats an amount without trailing zeros.
func (a Amount) String() string {
	return strings.TrimSuffix(strings.TrimRight(big.NewRat(int64(a), PerUnit).FloatString(4), "0"), ".")
}

// Read parses the output of String.
func Read(text string) Amount {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0
	}
	return Amount(n.Mul(n, big.NewRat(PerUnit, 1)).Num().Int64())
}
