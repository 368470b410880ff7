package timecard

import (
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

// rollup adds up totals by fewer properties than distinguish them. It keeps the order of first
// appearance.
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
