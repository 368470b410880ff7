package timecard

import (
	"math/big"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
)

// amount is a decimal with four digits after the point: days, or money.
type amount int64

const (
	perUnit = 10_000
	// maxUnits bounds what a pay code edit is worth, in either direction.
	maxUnits = 1_000_000_000
)

// decimal returns the number that a value of a request is.
func decimal(path string, v *structpb.Value) (*big.Rat, error) {
	text := v.GetStringValue()
	if _, ok := v.GetKind().(*structpb.Value_NumberValue); ok {
		text = strconv.FormatFloat(v.GetNumberValue(), 'g', -1, 64)
	}
	// A long exponent would make a number of gigabytes.
	if n := len(text); n == 0 || n > 40 || strings.ContainsAny(text, "/_xXpPbBoOnNiI") {
		return nil, invalid("%s must be a number", path)
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		if e, err := strconv.Atoi(text[at+1:]); err != nil || e < -40 || e > 40 {
			return nil, invalid("%s must be a number from -%d to %d", path, maxUnits, maxUnits)
		}
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, invalid("%s must be a number", path)
	}
	if new(big.Rat).Abs(n).Cmp(big.NewRat(maxUnits, 1)) > 0 {
		return nil, invalid("%s must be from -%d to %d", path, maxUnits, maxUnits)
	}
	return n, nil
}

// parseAmount reads days or money.
func parseAmount(path string, v *structpb.Value) (amount, error) {
	n, err := decimal(path, v)
	if err != nil {
		return 0, err
	}
	n.Mul(n, big.NewRat(perUnit, 1))
	if !n.IsInt() {
		return 0, invalid("%s must have at most four decimals", path)
	}
	return amount(n.Num().Int64()), nil
}

// parseHours reads hours, as seconds to the nearest one.
func parseHours(path string, v *structpb.Value) (int64, error) {
	n, err := decimal(path, v)
	if err != nil {
		return 0, err
	}
	if new(big.Rat).Abs(n).Cmp(big.NewRat(maxHours, 1)) > 0 {
		return 0, invalid("%s must be from -%d to %d", path, maxHours, maxHours)
	}
	n.Mul(n, big.NewRat(3600, 1))
	seconds, err := strconv.ParseInt(n.FloatString(0), 10, 64)
	return seconds, err
}

// maxHours bounds the hours of one pay code edit.
const maxHours = 10_000

// String writes an amount without zeros at its end.
func (a amount) String() string {
	return strings.TrimSuffix(strings.TrimRight(big.NewRat(int64(a), perUnit).FloatString(4), "0"), ".")
}

// readAmount reads what String wrote.
func readAmount(text string) amount {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0
	}
	return amount(n.Mul(n, big.NewRat(perUnit, 1)).Num().Int64())
}
