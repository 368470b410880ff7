package calculation

import (
	"context"
	"math/big"
	"strconv"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/policy"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// SeesWages reports whether the caller may see wages.
func SeesWages(ctx context.Context) bool {
	p, ok := authn.From(ctx)
	return ok && p.Has(policy.WagesRead)
}

// Pay sets the wages of the totals of days, or removes them if the caller may not see them.
// Signed-off days use the current wages too.
func (c *Timecard) Pay(days []*timekeepingv1.TimecardDay, visible bool) {
	for _, d := range days {
		for _, t := range d.GetTotals() {
			t.Wages = ""
			if visible {
				t.Wages = c.monetaryValue(t)
			}
		}
	}
}

// ShiftWages returns the money value of a worked shift of a day, or "" if it is unknown. The stored
// data of a signed-off day contains only totals, so its wages are known only if the day has exactly
// one shift.
func (c *Timecard) ShiftWages(d *timekeepingv1.TimecardDay, shift int) string {
	day, err := civil.ParseDate(d.GetDate())
	if err != nil {
		return ""
	}
	var totals []*timekeepingv1.WorkedTimeTotal
	switch {
	case c.isCalculated(day):
		totals = c.shiftTotals(day, shift)
	case len(d.GetWorkedShifts()) == 1:
		totals = d.GetTotals()
	}
	var values []string
	for _, t := range totals {
		if value := c.monetaryValue(t); value != "" && t.GetKind() == timekeepingv1.TotalKind_TOTAL_KIND_WORKED {
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		return ""
	}
	var sum amount.Amount
	for _, value := range values {
		sum += amount.Read(value)
	}
	return sum.String()
}

// shiftTotals adds up the items of a worked shift of a calculated day.
func (c *Timecard) shiftTotals(day civil.Date, n int) []*timekeepingv1.WorkedTimeTotal {
	for i := range c.result.Shifts {
		shift := &c.result.Shifts[i]
		if shift.Day != day {
			continue
		}
		if n > 0 {
			n--
			continue
		}
		var out []*timekeepingv1.WorkedTimeTotal
		index := map[worktime.Key]*timekeepingv1.WorkedTimeTotal{}
		for _, item := range shift.Items {
			key := worktime.Key{Day: item.Day, PayCode: item.PayCode, Job: c.job(item.Job, item.Day)}
			if index[key] == nil {
				index[key] = &timekeepingv1.WorkedTimeTotal{
					Date: key.Day.String(), PayCode: paysetup.Ref(key.PayCode), OrgJob: orgjob.Ref(key.Job), Kind: timekeepingv1.TotalKind_TOTAL_KIND_WORKED,
				}
				out = append(out, index[key])
			}
			index[key].Seconds += item.End - item.Start
		}
		return out
	}
	return nil
}

// monetaryValue returns the money value of a total, or "" if no wage is known. A correction is paid
// at the wage of the day that it corrects.
func (c *Timecard) monetaryValue(t *timekeepingv1.WorkedTimeTotal) string {
	if t.GetMoney() != "" {
		return t.GetMoney()
	}
	text := t.GetDate()
	if t.GetHistoricalDate() != "" {
		text = t.GetHistoricalDate()
	}
	day, err := civil.ParseDate(text)
	if err != nil || t.GetDays() != "" {
		return ""
	}
	rate := c.wage(day, t.GetOrgJob().GetQualifier())
	if regular := c.regularRate(day); regular != nil && c.isOvertime(day, t) {
		return c.overtimeValue(t, rate, regular)
	}
	if rate == nil {
		return ""
	}
	if code := c.setup.Find(t.GetPayCode()); code != nil {
		if code.WageMultiplier != nil {
			rate.Mul(rate, parseDecimal(code.GetWageMultiplier()))
		}
		rate.Add(rate, parseDecimal(code.GetWageAddition()))
	}
	rate.Mul(rate, big.NewRat(t.GetSeconds(), 3600))
	return amount.Read(rate.FloatString(4)).String()
}

// wage returns the hourly wage of a job on a day, or nil if it is unknown.
func (e *employee) wage(day civil.Date, job string) *big.Rat {
	var base *big.Rat
	for _, w := range e.of.Pay.GetWages() {
		if day < civil.Date(w.GetFrom()) || day >= civil.Date(w.GetTo()) {
			continue
		}
		switch w.GetJob() {
		case "":
			base = parseDecimal(w.GetHourlyRate())
		case job:
			return parseDecimal(w.GetHourlyRate())
		}
	}
	return base
}

// parseDecimal returns the decimal that a number was written as.
func parseDecimal(n float64) *big.Rat {
	out, ok := new(big.Rat).SetString(strconv.FormatFloat(n, 'f', -1, 64))
	if !ok {
		return new(big.Rat)
	}
	return out
}
