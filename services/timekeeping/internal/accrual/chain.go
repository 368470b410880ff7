package accrual

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// chain holds the accounts of an employee for one accrual code under successive accrual profiles, ascending
// by first day. Each account continues the balance of the one before.
type chain []*account

// newChain returns the accounts for an accrual code. profiles are the profiles of the tenures, by name.
func newChain(code *timekeepingv1.AccrualCode, tenures []tenure, profiles map[string]*timekeepingv1.AccrualProfile) (c chain, err error) {
	for _, of := range tenures {
		for _, policy := range profiles[of.profile].GetAccrualPolicies() {
			if policy.GetAccrualCode().GetId() != code.GetId() {
				continue
			}
			a, err := newAccount(policy, code, of)
			if err != nil {
				return nil, fmt.Errorf("accrual profile %d: %w", profiles[of.profile].GetId(), err)
			}
			c = append(c, a)
		}
	}
	return c, nil
}

func (c chain) last() *account { return c[len(c)-1] }

// run applies the events of all days until a last one to a tally, and calls visit after each day on
// which the balance can change.
func (c chain) run(last civil.Date, h history, visit func(day civil.Date, balance *big.Rat)) {
	t := newTally()
	for i, a := range c {
		if a.first > last {
			return
		}
		if i > 0 {
			c[i-1].handOver(t, a.first)
		}
		until := last
		if i+1 < len(c) {
			until = min(last, c[i+1].first-1)
		}
		for _, day := range a.changeDays(until, h) {
			a.step(t, day, h)
			visit(day, a.tallyBalance(t))
		}
	}
}

// handOver prepares a tally for the account of the next profile, which begins on a day: the balance and the
// carried-over amount stay, and the count of this year begins again.
func (a *account) handOver(t *tally, day civil.Date) {
	a.turn(t, day)
	if taken := a.value(t.taken); taken.Sign() > 0 {
		t.carried.Sub(t.carried, taken)
	}
	if t.carried.Sign() < 0 {
		t.carried.SetInt64(0)
	}
	t.sum, t.seconds, t.taken = a.tallyBalance(t), 0, deduction{}
}

// balance returns the balance at the end of a day.
func (c chain) balance(last civil.Date, h history) *big.Rat {
	balance := new(big.Rat)
	c.run(last, h, func(_ civil.Date, now *big.Rat) { balance = now })
	return balance
}

// daily returns the balance in hours at the end of each day of a range. It is 0 before the first account.
func (c chain) daily(days civil.Range, h history) []float64 {
	out := make([]float64, days.Days())
	c.run(days.To-1, h, func(day civil.Date, now *big.Rat) {
		hours := c.on(day).convertHours(now)
		for i := max(day-days.From, 0); int(i) < len(out); i++ {
			out[i] = hours
		}
	})
	return out
}

// on returns the account of a day.
func (c chain) on(day civil.Date) *account {
	out := c[0]
	for _, a := range c[1:] {
		if a.first <= day {
			out = a
		}
	}
	return out
}

// lowest returns the lowest end-of-day balance within a range of days, and the first day that has
// it.
func (c chain) lowest(from, last civil.Date, h history) (civil.Date, *big.Rat) {
	lowest, on := new(big.Rat), from
	c.run(last, h, func(day civil.Date, now *big.Rat) {
		if day <= from || now.Cmp(lowest) < 0 {
			lowest, on = now, max(day, from)
		}
	})
	return on, lowest
}

// concerns reports whether the accounts deduct any of the checked amounts.
func (c chain) concerns(wanted []Wanted) bool {
	return slices.ContainsFunc(wanted, c.last().concerns)
}
