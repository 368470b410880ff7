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
	// grant is the amount of one grant; frequency says how often it is granted. limit is the most
	// that carries over at the end of a year; nil means no limit.
	grant, limit *big.Rat
	frequency    string
	proration    string
	// perSecond is the grant for one second of work. yearlyLimit is the most that the work of one
	// year earns; nil means no limit.
	perSecond, yearlyLimit *big.Rat
	month                  time.Month
	day                    int
	// The carried-over amount expires after this day, or after carryMonths months. Both are zero if
	// it does not expire.
	untilMonth            time.Month
	untilDay, carryMonths int
	// inDays means that amounts are in days; otherwise they are in hours.
	inDays bool
	hours  *big.Rat
	// days are the days of the profile, and first is the first of them. employed holds the days that earn
	// grants.
	days     civil.Range
	first    civil.Date
	employed []civil.Range
}

// newAccount creates the account of a policy for an employee who has the profile on the days of the
// tenure. Stored policies are valid, so an error means corrupt data.
func newAccount(policy *timekeepingv1.AccrualPolicy, code *timekeepingv1.AccrualCode, of tenure) (*account, error) {
	month, day, err := yearStart("yearStart", policy.GetYearStart())
	if err != nil {
		return nil, err
	}
	a := &account{
		code: code, frequency: policy.GetGrantFrequency(), proration: policy.GetProration(), month: time.Month(month), day: day,
		carryMonths: int(policy.GetCarryOverMonths()), inDays: code.GetUnit() == unitDay,
		days: of.days, first: of.days.From, employed: of.earningDays(policy.GetProrateLeavers()),
	}
	if a.proration == "" {
		a.proration = defaultProration(policy)
	}
	if a.grant, err = amount("grantAmount", policy.GrantAmount); err != nil {
		return nil, err
	}
	if a.limit, err = amount("carryOverLimit", policy.CarryOverLimit); err != nil {
		return nil, err
	}
	if a.yearlyLimit, err = amount("yearlyGrantLimit", policy.YearlyGrantLimit); err != nil {
		return nil, err
	}
	perGrant, err := amount("workedHoursPerGrant", policy.WorkedHoursPerGrant)
	if err != nil {
		return nil, err
	}
	if perGrant != nil {
		a.perSecond = perGrant.Quo(a.grant, perGrant.Mul(perGrant, big.NewRat(3600, 1)))
	}
	if text := policy.GetCarryOverUntil(); text != "" {
		if month, a.untilDay, err = monthAndDay(text); err != nil {
			return nil, err
		}
		a.untilMonth = time.Month(month)
	}
	a.hours, _ = new(big.Rat).SetString(strconv.FormatFloat(code.GetHoursPerDay(), 'f', -1, 64))
	return a, nil
}

// tenure holds the name of a profile, the days on which an employee has it, and the days on which the
// employment is terminated.
type tenure struct {
	profile    string
	days       civil.Range
	terminated []civil.Range
	// followed means that the employee has another profile later. Grants of this one end with it then.
	followed bool
}

// earningDays returns the days that earn grants.
func (t tenure) earningDays(withoutLeavers bool) []civil.Range {
	switch {
	case !withoutLeavers && t.followed:
		return []civil.Range{t.days}
	case !withoutLeavers:
		return []civil.Range{{From: t.days.From, To: civil.Forever}}
	}
	return civil.AppendDifference(nil, []civil.Range{t.days}, civil.Normalise(slices.Clone(t.terminated)))
}

// year returns the policy year that contains a day.
func (a *account) year(day civil.Date) civil.Range {
	y, _, _ := day.Civil()
	from := civil.Of(y, a.month, a.day)
	if day < from {
		y--
		from = civil.Of(y, a.month, a.day)
	}
	return civil.Range{From: from, To: civil.Of(y+1, a.month, a.day)}
}

// deduction is an amount that is deducted from an account, less the amounts given back: in seconds, and in
// ten-thousandths of days.
type deduction struct{ seconds, days int64 }

// takes reports whether the account deducts a total.
func (a *account) takes(t *timekeepingv1.WorkedTimeTotal) bool {
	return paysetup.Contains(a.code.GetPayCodes(), t.GetPayCode())
}

// value converts a deduction to the unit of the account.
func (a *account) value(t deduction) *big.Rat {
	hours, days := big.NewRat(t.seconds, 3600), big.NewRat(t.days, perUnit)
	if a.inDays {
		return days.Add(days, hours.Quo(hours, a.hours))
	}
	return hours.Add(hours, days.Mul(days, a.hours))
}

// history holds the data of an employee's timecards by day: the totals that accounts may deduct,
// and the seconds worked.
type history struct {
	totals map[civil.Date][]*timekeepingv1.WorkedTimeTotal
	worked map[civil.Date]int64
}

// convertBalance returns a balance as responses show it: in days, and in seconds rounded to the nearest
// second.
func (a *account) convertBalance(balance *big.Rat) Balance {
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

// convertHours returns a balance in hours.
func (a *account) convertHours(balance *big.Rat) float64 {
	hours := new(big.Rat).Set(balance)
	if a.inDays {
		hours.Mul(hours, a.hours)
	}
	out, _ := hours.Float64()
	return out
}

// changeDays returns the days on which a balance can change, from the first day of the profile to a
// last day, ascending.
func (a *account) changeDays(last civil.Date, h history) []civil.Date {
	out := []civil.Date{a.first}
	for day := range h.totals {
		out = append(out, day)
	}
	if a.frequency == worked {
		for day := range h.worked {
			out = append(out, day)
		}
	}
	for _, stretch := range a.employed {
		out = append(out, stretch.From)
	}
	for year := a.year(a.first); year.From <= last; year = a.year(year.To) {
		out = append(out, year.From)
		if expiry, ok := a.carryExpiry(year); ok {
			out = append(out, expiry)
		}
	}
	if a.frequency == monthly {
		y, m, _ := a.first.Civil()
		for start := civil.Of(y, m, 1); start <= last; m++ {
			out, start = append(out, start), civil.Of(y, m+1, 1)
		}
	}
	out = slices.DeleteFunc(out, func(day civil.Date) bool { return day < a.first || day > last })
	slices.Sort(out)
	return slices.Compact(out)
}
