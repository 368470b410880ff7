package calculation

import (
	"math/big"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// regularRate returns the regular rate of the week of a day: the pay for its hours and its
// bonuses, divided by the hours. It returns nil if the rule of the day has no regular rate, or
// if the employee did not work in the week.
func (c *Timecard) regularRate(day civil.Date) *big.Rat {
	rule := c.input.Rule(day)
	if rule.RegularRate == nil {
		return nil
	}
	first := rule.StartOfWeek(day)
	week := civil.Range{From: first, To: first + 7}
	if !c.weeks.Covers(week) {
		return nil // A later day corrects this day, and the week of this day was not read.
	}
	if rate, known := c.regularRates[first]; known {
		return rate
	}
	if c.regularRates == nil {
		c.regularRates = map[civil.Date]*big.Rat{}
	}
	var seconds int64
	pay := new(big.Rat)
	for _, t := range c.totalsOfWeek(week) {
		switch {
		case t.GetKind() == timekeepingv1.TotalKind_TOTAL_KIND_WORKED:
			seconds += t.GetSeconds()
			pay.Add(pay, c.straightPay(t))
		case t.GetKind() == timekeepingv1.TotalKind_TOTAL_KIND_PAY_CODE_EDIT && c.isBonus(rule, t):
			pay.Add(pay, big.NewRat(int64(amount.Read(t.GetMoney())), amount.PerUnit))
		}
	}
	if seconds > 0 {
		c.regularRates[first] = pay.Quo(pay, big.NewRat(seconds, 3600))
	} else {
		c.regularRates[first] = nil
	}
	return c.regularRates[first]
}

// totalsOfWeek returns the totals of the days of a week: signed-off days as they were signed off,
// other days as they are calculated.
func (c *Timecard) totalsOfWeek(week civil.Range) (out []*timekeepingv1.WorkedTimeTotal) {
	for _, t := range c.totals(week) {
		out = append(out, t)
	}
	for day, d := range c.signed {
		if week.Contains(day) {
			out = append(out, d.GetTotals()...)
		}
	}
	return out
}

// straightPay returns the pay for the hours of a total without premiums for overtime.
func (c *Timecard) straightPay(t *timekeepingv1.WorkedTimeTotal) *big.Rat {
	day, err := civil.ParseDate(t.GetDate())
	if err != nil {
		return new(big.Rat)
	}
	rate := c.wage(day, t.GetOrgJob().GetQualifier())
	if rate == nil {
		rate = new(big.Rat)
	}
	if code := c.setup.Find(t.GetPayCode()); code != nil && !c.isOvertime(day, t) {
		if code.WageMultiplier != nil {
			rate.Mul(rate, parseDecimal(code.GetWageMultiplier()))
		}
		rate.Add(rate, parseDecimal(code.GetWageAddition()))
	}
	return rate.Mul(rate, big.NewRat(t.GetSeconds(), 3600))
}

// isBonus reports whether a total is money that counts in the regular rate.
func (c *Timecard) isBonus(rule *worktime.Rule, t *timekeepingv1.WorkedTimeTotal) bool {
	return slices.Contains(rule.RegularRate.Bonuses, c.setup.PayCode(t.GetPayCode()))
}

// isOvertime reports whether a total is worked time under a pay code of a tier.
func (c *Timecard) isOvertime(day civil.Date, t *timekeepingv1.WorkedTimeTotal) bool {
	if t.GetKind() != timekeepingv1.TotalKind_TOTAL_KIND_WORKED {
		return false
	}
	code, rule := c.setup.PayCode(t.GetPayCode()), c.input.Rule(day)
	for _, tiers := range [][]worktime.Tier{rule.Daily, rule.Weekly, rule.SeventhDay, rule.Holiday} {
		if slices.ContainsFunc(tiers, func(tier worktime.Tier) bool { return tier.PayCode == code }) {
			return true
		}
	}
	return false
}

// overtimeValue returns the value of overtime: the wage of the job, and the regular rate for the
// part of the multiplier above 1. Without a wage, other pay covers the hours.
func (c *Timecard) overtimeValue(t *timekeepingv1.WorkedTimeTotal, wage, regular *big.Rat) string {
	value := new(big.Rat)
	if wage != nil {
		value.Set(wage)
	}
	if code := c.setup.Find(t.GetPayCode()); code != nil {
		if code.GetWageMultiplier() > 1 {
			beyond := parseDecimal(code.GetWageMultiplier())
			beyond.Sub(beyond, big.NewRat(1, 1))
			value.Add(value, beyond.Mul(beyond, regular))
		}
		value.Add(value, parseDecimal(code.GetWageAddition()))
	}
	value.Mul(value, big.NewRat(t.GetSeconds(), 3600))
	return amount.Read(value.FloatString(4)).String()
}
