package accrual

import (
	"math/big"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// tally is a balance on its way through the days.
type tally struct {
	// sum is the balance without what the work of this year has earned, and seconds is that work.
	sum     *big.Rat
	seconds int64
	// carried is what was carried into this year and has not expired, and taken is what was
	// taken in this year, less what was given back.
	carried, taken *big.Rat
}

func newTally() *tally {
	return &tally{sum: new(big.Rat), carried: new(big.Rat), taken: new(big.Rat)}
}

// left returns the balance of a tally.
func (a *account) left(t *tally) *big.Rat {
	earned := a.earned(t.seconds)
	return earned.Add(earned, t.sum)
}

// step changes a tally by what happens on a day. Days on which nothing can change may be left out.
func (a *account) step(t *tally, day civil.Date, h history) {
	if day != a.first {
		a.turn(t, day)
	}
	if grant := a.grantOn(day); grant != nil {
		t.sum.Add(t.sum, grant)
	}
	for _, total := range h.totals[day] {
		if taken := a.takes(total); taken != nil {
			t.sum.Sub(t.sum, taken)
			t.taken.Add(t.taken, taken)
		}
	}
	t.seconds += h.worked[day]
}

// turn lets expire what was carried into a year, and carries a balance into the next one.
func (a *account) turn(t *tally, day civil.Date) {
	year := a.year(day)
	starts := day == year.From
	if expiry, ok := a.expiryOf(year); ok && day == expiry {
		t.expire()
	}
	if !starts {
		return
	}
	if expiry, ok := a.expiryOf(a.year(day - 1)); ok && expiry == day {
		t.expire()
	}
	t.sum, t.seconds = a.left(t), 0
	if a.limit != nil && t.sum.Cmp(a.limit) > 0 {
		t.sum.Set(a.limit)
	}
	t.carried.Set(t.sum)
	t.taken.SetInt64(0)
}

// expire removes what is left of what was carried into the year: takings use it first.
func (t *tally) expire() {
	left := new(big.Rat).Set(t.carried)
	if t.taken.Sign() > 0 {
		left.Sub(left, t.taken)
	}
	if left.Sign() > 0 {
		t.sum.Sub(t.sum, left)
	}
	t.carried.SetInt64(0)
}

// balance returns what is left at the end of a day.
func (a *account) balance(last civil.Date, h history) *big.Rat {
	t := newTally()
	for _, day := range a.changeDays(last, h) {
		a.step(t, day, h)
	}
	return a.left(t)
}

// lowest returns the lowest balance at the end of the days from one to a last one, and the first
// day that has it.
func (a *account) lowest(from, last civil.Date, h history) (civil.Date, *big.Rat) {
	t := newTally()
	lowest, on := new(big.Rat), from
	for _, day := range a.changeDays(last, h) {
		a.step(t, day, h)
		if now := a.left(t); day <= from || now.Cmp(lowest) < 0 {
			lowest, on = now, max(day, from)
		}
	}
	return on, lowest
}
