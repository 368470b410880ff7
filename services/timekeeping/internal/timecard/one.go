package timecard

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// selections are what can be selected of a timecard, and after them what only the reference
// product has.
var selections = []string{
	"PUNCHES", "WORKED_SHIFTS", "PAYCODE_EDITS", "EXCEPTIONS", "TOTALS", "TOTAL_SUMMARY", "DAILY_TOTAL_SUMMARY", "SCHEDULE_SHIFT",
	"SCHEDULE_PAYCODE_EDITS", "HISTORICAL_CORRECTIONS",
	"HOURS_WORKED", "HOLIDAY_CREDITS", "EXTENDED_EXCEPTIONS", "ITEM_TOTAL_SUMMARY", "PROCESSED_SEGMENTS", "TOTALIZATION_STATUS",
	"OVERTIME_SUMMARY", "OVERTIME_DETAILS", "MOVE_AMOUNTS", "HAS_PENDING_CHANGES",
}

// GetTimecard returns the timecard of one employee.
func (h *Timecards) GetTimecard(ctx context.Context, req *timekeepingv1.GetTimecardRequest) (*timekeepingv1.Timecard, error) {
	if req.EmployeeId != nil && req.PersonNumber != nil {
		return nil, timecardfault.Invalid("employee_id and person_number must not both be given")
	}
	tenantID, who, err := h.who(ctx, &commonv1.Ref{Id: req.EmployeeId, Qualifier: req.PersonNumber})
	if err != nil {
		return nil, err
	}
	return h.one(ctx, tenantID, who, req)
}

// GetEmployeeTimecard returns the timecard of the caller.
func (h *Timecards) GetEmployeeTimecard(ctx context.Context, req *timekeepingv1.GetEmployeeTimecardRequest) (*timekeepingv1.Timecard, error) {
	tenantID, who, err := h.self(ctx)
	if err != nil {
		return nil, err
	}
	return h.one(ctx, tenantID, who, &timekeepingv1.GetTimecardRequest{
		StartDate: req.GetStartDate(), EndDate: req.GetEndDate(), SymbolicPeriodId: req.GetSymbolicPeriodId(), Select: req.GetSelect(),
	})
}

func (h *Timecards) one(ctx context.Context, tenantID int64, who person.Person, req *timekeepingv1.GetTimecardRequest) (*timekeepingv1.Timecard, error) {
	var list []string
	for _, text := range req.GetSelect() {
		for word := range strings.SplitSeq(text, ",") {
			if !slices.Contains(selections, strings.ToUpper(word)) {
				return nil, fault.Invalid(timecardfault.CodeSelect, "select must be of "+strings.Join(selections, ", ")+".")
			}
			list = append(list, word)
		}
	}
	days, err := h.daysOf(ctx, "query", frame(req.GetSymbolicPeriodId(), req.GetStartDate(), req.GetEndDate()))
	if err != nil {
		return nil, err
	}
	cards, err := h.reader.read(ctx, tenantID, []int64{who.ID}, window{days: days, bodies: true})
	if err != nil {
		return nil, err
	}
	return cards[0].show(selection(list), options{}), nil
}

// frame makes a range of days of what a query names.
func frame(period, start, end string) *commonv1.DateRange {
	dates := &commonv1.DateRange{StartDate: start, EndDate: end}
	if period == "" {
		return dates
	}
	dates.SymbolicPeriod = &commonv1.Ref{Qualifier: &period}
	if id, err := strconv.ParseInt(period, 10, 64); err == nil {
		dates.SymbolicPeriod = &commonv1.Ref{Id: &id}
	}
	return dates
}

// who finds an employee whom the caller sees.
func (h *Timecards) who(ctx context.Context, ref *commonv1.Ref) (int64, person.Person, error) {
	var none person.Person
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return 0, none, err
	}
	key, err := keyOf(ref)
	if err != nil {
		return 0, none, err
	}
	found, err := h.persons.Find(ctx, tenantID, []person.Key{key})
	if err != nil {
		return 0, none, err
	}
	who, ok := found[key]
	if !ok {
		return 0, none, unknownEmployee(key)
	}
	return tenantID, who, nil
}

// self finds the caller.
func (h *Timecards) self(ctx context.Context) (int64, person.Person, error) {
	p, ok := authn.From(ctx)
	if !ok || p.PersonID <= 0 {
		return 0, person.Person{}, fault.Invalid(timecardfault.CodeOwn, "The user is no employee, and has no timecard of their own.")
	}
	return h.who(ctx, &commonv1.Ref{Id: proto.Int64(p.PersonID)})
}

// over returns an error unless all days of an employee are over.
func (r *Reader) over(who person.Person, days civil.Range) error {
	zone, err := r.zones.Get(who.TimeZone)
	if err != nil {
		return err
	}
	last := days.To - 1
	if today := zone.At(r.now()).Date; last >= today {
		return fault.Invalid(timecardfault.CodeNotOver, last.String()+" is not over: today is "+today.String()+".")
	}
	return nil
}
