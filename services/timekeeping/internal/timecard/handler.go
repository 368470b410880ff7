package timecard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// Timecards serves TimecardService.
type Timecards struct {
	timekeepingv1.UnsafeTimecardServiceServer
	reader  *Reader
	persons *person.Directory
	commons Commons
}

// Commons is what timecards ask of commons.
type Commons interface {
	ReadSymbolicPeriod(context.Context, *commonsv1.ReadSymbolicPeriodRequest, ...grpc.CallOption) (*commonsv1.SymbolicPeriodSpan, error)
	ExecuteHyperfind(context.Context, *commonsv1.ExecuteHyperfindRequest, ...grpc.CallOption) (*commonsv1.HyperfindResponse, error)
}

var _ timekeepingv1.TimecardServiceServer = (*Timecards)(nil)

// NewTimecards returns a Timecards of the timecards of a reader.
func NewTimecards(reader *Reader, persons *person.Directory, commons Commons) *Timecards {
	return &Timecards{reader: reader, persons: persons, commons: commons}
}

// MultiReadTimecards returns the timecards of employees on some days.
func (h *Timecards) MultiReadTimecards(ctx context.Context, req *timekeepingv1.MultiReadTimecardsRequest) (*timekeepingv1.TimecardList, error) {
	set, path, err := setOf(req.GetWhere())
	if err != nil {
		return nil, err
	}
	options, err := optionsOf(req.GetMultiReadOptions())
	if err != nil {
		return nil, err
	}
	cards, err := h.cards(ctx, path, set, false)
	if err != nil {
		return nil, err
	}
	wanted := selection(req.GetSelect())
	out := &timekeepingv1.TimecardList{Timecards: make([]*timekeepingv1.Timecard, len(cards))}
	for i, c := range cards {
		out.Timecards[i] = c.show(wanted, options)
	}
	return out, nil
}

// setOf returns whose timecards are asked for, in either dialect, and where it stands in
// the request.
func setOf(where *timekeepingv1.TimecardsWhere) (*timekeepingv1.TimecardEmployeeSet, string, error) {
	set, path := &timekeepingv1.TimecardEmployeeSet{Employees: where.GetEmployees(), DateRange: where.GetDateRange(), HyperFind: where.GetHyperFind()}, "where"
	if where.GetEmployeeSet() != nil {
		if where.GetEmployees() != nil || where.GetDateRange() != nil || where.GetHyperFind() != nil {
			return nil, "", timecardfault.Invalid("where must have employees and dateRange, or employeeSet with both")
		}
		set, path = where.GetEmployeeSet(), "where.employeeSet"
	}
	return set, path, nil
}

// cards reads the timecards that a request names, with wages if they are wanted.
func (h *Timecards) cards(ctx context.Context, path string, set *timekeepingv1.TimecardEmployeeSet, wages bool) ([]*card, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	days, err := h.daysOf(ctx, path, set.GetDateRange())
	if err != nil {
		return nil, err
	}
	list := set.GetEmployees()
	if set.GetHyperFind() != nil {
		if list != nil {
			return nil, timecardfault.Invalid("%s must have employees or hyperFind, not both", path)
		}
		if list, err = h.found(ctx, set.GetHyperFind(), days); err != nil || len(list.GetIds()) == 0 {
			return nil, err
		}
	}
	keys, err := keysOf(path+".employees", list)
	if err != nil {
		return nil, err
	}
	if n := len(keys) * days.Days(); n > maxEmployeeDays {
		return nil, fault.New(timecardfault.CodeLimit, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("%d employees on %d days are %d employees * days; at most %d are allowed.", len(keys), days.Days(), n, maxEmployeeDays))
	}
	found, err := h.persons.Find(ctx, tenantID, keys)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, key := range keys {
		who, ok := found[key]
		if !ok {
			return nil, unknownEmployee(key)
		}
		if !slices.Contains(ids, who.ID) {
			ids = append(ids, who.ID)
		}
	}
	return h.reader.read(ctx, tenantID, ids, window{days: days, bodies: true, wages: wages})
}

