package timecard

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// MultiReadTimecardMetrics returns the sums of timecards.
func (h *Timecards) MultiReadTimecardMetrics(ctx context.Context, req *timekeepingv1.MultiReadTimecardMetricsRequest) (*timekeepingv1.TimecardMetricsList, error) {
	codes := req.GetPaycodes()
	if among := req.GetWhere().GetPaycodes(); among != nil {
		if codes != nil {
			return nil, timecardfault.Invalid("paycodes must be in where or beside it, not both")
		}
		codes = among
	}
	wages := calculation.SeesWages(ctx)
	timecards, unknown, err := h.read(ctx, "where.employeeSet", req.GetWhere().GetEmployeeSet(), calculation.Window{Wages: wages})
	if err != nil {
		return nil, err
	}
	wanted := selection(req.GetSelect())
	list := make([]*timekeepingv1.TimecardMetrics, len(timecards))
	var types []*timekeepingv1.TimecardExceptionType
	for i, c := range timecards {
		list[i] = metrics(c, wages, wanted, codes, req.GetRollupContext())
		for _, counted := range list[i].GetExceptionCounts() {
			types = append(types, counted.GetExceptionType())
		}
	}
	if err := nameExceptions(ctx, types...); err != nil {
		return nil, err
	}
	if err := h.addAccruals(ctx, timecards, list, req.GetSelect()); err != nil {
		return nil, err
	}
	list, failure, err := rpc.PartialList(ctx, list, unknown)
	return &timekeepingv1.TimecardMetricsList{Metrics: list, Failure: failure}, err
}

// matchesRef reports whether a list contains a pay code. An empty list matches all pay codes.
func matchesRef(list *commonv1.RefList, code *commonv1.Ref) bool {
	if list == nil || len(list.GetIds())+len(list.GetQualifiers())+len(list.GetRefs()) == 0 {
		return true
	}
	for _, id := range list.GetIds() {
		if code.Id != nil && code.GetId() == id {
			return true
		}
	}
	for _, name := range list.GetQualifiers() {
		if strings.EqualFold(name, code.GetQualifier()) {
			return true
		}
	}
	for _, ref := range list.GetRefs() {
		if ref.Id != nil && code.Id != nil && ref.GetId() == code.GetId() || ref.Id == nil && strings.EqualFold(ref.GetQualifier(), code.GetQualifier()) {
			return true
		}
	}
	return false
}

func metrics(c *calculation.Timecard, wages bool, wanted func(string) bool, codes *commonv1.RefList, by *timekeepingv1.RollupContext) *timekeepingv1.TimecardMetrics {
	out := &timekeepingv1.TimecardMetrics{EmployeeId: c.Employee()}
	days := c.NonEmptyDays()
	c.Pay(days, wages)
	totals := func(keep func(correction bool) bool, byDay, byCode, byJob bool) []*timekeepingv1.ActualTotal {
		var sums rollup
		for _, d := range days {
			for _, w := range d.GetTotals() {
				if matchesRef(codes, w.GetPayCode()) && keep(w.GetKind() == timekeepingv1.TotalKind_TOTAL_KIND_HISTORICAL_CORRECTION) {
					sums.add(w, byDay, byCode, byJob)
				}
			}
		}
		return actual(c, sums.list)
	}
	all := func(bool) bool { return true }
	byDay, byCode, byJob := true, true, true
	if by != nil {
		byDay, byCode, byJob = by.GetByDate(), by.GetByPaycode(), by.GetByOrg() || by.GetByJob()
	}
	if wanted("ACTUAL_TOTALS") {
		out.ActualTotals = totals(all, byDay, byCode, byJob)
	}
	if wanted("ACTUAL_TOTALS_ONLY_CORRECTIONS") {
		out.ActualTotalsOnlyCorrections = totals(func(is bool) bool { return is }, byDay, byCode, byJob)
	}
	if wanted("ACTUAL_TOTALS_EXCLUDE_CORRECTIONS") {
		out.ActualTotalsExcludeCorrections = totals(func(is bool) bool { return !is }, byDay, byCode, byJob)
	}
	if wanted("DAILY_ACTUAL_TOTAL_SUMMARY") {
		out.DailyActualTotalSummary = totals(all, true, false, false)
	}
	for _, d := range days {
		addDay(c, out, d, wanted, wages)
	}
	for _, list := range [][]*timekeepingv1.ActualTotal{
		out.GetActualTotals(), out.GetActualTotalsOnlyCorrections(), out.GetActualTotalsExcludeCorrections(),
		out.GetDailyActualTotalSummary(), out.GetShiftActualTotalSummary(), out.GetScheduledTotals(),
	} {
		nameAsClients(list)
	}
	return out
}

