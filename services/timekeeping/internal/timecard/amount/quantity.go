package amount

import (
	"math/big"
	"strconv"
)

// Units of pay codes and of the edits under them.
const (
	UnitHour  = "HOUR"
	UnitDay   = "DAY"
	UnitMoney = "MONEY"
)

// Quantity is the sum of a total: seconds, or else days or money.
type Quantity struct {
	Seconds     int64
	Days, Money Amount
}

// Add returns the sum of two quantities.
func (q Quantity) Add(o Quantity) Quantity {
	return Quantity{q.Seconds + o.Seconds, q.Days + o.Days, q.Money + o.Money}
}

// Sub returns the difference of two quantities.
func (q Quantity) Sub(o Quantity) Quantity {
	return Quantity{q.Seconds - o.Seconds, q.Days - o.Days, q.Money - o.Money}
}

// Shown returns a quantity in the form of responses: its unit, and a number in that unit only.
func (q Quantity) Shown() (unit string, hours, days, money *float64) {
	switch {
	case q.Days != 0:
		return UnitDay, nil, Number(q.Days.String()), nil
	case q.Money != 0:
		return UnitMoney, nil, nil, Number(q.Money.String())
	}
	return UnitHour, Hours(q.Seconds), nil, nil
}

// Hours converts seconds to hours.
func Hours(seconds int64) *float64 {
	h, _ := big.NewRat(seconds, 3600).Float64()
	return &h
}

// Number converts the text of an amount to a number, or nil if the text is not a number.
func Number(text string) *float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &n
}

// Sum adds up the amounts of days or money of totals.
func Sum(texts []string) float64 {
	var sum Amount
	for _, text := range texts {
		sum += Read(text)
	}
	return float64(sum) / PerUnit
}