// found returns the employees whom a hyperfind finds on some days.
func (h *Timecards) found(ctx context.Context, query *commonv1.Ref, days civil.Range) (*commonv1.RefList, error) {
	response, err := h.commons.ExecuteHyperfind(ctx, &commonsv1.ExecuteHyperfindRequest{
		Hyperfind: query, Threshold: proto.Int64(maxEmployees),
		DateRange: &commonv1.DateRange{StartDate: days.From.String(), EndDate: (days.To - 1).String()},
	})
	if err != nil {
		f := fault.FromError(err)
		switch f.Status {
		case http.StatusRequestEntityTooLarge:
			return nil, fault.New(timecardfault.CodeLimit, f.Status, fmt.Sprintf("where.hyperFind finds more than %d employees.", maxEmployees)).WithCause(err)
		case http.StatusBadRequest, http.StatusNotFound:
			return nil, fault.New(timecardfault.CodeReference, http.StatusBadRequest, "where.hyperFind: "+f.Message).WithCause(err)
		}
		return nil, err
	}
	out := &commonv1.RefList{}
	for _, ref := range response.GetResult().GetRefs().GetRefs() {
		out.Ids = append(out.Ids, ref.GetId())
	}
	return out, nil
}

const (
	// maxRange bounds the days of a request.
	maxRange = 366
	// maxEmployeeDays bounds the employees of a request multiplied by its days: all of
	// what they have on them is in memory at once.
	maxEmployeeDays = 30_000
)

// daysOf returns the days of a range.
func (h *Timecards) daysOf(ctx context.Context, path string, r *commonv1.DateRange) (civil.Range, error) {
	start, end := r.GetStartDate(), r.GetEndDate()
	switch {
	case r.GetSymbolicPeriod() != nil && (start != "" || end != ""):
		return civil.Range{}, timecardfault.Invalid("%s.dateRange must have dates or a symbolicPeriod, not both", path)
	case r.GetSymbolicPeriod() != nil:
		span, err := h.symbolic(ctx, r.GetSymbolicPeriod())
		if err != nil {
			return civil.Range{}, err
		}
		start, end = span.GetStartDate(), span.GetEndDate()
	case start == "" || end == "":
		return civil.Range{}, fault.Invalid(timecardfault.CodeNoRange, path+".dateRange needs startDate and endDate, or a symbolicPeriod.")
	}
	first, err := civil.ParseDate(start)
	if err != nil {
		return civil.Range{}, fault.Invalid(fault.CodeDate, path+".dateRange.startDate: "+err.Error()+".")
	}
	last, err := civil.ParseDate(end)
	if err != nil {
		return civil.Range{}, fault.Invalid(fault.CodeDate, path+".dateRange.endDate: "+err.Error()+".")
	}
	days := civil.Through(first, last)
	switch {
	case days.Empty():
		return days, fault.Invalid(timecardfault.CodeNoRange, path+".dateRange.endDate is before startDate.")
	case first < civil.Beginning+daysBack+daysBefore || last > civil.Forever-daysAfter:
		return days, timecardfault.Invalid("%s.dateRange must be from %s to %s", path, civil.Beginning+daysBack+daysBefore, civil.Forever-daysAfter)
	case days.Days() > maxRange:
		return days, fault.New(timecardfault.CodeLimit, http.StatusRequestEntityTooLarge, fmt.Sprintf("%s.dateRange has %d days; at most %d are allowed.", path, days.Days(), maxRange))
	}
	return days, nil
}

