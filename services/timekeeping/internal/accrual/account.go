package accrual

import (
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
)

// account is the account of an employee for one accrual code.
type account struct {
	code *timekeepingv1.AccrualCode
	// grant is given as often as frequency says. limit is what stays when a year ends,
	// nil for all.
	grant, limit *big.Rat
	frequency    string
	month        time.Month
	day          int
	// inDays says that amounts are days of hours, rather than hours.
	inDays bool
	hours  *big.Rat
}

// open makes the account of a policy, of which what was stored is known to be valid.
func open(policy *timekeepingv1.AccrualPolicy, code *timekeepingv1.AccrualCode) (*account, error) {
	month, day, err := yearStart("yearStart", policy.GetYearStart())
	if err != nil {
		return nil, err
	}
	a := &account{code: code, frequency: policy.GetGrantFrequency(), month: time.Month(month), day: day, inDays: code.GetUnit() == unitDay}
	if a.grant, err = amount("grantAmount", policy.GrantAmount); err != nil {
		return nil, err
	}
	if a.limit, err = amount("carryOverLimit", policy.CarryOverLimit); err != nil {
		return nil, err
	}
	a.hours, _ = new(big.Rat).SetString(strconv.FormatFloat(code.GetHoursPerDay(), 'f', -1, 64))
	return a, nil
}

// year returns the year of the policy that has a day.
func (a *account) year(day civil.Date) civil.Range {
	y, _, _ := day.Civil()
	from := civil.Of(y, a.month, a.day)
	if day < from {
		y--
		from = civil.Of(y, a.month, a.day)
	}
	return civil.Range{From: from, To: civil.Of(y+1, a.month, a.day)}
}

// granted returns what is granted on a day to somebody who has the policy since first,
// nil for nothing.
func (a *account) granted(day, first civil.Date) *big.Rat {
	switch a.frequency {
	case monthly:
		if _, _, d := day.Civil(); d == 1 {
			return a.grant
		}
	case once:
		if day == first {
			return a.grant
		}
	default:
		year := a.year(day)
		if day == year.From {
			return a.grant
		}
		if day == first {
			part := big.NewRat(int64(year.To-day), int64(year.Days()))
			return part.Mul(part, a.grant)
		}
	}
	return nil
}

// takes returns what a total takes from the account, in its unit; nil for nothing.
func (a *account) takes(t *timekeepingv1.WorkedTimeTotal) *big.Rat {
	if !paysetup.Contains(a.code.GetPayCodes(), t.GetPayCode()) {
		return nil
	}
	hours := big.NewRat(t.GetSeconds(), 3600)
	days, ok := new(big.Rat).SetString(t.GetDays())
	if !ok {
		days = new(big.Rat)
	}
	if a.inDays {
		return days.Add(days, hours.Quo(hours, a.hours))
	}
	return hours.Add(hours, days.Mul(days, a.hours))
}

// balance returns what is left at the end of a day to somebody who has the policy since
// first and took what the totals say, by day.
func (a *account) balance(first, last civil.Date, totals map[civil.Date][]*timekeepingv1.WorkedTimeTotal) *big.Rat {
	sum := new(big.Rat)
	for _, day := range a.changeDays(first, last, totals) {
		a.step(sum, day, first, totals[day])
	}
	return sum
}

// changeDays returns the days from one to a last one on which a balance can change, ascending:
// the first, those on which a year or, where grants are monthly, a month begins, and those with
// totals.
func (a *account) changeDays(first, last civil.Date, totals map[civil.Date][]*timekeepingv1.WorkedTimeTotal) []civil.Date {
	out := []civil.Date{first}
	for day := range totals {
		out = append(out, day)
	}
	y, m, _ := first.Civil()
	if start := civil.Of(y, a.month, a.day); start <= last {
		for ; start <= last; y++ {
			out, start = append(out, start), civil.Of(y+1, a.month, a.day)
		}
	}
	if a.frequency == monthly {
		y, _, _ = first.Civil()
		for start := civil.Of(y, m, 1); start <= last; m++ {
			out, start = append(out, start), civil.Of(y, m+1, 1)
		}
	}
	out = slices.DeleteFunc(out, func(day civil.Date) bool { return day < first || day > last })
	slices.Sort(out)
	return slices.Compact(out)
}

// step changes a balance by what happens on a day.
func (a *account) step(sum *big.Rat, day, first civil.Date, totals []*timekeepingv1.WorkedTimeTotal) {
	if a.limit != nil && day != first && sum.Cmp(a.limit) > 0 && day == a.year(day).From {
		sum.Set(a.limit)
	}
	if grant := a.granted(day, first); grant != nil {
		sum.Add(sum, grant)
	}
	for _, t := range totals {
		if taken := a.takes(t); taken != nil {
			sum.Sub(sum, taken)
		}
	}
}

// lowest returns the lowest balance at the end of the days from one to a last one, and the first
// day that has it.
func (a *account) lowest(first, from, last civil.Date, totals map[civil.Date][]*timekeepingv1.WorkedTimeTotal) (civil.Date, *big.Rat) {
	lowest, on := a.balance(first, min(from, last), totals), from
	if from > last {
		return on, lowest
	}
	sum := new(big.Rat).Set(lowest)
	for _, day := range a.changeDays(first, last, totals) {
		if day <= from {
			continue
		}
		if a.step(sum, day, first, totals[day]); sum.Cmp(lowest) < 0 {
			lowest, on = new(big.Rat).Set(sum), day
		}
	}
	return on, lowest
}

// shown returns a balance as it is shown: in days, and in seconds to the nearest one.
func (a *account) shown(balance *big.Rat) Balance {
	days, hours := new(big.Rat).Set(balance), new(big.Rat).Set(balance)
	if a.inDays {
		hours.Mul(hours, a.hours)
	} else {
		days.Quo(days, a.hours)
	}
	out := Balance{PayCodes: a.code.GetPayCodes()}
	out.Days, _ = days.Float64()
	seconds := hours.Mul(hours, big.NewRat(3600, 1)).FloatString(0)
	out.Seconds, _ = strconv.ParseInt(seconds, 10, 64)
	return out
}
