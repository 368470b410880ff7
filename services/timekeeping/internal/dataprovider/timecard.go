package dataprovider

import (
	"context"
	"maps"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// The data that elements of TIMECARD may need.
const (
	needTimecards uint64 = 1 << iota
	needWages
	needPayPeriods
)

// timecard is the loaded timecard data of an employee.
type timecard struct {
	calculation.View
	// payPeriods are the previous, the current and the next pay period.
	payPeriods []civil.Range
}

func newTimecards(reader *calculation.Reader, periods Periods) *dataelement.Table[timecard] {
	return &dataelement.Table[timecard]{
		Name: "TIMECARD", Permission: "timekeeping.timecard.read", Kind: datav1.RowKind_ROW_KIND_EMPLOYEE,
		MaxRowDays: maxEmployeeDays, Entries: slices.Concat(timecardElements(), payElements(), payPeriodElements()),
		Load: func(ctx context.Context, ids []int64, days civil.Range, needs uint64) ([]*timecard, error) {
			return loadTimecards(ctx, reader, periods, ids, days, needs)
		},
	}
}

// loadTimecards reads the data that the elements need, in the order of the ids. It reads each
// timecard once.
func loadTimecards(ctx context.Context, reader *calculation.Reader, periods Periods, ids []int64, days civil.Range, needs uint64) ([]*timecard, error) {
	var payPeriods []civil.Range
	if needs&needPayPeriods != 0 {
		var err error
		if payPeriods, err = readPayPeriods(ctx, periods); err != nil {
			return nil, err
		}
	}
	found := make(map[int64]*timecard, len(ids))
	for _, id := range ids {
		found[id] = &timecard{payPeriods: payPeriods}
	}
	if needs&(needTimecards|needWages) != 0 {
		wages := needs&needWages != 0 && calculation.SeesWages(ctx)
		for part := range slices.Chunk(slices.Sorted(maps.Keys(found)), calculation.MaxEmployees) {
			timecards, err := reader.Views(ctx, part, days, wages)
			if err != nil {
				return nil, err
			}
			for i, id := range part {
				found[id].View = *timecards[i]
			}
		}
	}
	out := make([]*timecard, len(ids))
	for i, id := range ids {
		out[i] = found[id]
	}
	return out, nil
}

// forEachDay calls fn with the days of a timecard that are in a period.
func forEachDay(s *timecard, days civil.Range, fn func(*timekeepingv1.TimecardDay)) {
	for i, d := range s.Days {
		if days.Contains(s.Dates[i]) {
			fn(d)
		}
	}
}

func timecardEntry(key, label, doc string, kind dataelement.Type, needs uint64, of func(*timecard, at) value) dataelement.Entry[timecard] {
	return dataelement.Entry[timecard]{
		Key: key, Label: label, Doc: doc, Type: kind, Categories: []string{"EMPLOYEE", "TIMEKEEPING"}, Series: true, Needs: needs, Value: of,
	}
}

func timecardElements() []dataelement.Entry[timecard] {
	entry := func(key, label, doc string, kind dataelement.Type, of func(*timecard, at) value) dataelement.Entry[timecard] {
		return timecardEntry(key, label, doc, kind, needTimecards, of)
	}
	const correction = timekeepingv1.TotalKind_TOTAL_KIND_HISTORICAL_CORRECTION
	hours := func(key, label, doc string, counts func(timekeepingv1.TotalKind) bool) dataelement.Entry[timecard] {
		return entry(key, label, doc, dataelement.Number, func(s *timecard, at at) value {
			var seconds int64
			forEachDay(s, at.Days, func(d *timekeepingv1.TimecardDay) {
				for _, t := range d.GetTotals() {
					if counts(t.GetKind()) {
						seconds += t.GetSeconds()
					}
				}
			})
			return dataelement.Decimal(float64(seconds) / 3600)
		})
	}
	amounts := func(key, label, doc string, of func(*timekeepingv1.WorkedTimeTotal) string) dataelement.Entry[timecard] {
		return entry(key, label, doc, dataelement.Number, func(s *timecard, at at) value {
			var texts []string
			forEachDay(s, at.Days, func(d *timekeepingv1.TimecardDay) {
				for _, t := range d.GetTotals() {
					texts = append(texts, of(t))
				}
			})
			return dataelement.Decimal(amount.Sum(texts))
		})
	}
	exceptions := func(key, label, doc string, counts func(worktime.Fault) bool) dataelement.Entry[timecard] {
		return entry(key, label, doc, dataelement.Long, func(s *timecard, at at) value {
			var n int64
			forEachDay(s, at.Days, func(d *timekeepingv1.TimecardDay) {
				for _, e := range d.GetExceptions() {
					if counts(worktime.Fault(e.GetExceptionType().GetName())) {
						n++
					}
				}
			})
			return dataelement.Whole(n)
		})
	}
	moment := func(key, label, doc string, of func(found *string, s *timekeepingv1.WorkedShift)) dataelement.Entry[timecard] {
		return entry(key, label, doc, dataelement.DateTime, func(s *timecard, at at) value {
			var found string
			forEachDay(s, at.Days, func(d *timekeepingv1.TimecardDay) {
				for _, shift := range d.GetWorkedShifts() {
					of(&found, shift)
				}
			})
			local, err := civil.ParseDateTime(found)
			if err != nil {
				return value{}
			}
			return dataelement.Moment(int64(local.Date)*civil.SecondsPerDay + int64(local.Seconds))
		})
	}
	any := func(timekeepingv1.TotalKind) bool { return true }
	withoutCorrections := func(kind timekeepingv1.TotalKind) bool { return kind != correction }
	shifts := func(kind timekeepingv1.TotalKind) bool { return kind == timekeepingv1.TotalKind_TOTAL_KIND_WORKED }
	days := func(t *timekeepingv1.WorkedTimeTotal) string { return t.GetDays() }
	return []dataelement.Entry[timecard]{
		hours("TIMECARD_TRANS_ACTUAL_HOURS", "Actual hours", "The hours of all totals.", any),
		hours("TK_DAILY_ACTUAL_DURATION_IN_HOURS", "Daily duration in hours", "The hours of all totals of the days.", any),
		hours("TK_SHIFT_ACTUAL_DURATION_IN_HOURS", "Shift duration in hours", "The hours between punches, without breaks.", shifts),
		hours("TK_GENIE_ACTUAL_TOTAL_HOURS_EXCLUDE_CORRECTIONS", "Actual hours without corrections", "The hours of all totals but historical corrections.", withoutCorrections),
		hours("TIMECARD_TRANS_CORRECTION_HOURS", "Correction hours", "The hours of historical corrections.", func(kind timekeepingv1.TotalKind) bool { return kind == correction }),
		amounts("TIMECARD_TRANS_ACTUAL_DAYS", "Actual days", "The days that were entered.", days),
		amounts("TK_DAILY_ACTUAL_TOTAL_DAYS", "Daily total days", "The days that were entered for the days.", days),
		amounts("TIMECARD_TRANS_MONEY_AMOUNT", "Money amount", "The money that was entered.", func(t *timekeepingv1.WorkedTimeTotal) string { return t.GetMoney() }),
		moment("TIMECARD_TRANS_START_DATETIME", "First start", "When the first shift begins, on the clock where it does.", func(found *string, s *timekeepingv1.WorkedShift) {
			if *found == "" {
				*found = s.GetStartDateTime()
			}
		}),
		moment("TIMECARD_TRANS_END_DATETIME", "Last end", "When the last shift ends, on the clock where it does.", func(found *string, s *timekeepingv1.WorkedShift) {
			if s.GetEndDateTime() != "" {
				*found = s.GetEndDateTime()
			}
		}),
		entry("TK_ACTUAL_SIGNED_OFF", "Signed off", "Whether all days are signed off.", dataelement.Boolean, func(s *timecard, at at) value {
			return dataelement.Bool(s.Through != nil && at.Last() <= *s.Through)
		}),
		entry("TK_MANAGER_SIGNOFF_THRU_DATE", "Signed off through date", "The last day that is signed off.", dataelement.Date, func(s *timecard, _ at) value {
			if s.Through == nil {
				return value{}
			}
			return dataelement.Day(*s.Through)
		}),
		entry("TK_ON_PREMISE", "On premises", "Whether the employee is at work now.", dataelement.Boolean, func(s *timecard, at at) value {
			running := false
			forEachDay(s, at.Days, func(d *timekeepingv1.TimecardDay) {
				for _, shift := range d.GetWorkedShifts() {
					running = running || shift.GetIsOpen()
				}
			})
			return dataelement.Bool(running)
		}),
		exceptions("TK_EXCEPTION_COUNT", "Exceptions", "How many exceptions there are.", func(worktime.Fault) bool { return true }),
		exceptions("TK_MISSED_PUNCH_COUNT", "Missed punches", "How many punches are missing.", func(f worktime.Fault) bool {
			return f == worktime.MissedIn || f == worktime.MissedOut
		}),
	}
}
