package timecard

import (
	"context"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// selections are the parts of a timecard that can be selected, followed by those that only the
// reference product has.
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
	return h.readTimecard(ctx, req.GetSelect(), requested.InPeriodQuery(req), func(days civil.Range) (person.Person, error) {
		return h.finder.EmployeeOn(ctx, &commonv1.Ref{Id: req.EmployeeId, Qualifier: req.PersonNumber}, days)
	})
}

// GetEmployeeTimecard returns the timecard of the caller.
func (h *Timecards) GetEmployeeTimecard(ctx context.Context, req *timekeepingv1.GetEmployeeTimecardRequest) (*timekeepingv1.Timecard, error) {
	who, err := h.finder.Self(ctx)
	if err != nil {
		return nil, err
	}
	return h.readTimecard(ctx, req.GetSelect(), requested.InPeriodQuery(req).Own(), func(civil.Range) (person.Person, error) { return who, nil })
}

// readTimecard returns the selected parts of the timecard of the employee whom find returns for the
// days of dates.
func (h *Timecards) readTimecard(ctx context.Context, selected []string, dates requested.Dates,
	find func(civil.Range) (person.Person, error),
) (*timekeepingv1.Timecard, error) {
	var list []string
	for _, text := range selected {
		for word := range strings.SplitSeq(text, ",") {
			if !slices.Contains(selections, strings.ToUpper(word)) {
				return nil, timecardfault.UnknownSelection(word, selections)
			}
			list = append(list, word)
		}
	}
	days, err := h.finder.Days(ctx, dates)
	if err != nil {
		return nil, err
	}
	who, err := find(days)
	if err != nil {
		return nil, err
	}
	timecards, err := h.timecards.Read(ctx, []int64{who.ID}, calculation.Window{Days: days, Bodies: true})
	if err != nil {
		return nil, err
	}
	out := show(timecards[0], selection(list), options{})
	return out, inLanguage(ctx, out)
}
