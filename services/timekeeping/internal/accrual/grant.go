package accrual

import (
	"math/big"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// grantOn returns the amount granted on a day, or nil; grants for hours worked are not included.
// Each stretch of employment within a year or month is granted on its first day.
func (a *account) grantOn(day civil.Date) *big.Rat {
	switch a.frequency {
	case worked:
		return nil
	case once:
		if day == a.first {
			return a.grant
		}
		return nil
	}
	period := a.grantPeriod(day)
	left := big.NewRat(1, 1)
	for _, employed := range a.employed {
		stretch := employed.Intersect(period)
		if stretch.Empty() {
			continue
		}
		part := a.share(stretch, period)
		if part.Cmp(left) > 0 {
			part.Set(left) // Both stretches may count the same started month.
		}
		if stretch.From == day {
			return part.Mul(part, a.grant)
		}
		left.Sub(left, part)
	}
	return nil
}

// grantPeriod returns the grant period of the policy, a year or a month, that contains the day.
func (a *account) grantPeriod(day civil.Date) civil.Range {
	if a.frequency == monthly {
		y, m, _ := day.Civil()
		return civil.Range{From: civil.Of(y, m, 1), To: civil.Of(y, m+1, 1)}
	}
	return a.year(day)
}

// share returns the part of a grant that a stretch of its period earns.
func (a *account) share(stretch, period civil.Range) *big.Rat {
	months := 12
	if a.frequency == monthly {
		months = 1
	}
	switch a.proration {
	case prorateDays:
		return big.NewRat(int64(stretch.Days()), int64(period.Days()))
	case fullMonths:
		return big.NewRat(int64(fullMonthsIn(stretch)), int64(months))
	case startedMonths:
		n := fullMonthsIn(stretch)
		if addMonths(stretch.From, n) < stretch.To {
			n++
		}
		return big.NewRat(int64(n), int64(months))
	default:
		return big.NewRat(1, 1)
	}
}

// fullMonthsIn counts the full months of a stretch, starting at its first day.
func fullMonthsIn(stretch civil.Range) int {
	y, m, _ := stretch.From.Civil()
	toYear, toMonth, _ := stretch.To.Civil()
	n := 12*(toYear-y) + int(toMonth-m)
	if addMonths(stretch.From, n) > stretch.To {
		n--
	}
	return n
}

// addMonths returns the same day of a later month, or the last day of that month if the month is
// shorter.
func addMonths(day civil.Date, n int) civil.Date {
	y, m, d := day.Civil()
	return min(civil.Of(y, m+time.Month(n), d), civil.Of(y, m+time.Month(n)+1, 1)-1)
}

// earnedAmount returns the amount granted for the time worked in one policy year.
func (a *account) earnedAmount(seconds int64) *big.Rat {
	if a.perSecond == nil || seconds == 0 {
		return new(big.Rat)
	}
	out := new(big.Rat).SetInt64(seconds)
	if out.Mul(out, a.perSecond); a.yearlyLimit != nil && out.Cmp(a.yearlyLimit) > 0 {
		out.Set(a.yearlyLimit)
	}
	return out
}

// carryExpiry returns the day on which the amount carried into a year has expired, and false if it
// does not expire.
func (a *account) carryExpiry(year civil.Range) (civil.Date, bool) {
	switch {
	case a.untilMonth != 0:
		y, _, _ := year.From.Civil()
		last := civil.Of(y, a.untilMonth, a.untilDay)
		if last < year.From {
			last = civil.Of(y+1, a.untilMonth, a.untilDay)
		}
		return last + 1, true
	case a.carryMonths != 0:
		return addMonths(year.From, a.carryMonths), true
	}
	return 0, false
}