// nameAsClients repeats values under the names that clients of the reference product read.
func nameAsClients(list []*timekeepingv1.ActualTotal) {
	for _, t := range list {
		t.Job, t.Wages = t.GetOrgJob(), t.WagesAmount
		switch {
		case t.MoneyAmount != nil:
			t.AmountType = amount.UnitMoney
		case t.DaysAmount != nil:
			t.AmountType = amount.UnitDay
		default:
			t.AmountType = amount.UnitHour
		}
	}
}

// addDay adds the metrics that are counted by shift and by exception.
func addDay(c *calculation.Timecard, out *timekeepingv1.TimecardMetrics, d *timekeepingv1.TimecardDay, wanted func(string) bool, wages bool) {
	if wanted("SHIFT_ACTUAL_TOTAL_SUMMARY") {
		for i, s := range d.GetWorkedShifts() {
			var worth string
			if wages {
				worth = c.ShiftWages(d, i)
			}
			out.ShiftActualTotalSummary = append(out.ShiftActualTotalSummary, &timekeepingv1.ActualTotal{
				UniqueId: fmt.Sprintf("%d-shift-%d", c.ID, len(out.GetShiftActualTotalSummary())), Employee: c.Employee(), ApplyDate: d.GetDate(),
				StartDate: s.GetStartDateTime(), EndDate: s.GetEndDateTime(), HoursAmount: s.HoursWorked,
				WagesAmount: amount.Number(worth),
			})
		}
	}
	if wanted("SCHEDULED_TOTALS") {
		for _, s := range d.GetScheduleShifts() {
			out.ScheduledTotals = append(out.ScheduledTotals, &timekeepingv1.ActualTotal{
				UniqueId: fmt.Sprintf("%d-scheduled-%d", c.ID, len(out.GetScheduledTotals())), Employee: c.Employee(), ApplyDate: d.GetDate(),
				StartDate: s.GetStartDateTime(), EndDate: s.GetEndDateTime(), HoursAmount: s.Hours,
			})
		}
	}
	if !wanted("EXCEPTION_TOTAL") {
		return
	}
next:
	for _, e := range d.GetExceptions() {
		for _, counted := range out.GetExceptionCounts() {
			if counted.GetExceptionType().GetName() == e.GetExceptionType().GetName() {
				counted.Count = proto.Int64(counted.GetCount() + 1)
				continue next
			}
		}
		out.ExceptionCounts = append(out.ExceptionCounts, &timekeepingv1.ExceptionCount{ExceptionType: e.GetExceptionType(), Count: proto.Int64(1)})
	}
}

// actual converts totals to the form of metrics.
func actual(c *calculation.Timecard, list []*timekeepingv1.WorkedTimeTotal) []*timekeepingv1.ActualTotal {
	out := make([]*timekeepingv1.ActualTotal, len(list))
	for i, w := range list {
		out[i] = &timekeepingv1.ActualTotal{
			UniqueId: fmt.Sprintf("%d-%s-%d-%d", c.ID, w.GetDate(), w.GetPayCode().GetId(), i), Employee: c.Employee(), PayCode: w.GetPayCode(), OrgJob: w.GetOrgJob(),
			ApplyDate: w.GetDate(), StartDate: c.Days.From.String(), EndDate: (c.Days.To - 1).String(),
			HoursAmount: amount.Hours(w.GetSeconds()), DaysAmount: amount.Number(w.GetDays()), MoneyAmount: amount.Number(w.GetMoney()), SignedOff: proto.Bool(w.GetSignedOff()),
			WagesAmount: amount.Number(w.GetWages()),
		}
	}
	return out
}