// symbolic returns the days of a symbolic period.
func (h *Timecards) symbolic(ctx context.Context, period *commonv1.Ref) (*commonsv1.SymbolicPeriodSpan, error) {
	name := period.GetQualifier()
	if period.Id != nil {
		name = strconv.FormatInt(period.GetId(), 10)
	}
	span, err := h.commons.ReadSymbolicPeriod(ctx, &commonsv1.ReadSymbolicPeriodRequest{
		Where: &commonsv1.SymbolicPeriodWhere{CurrentTenant: proto.Bool(true), SymbolicPeriodId: &name},
	})
	if err != nil {
		if f := fault.FromError(err); f.Status == http.StatusBadRequest || f.Status == http.StatusNotFound {
			return nil, fault.New(timecardfault.CodePeriod, http.StatusBadRequest, fmt.Sprintf("There is no symbolic period %.100q.", name)).WithCause(err)
		}
		return nil, err
	}
	return span, nil
}

// selection says whether a word is selected: all are when none is named.
func selection(list []string) func(string) bool {
	return func(word string) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, word) })
	}
}

// show makes a timecard of what is wanted.
func (c *card) show(wanted func(string) bool, o options) *timekeepingv1.Timecard {
	out := &timekeepingv1.Timecard{Employee: c.ref(), StartDate: c.days.From.String(), EndDate: (c.days.To - 1).String()}
	if c.through != nil {
		out.SignedOffThroughDate = c.through.String()
	}
	var totals []*timekeepingv1.WorkedTimeTotal
	for _, d := range c.nonEmptyDays() {
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
		for _, k := range c.corrections {
			if c.days.Contains(k.apply) {
				out.HistoricalCorrections = append(out.HistoricalCorrections, k.toProto(c))
			}
		}
	}
	o.apply(out)
	ref := c.ref()
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
		e.Employee = ref
	}
	for _, s := range out.GetScheduleShifts() {
		s.Employee = ref
	}
	for _, e := range out.GetSchedulePayCodeEdits() {
		e.Employee = ref
	}
	return out
}

// summary adds totals up by pay code, and by day or job.
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

// UpdateTimecard changes the timecard of one employee.
func (h *Timecards) UpdateTimecard(ctx context.Context, req *timekeepingv1.UpdateTimecardRequest) (*timekeepingv1.Timecard, error) {
	tenantID, who, err := h.who(ctx, req.GetWhere().GetEmployee())
	if err != nil {
		return nil, err
	}
	return h.updated(ctx, tenantID, who, req)
}

// updated changes the timecard of somebody, and returns the days that are asked for.
func (h *Timecards) updated(ctx context.Context, tenantID int64, who person.Person, req *timekeepingv1.UpdateTimecardRequest) (*timekeepingv1.Timecard, error) {
	dates := req.GetWhere().GetDateRange()
	days, err := h.daysOf(ctx, "where", &commonv1.DateRange{StartDate: dateOnly(dates.GetStartDate()), EndDate: dateOnly(dates.GetEndDate()), SymbolicPeriod: dates.GetSymbolicPeriod()})
	if err != nil {
		return nil, err
	}
	if err := h.update(ctx, tenantID, who, req.GetDo()); err != nil && !errors.Is(err, errOnlyValidated) {
		return nil, err
	}
	cards, err := h.reader.read(ctx, tenantID, []int64{who.ID}, window{days: days, bodies: true})
	if err != nil {
		return nil, err
	}
	return cards[0].show(selection(nil), options{}), nil
}

// dateOnly cuts the time of a date-time.
func dateOnly(text string) string {
	date, _, _ := strings.Cut(text, "T")
	return date
}

// errOnlyValidated rolls a change back that was only to be checked.
var errOnlyValidated = errors.New("only validated")

// update applies the changes of a timecard in one transaction.
func (h *Timecards) update(ctx context.Context, tenantID int64, who person.Person, do *timekeepingv1.TimecardChanges) error {
	plan := &plan{reader: h.reader, tenantID: tenantID, who: who, days: changedDays{}}
	if err := plan.read(ctx, do); err != nil {
		return err
	}
	return h.reader.change(ctx, tenantID, plan.days, func(ctx context.Context, tx pgx.Tx) error {
		if err := plan.apply(ctx, tx); err != nil {
			return err
		}
		if do.GetOnlyValidate() {
			return errOnlyValidated
		}
		return nil
	})
}
