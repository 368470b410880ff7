package timecard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
)

// selection returns a function that reports whether a word is selected. An empty list selects all
// words.
func selection(list []string) func(string) bool {
	return func(word string) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, word) })
	}
}

// maxMisspelt limits the warnings of a response.
const maxMisspelt = 5

// warnMisspelt warns of words that select nothing, and that are probably misspelt. Other unknown words are no fault:
// clients of the specified API also send words for parts that timecards here do not have.
func warnMisspelt(ctx context.Context, list []string) error {
	warned := 0
	for _, word := range list {
		if warned == maxMisspelt || slices.Contains(selections, strings.ToUpper(word)) {
			continue
		}
		nearest := suggest.Nearest(word, slices.Values(selections))
		if nearest == "" {
			continue
		}
		warned++
		if err := rpc.AddWarning(ctx, fmt.Sprintf("select: '%s' selects nothing. Did you mean '%s'?", word, nearest)); err != nil {
			return err
		}
	}
	return nil
}

// show builds a timecard with the selected parts.
func show(c *calculation.Timecard, wanted func(string) bool, o options) *timekeepingv1.Timecard {
	out := &timekeepingv1.Timecard{Employee: c.Employee(), StartDate: c.Days.From.String(), EndDate: (c.Days.To - 1).String()}
	if c.Through != nil {
		out.SignedOffThroughDate = c.Through.String()
	}
	var totals []*timekeepingv1.WorkedTimeTotal
	for _, d := range c.NonEmptyDays() {
		if wanted("PUNCHES") {
			out.Punches = append(out.Punches, d.GetPunches()...)
		}
		if wanted("WORKED_SHIFTS") {
			out.WorkedShifts = append(out.WorkedShifts, d.GetWorkedShifts()...)
		}
		if wanted("PAYCODE_EDITS") {
			out.PayCodeEdits = append(out.PayCodeEdits, d.GetPayCodeEdits()...)
		}
		if wanted("EXCEPTIONS") {
			out.Exceptions = append(out.Exceptions, d.GetExceptions()...)
		}
		if wanted("SCHEDULE_SHIFT") {
			out.ScheduleShifts = append(out.ScheduleShifts, d.GetScheduleShifts()...)
		}
		if wanted("SCHEDULE_PAYCODE_EDITS") {
			out.SchedulePayCodeEdits = append(out.SchedulePayCodeEdits, d.GetSchedulePayCodeEdits()...)
		}
		totals = append(totals, d.GetTotals()...)
	}
	switch {
	case wanted("TOTALS") && o.rollup:
		out.Totals = summary(totals, false, true)
	case wanted("TOTALS"):
		for _, w := range totals {
			out.Totals = append(out.Totals, total(w))
		}
	}
	if wanted("TOTAL_SUMMARY") {
		out.TotalSummary = summary(totals, false, true)
	}
	if wanted("DAILY_TOTAL_SUMMARY") {
		out.DailyTotalSummary = summary(totals, true, false)
	}
	if wanted("HISTORICAL_CORRECTIONS") {
		out.HistoricalCorrections = c.Corrections()
	}
	o.apply(out)
	ref := c.Employee()
	for _, p := range out.GetPunches() {
		p.Employee = ref
	}
	for _, s := range out.GetWorkedShifts() {
		s.Employee = ref
	}
	for _, e := range out.GetPayCodeEdits() {
		e.Employee = ref
	}
	for _, e := range out.GetExceptions() {
		e.Employee, e.ViolationInHours = ref, e.DifferenceInHours
	}
	for _, s := range out.GetScheduleShifts() {
		s.Employee = ref
	}
	for _, e := range out.GetSchedulePayCodeEdits() {
		e.Employee = ref
	}
	nameEmptyLists(out, wanted)
	return out
}

// parts are the lists of a timecard with the words that select them.
var parts = func() map[string]protoreflect.FieldDescriptor {
	out := map[string]protoreflect.FieldDescriptor{}
	fields := (&timekeepingv1.Timecard{}).ProtoReflect().Descriptor().Fields()
	for word, name := range map[string]protoreflect.Name{
		"PUNCHES": "punches", "WORKED_SHIFTS": "worked_shifts", "PAYCODE_EDITS": "pay_code_edits", "EXCEPTIONS": "exceptions",
		"SCHEDULE_SHIFT": "schedule_shifts", "SCHEDULE_PAYCODE_EDITS": "schedule_pay_code_edits", "TOTALS": "totals",
		"TOTAL_SUMMARY": "total_summary", "DAILY_TOTAL_SUMMARY": "daily_total_summary", "HISTORICAL_CORRECTIONS": "historical_corrections",
	} {
		out[word] = fields.ByName(name)
	}
	return out
}()

// nameEmptyLists names the selected lists that are empty, because clients read them without a check.
func nameEmptyLists(t *timekeepingv1.Timecard, wanted func(string) bool) {
	lists := t.ProtoReflect()
	for word, field := range parts {
		if wanted(word) && lists.Get(field).List().Len() == 0 {
			t.EmptyLists = append(t.EmptyLists, int32(field.Number()))
		}
	}
	slices.Sort(t.EmptyLists)
}

// inLanguage sets the names of the exceptions of timecards in the language of the caller.
func inLanguage(ctx context.Context, list ...*timekeepingv1.Timecard) error {
	var types []*timekeepingv1.TimecardExceptionType
	for _, timecard := range list {
		for _, e := range timecard.GetExceptions() {
			types = append(types, e.GetExceptionType())
		}
	}
	return nameExceptions(ctx, types...)
}

// summary adds up totals by pay code, and by day or job.
func summary(list []*timekeepingv1.WorkedTimeTotal, byDay, byJob bool) []*timekeepingv1.TimecardTotal {
	var sums rollup
	for _, w := range list {
		sums.add(w, byDay, true, byJob)
	}
	out := make([]*timekeepingv1.TimecardTotal, len(sums.list))
	for i, w := range sums.list {
		out[i] = total(w)
		out[i].IsCorrection, out[i].SignedOff = nil, nil
	}
	return out
}

// total converts a total to the form of summaries.
func total(w *timekeepingv1.WorkedTimeTotal) *timekeepingv1.TimecardTotal {
	out := &timekeepingv1.TimecardTotal{
		ApplyDate: w.GetDate(), Paycode: w.GetPayCode(), OrgJob: w.GetOrgJob(), SignedOff: proto.Bool(w.GetSignedOff()),
		IsCorrection: proto.Bool(w.GetKind() == timekeepingv1.TotalKind_TOTAL_KIND_HISTORICAL_CORRECTION),
	}
	switch {
	case w.GetDays() != "":
		out.AmountType, out.DaysAmount = amount.UnitDay, amount.Number(w.GetDays())
	case w.GetMoney() != "":
		out.AmountType, out.MoneyAmount = amount.UnitMoney, amount.Number(w.GetMoney())
	default:
		out.AmountType, out.HoursAmount = amount.UnitHour, amount.Hours(w.GetSeconds())
	}
	return out
}
