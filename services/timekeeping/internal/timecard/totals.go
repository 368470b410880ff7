package timecard

import (
	"cmp"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/jobname"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// quantities adds up all that was calculated of a timecard, on all of its days.
func (c *card) quantities() map[totalKey]amount.Quantity {
	out := map[totalKey]amount.Quantity{}
	add := func(day civil.Date, code worktime.PayCode, job string, kind timekeepingv1.TotalKind, historical civil.Date, w amount.Quantity) {
		key := totalKey{worktime.Key{Day: day, PayCode: code, Job: job}, kind, historical}
		if c.days.Contains(day) && w != (amount.Quantity{}) {
			out[key] = out[key].Add(w)
		}
	}
	for key, seconds := range c.result.Totals() {
		add(key.Day, key.PayCode, c.job(key.Job, key.Day), timekeepingv1.TotalKind_TOTAL_KIND_WORKED, 0, amount.Quantity{Seconds: seconds})
	}
	for _, e := range c.edits {
		add(e.day, c.setup.PayCode(e.body.GetPaycode()), e.jobOf(c), timekeepingv1.TotalKind_TOTAL_KIND_PAY_CODE_EDIT, 0, e.Quantity)
	}
	for _, b := range c.scheduledTimes {
		add(b.day, b.payCode, b.job, timekeepingv1.TotalKind_TOTAL_KIND_PAY_CODE_EDIT, 0, b.Quantity)
	}
	if c.historical {
		return out // Corrections are what this is compared for.
	}
	for _, k := range c.corrections {
		add(k.apply, k.payCode, k.job, timekeepingv1.TotalKind_TOTAL_KIND_HISTORICAL_CORRECTION, k.historical, k.Quantity)
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
			Date: key.Day.String(), PayCode: paysetup.Ref(key.PayCode), OrgJob: jobname.Ref(key.Job), Kind: key.kind, Seconds: w.Seconds,
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

// rollup adds totals up by less than they are distinguished by. It keeps the order in
// which it meets them.
type rollup struct {
	list  []*timekeepingv1.WorkedTimeTotal
	index map[rollupKey]int
	sums  []amount.Quantity
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
	sum := amount.Quantity{Seconds: w.GetSeconds(), Days: amount.Read(w.GetDays()), Money: amount.Read(w.GetMoney())}
	wages := amount.Read(w.GetWages())
	if r.index == nil {
		r.index = map[rollupKey]int{}
	}
	i, ok := r.index[key]
	if !ok {
		i = len(r.list)
		r.index[key] = i
		r.list, r.sums, r.wages = append(r.list, out), append(r.sums, amount.Quantity{}), append(r.wages, 0)
	}
	r.sums[i] = r.sums[i].Add(sum)
	t := r.list[i]
	t.Seconds, t.Days, t.Money, t.SignedOff = r.sums[i].Seconds, "", "", t.GetSignedOff() && w.GetSignedOff()
	if r.sums[i].Days != 0 {
		t.Days = r.sums[i].Days.String()
	}
	if r.sums[i].Money != 0 {
		t.Money = r.sums[i].Money.String()
	}
	if r.wages[i] += wages; w.GetWages() != "" || t.GetWages() != "" {
		t.Wages = r.wages[i].String()
	}
}
