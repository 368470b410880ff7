package accrual

import (
	"math/big"

	"github.com/rotaloom/rotaloom/pkg/civil"
	quantity "github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

// tally is a running balance while the calculation steps through the days.
type tally struct {
	// sum is the balance without the deductions of this year and without the grant for the work of
	// this year. seconds is the time worked this year.
	sum     *big.Rat
	taken   deduction
	seconds int64
	// carried is the amount that was carried into this year and has not expired.
	carried *big.Rat
}

func newTally() *tally {
	return &tally{sum: new(big.Rat), carried: new(big.Rat)}
}

// tallyBalance returns the balance of a tally.
func (a *account) tallyBalance(t *tally) *big.Rat {
	left := a.earnedAmount(t.seconds)
	left.Add(left, t.sum)
	return left.Sub(left, a.value(t.taken))
}

// step applies the events of a day to a tally. The caller may skip days without changes.
func (a *account) step(t *tally, day civil.Date, h history) {
	if day != a.first {
		a.turn(t, day)
	}
	if grant := a.grantOn(day); grant != nil {
		t.sum.Add(t.sum, grant)
	}
	for _, total := range h.totals[day] {
		if a.takes(total) {
			t.taken.seconds += total.GetSeconds()
			t.taken.days += int64(quantity.Read(total.GetDays()))
		}
	}
	t.seconds += h.worked[day]
}

// turn expires the carried-over amount on its expiry day, and carries the balance over on the first
// day of a year.
func (a *account) turn(t *tally, day civil.Date) {
	year := a.year(day)
	starts := day == year.From
	if expiry, ok := a.carryExpiry(year); ok && day == expiry {
		a.expire(t)
	}
	if !starts {
		return
	}
	if expiry, ok := a.carryExpiry(a.year(day - 1)); ok && expiry == day {
		a.expire(t)
	}
	t.sum, t.seconds, t.taken = a.tallyBalance(t), 0, deduction{}
	if a.limit != nil && t.sum.Cmp(a.limit) > 0 {
		t.sum.Set(a.limit)
	}
	t.carried.Set(t.sum)
}

// expire removes the rest of the carried-over amount. Deductions use that amount first.
func (a *account) expire(t *tally) {
	left := new(big.Rat).Set(t.carried)
	if taken := a.value(t.taken); taken.Sign() > 0 {
		left.Sub(left, taken)
	}
	if left.Sign() > 0 {
		t.sum.Sub(t.sum, left)
	}
	t.carried.SetInt64(0)
}
