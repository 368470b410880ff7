package calculation

import (
	"cmp"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// quantities adds up all calculated quantities of a timecard on some of its days.
func (c *Timecard) quantities(days civil.Range) map[totalKey]amount.Quantity {
	out := map[totalKey]amount.Quantity{}
	add := func(day civil.Date, code worktime.PayCode, job string, kind timekeepingv1.TotalKind, historical civil.Date, w amount.Quantity) {
		key := totalKey{worktime.Key{Day: day, PayCode: code, Job: job}, kind, historical}
		if days.Contains(day) && w != (amount.Quantity{}) {
			out[key] = out[key].Add(w)
		}
	}
	for key, seconds := range c.result.Totals() {
		add(key.Day, key.PayCode, c.job(key.Job, key.Day), timekeepingv1.TotalKind_TOTAL_KIND_WORKED, 0, amount.Quantity{Seconds: seconds})
	}
	for _, e := range c.edits {
		add(e.Day, c.setup.PayCode(e.Body.GetPaycode()), c.job(e.Job(), e.Day), timekeepingv1.TotalKind_TOTAL_KIND_PAY_CODE_EDIT, 0, e.Quantity)
	}
	for _, b := range c.scheduledTimes {
		add(b.day, b.payCode, b.job, timekeepingv1.TotalKind_TOTAL_KIND_PAY_CODE_EDIT, 0, b.Quantity)
	}
	if c.historical {
		return out // The result is compared to find corrections, so it must not include any.
	}
	for _, k := range c.corrections {
		add(k.apply, k.payCode, k.job, timekeepingv1.TotalKind_TOTAL_KIND_HISTORICAL_CORRECTION, k.historical, k.Quantity)
	}
	return out
}

// Sums adds up all calculated quantities of a timecard by day, pay code and job.
func (c *Timecard) Sums() map[worktime.Key]amount.Quantity {
	out := map[worktime.Key]amount.Quantity{}
	for key, w := range c.quantities(c.Days) {
		out[key.Key] = out[key.Key].Add(w)
	}
	return out
}

// totals adds up the days of a timecard that are not signed off.
func (c *Timecard) totals(days civil.Range) map[totalKey]*timekeepingv1.WorkedTimeTotal {
	out := map[totalKey]*timekeepingv1.WorkedTimeTotal{}
	for key, w := range c.quantities(days) {
		if !c.isCalculated(key.Day) {
			continue
		}
		t := &timekeepingv1.WorkedTimeTotal{
			Date: key.Day.String(), PayCode: paysetup.Ref(key.PayCode), OrgJob: orgjob.Ref(key.Job), Kind: key.kind, Seconds: w.Seconds,
		}
		if key.historical != 0 {
			t.HistoricalDate = key.historical.String()
		}
		if w.Days != 0 {
			t.Days = w.Days.String()
		}
		if w.Money != 0 {
			t.Money = w.Money.String()
		}
		out[key] = t
	}
	return out
}

func compareTotals(a, b *timekeepingv1.WorkedTimeTotal) int {
	return cmp.Or(cmp.Compare(a.GetDate(), b.GetDate()), cmp.Compare(a.GetKind(), b.GetKind()),
		strings.Compare(a.GetPayCode().GetQualifier(), b.GetPayCode().GetQualifier()), cmp.Compare(a.GetPayCode().GetId(), b.GetPayCode().GetId()),
		cmp.Compare(a.GetOrgJob().GetId(), b.GetOrgJob().GetId()), strings.Compare(a.GetOrgJob().GetQualifier(), b.GetOrgJob().GetQualifier()),
		cmp.Compare(a.GetHistoricalDate(), b.GetHistoricalDate()))
}

// totalKey holds the properties that distinguish totals.
type totalKey struct {
	worktime.Key
	kind       timekeepingv1.TotalKind
	historical civil.Date
}
