package timecard

import (
	"cmp"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// quantities adds up all that was calculated of a timecard, on all of its days.
func (c *card) quantities() map[totalKey]quantity {
	out := map[totalKey]quantity{}
	add := func(day civil.Date, code worktime.PayCode, job string, kind timekeepingv1.TotalKind, historical civil.Date, w quantity) {
		key := totalKey{worktime.Key{Day: day, PayCode: code, Job: job}, kind, historical}
		if c.days.Contains(day) && w != (quantity{}) {
			out[key] = out[key].add(w)
		}
	}
	for key, seconds := range c.result.Totals() {
		add(key.Day, key.PayCode, c.job(key.Job, key.Day), timekeepingv1.TotalKind_TOTAL_KIND_WORKED, 0, quantity{seconds: seconds})
	}
	for _, e := range c.edits {
		add(e.day, c.setup.PayCode(e.body.GetPaycode()), e.jobOf(c), timekeepingv1.TotalKind_TOTAL_KIND_PAY_CODE_EDIT, 0, quantity{e.seconds, e.days, e.money})
	}
	for _, b := range c.scheduledTimes {
		add(b.day, b.payCode, b.job, timekeepingv1.TotalKind_TOTAL_KIND_PAY_CODE_EDIT, 0, b.quantity)
	}
	if c.historical {
		return out // Corrections are what this is compared for.
	}
	for _, k := range c.corrections {
		add(k.apply, k.payCode, k.job, timekeepingv1.TotalKind_TOTAL_KIND_HISTORICAL_CORRECTION, k.historical, k.quantity)
	}
	return out
}

// totals adds up the days of a timecard that are not signed off.
func (c *card) totals() map[totalKey]*timekeepingv1.WorkedTimeTotal {
	out := map[totalKey]*timekeepingv1.WorkedTimeTotal{}
	for key, w := range c.quantities() {
		if !c.shows(key.Day) {
			continue
		}
		t := &timekeepingv1.WorkedTimeTotal{
			Date: key.Day.String(), PayCode: payCodeRef(key.PayCode), OrgJob: jobRef(key.Job), Kind: key.kind, Seconds: w.seconds,
		}
		if key.historical != 0 {
			t.HistoricalDate = key.historical.String()
		}
		if w.days != 0 {
			t.Days = w.days.String()
		}
		if w.money != 0 {
			t.Money = w.money.String()
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

// rollup adds totals up by less than they are distinguished by. It keeps the order in
// which it meets them.
type rollup struct {
	list  []*timekeepingv1.WorkedTimeTotal
	index map[rollupKey]int
	sums  []quantity
	wages []amount.Amount
}

type rollupKey struct {
	day, code, job string
	codeID, jobID  int64
}

func (r *rollup) add(w *timekeepingv1.WorkedTimeTotal, byDay, byCode, byJob bool) {
	key := rollupKey{}
	out := &timekeepingv1.WorkedTimeTotal{SignedOff: w.GetSignedOff()}
	if byDay {
		key.day, out.Date = w.GetDate(), w.GetDate()
	}
	if byCode {
		key.code, key.codeID, out.PayCode = w.GetPayCode().GetQualifier(), w.GetPayCode().GetId(), w.GetPayCode()
	}
	if byJob {
		key.job, key.jobID, out.OrgJob = w.GetOrgJob().GetQualifier(), w.GetOrgJob().GetId(), w.GetOrgJob()
	}
	sum := quantity{seconds: w.GetSeconds(), days: amount.Read(w.GetDays()), money: amount.Read(w.GetMoney())}
	wages := amount.Read(w.GetWages())
	if r.index == nil {
		r.index = map[rollupKey]int{}
	}
	i, ok := r.index[key]
	if !ok {
		i = len(r.list)
		r.index[key] = i
		r.list, r.sums, r.wages = append(r.list, out), append(r.sums, quantity{}), append(r.wages, 0)
	}
	r.sums[i] = r.sums[i].add(sum)
	t := r.list[i]
	t.Seconds, t.Days, t.Money, t.SignedOff = r.sums[i].seconds, "", "", t.GetSignedOff() && w.GetSignedOff()
	if r.sums[i].days != 0 {
		t.Days = r.sums[i].days.String()
	}
	if r.sums[i].money != 0 {
		t.Money = r.sums[i].money.String()
	}
	if r.wages[i] += wages; w.GetWages() != "" || t.GetWages() != "" {
		t.Wages = r.wages[i].String()
	}
}
