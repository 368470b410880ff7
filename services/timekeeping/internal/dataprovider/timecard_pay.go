package dataprovider

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

// Periods resolve symbolic periods; commons implements it.
type Periods interface {
	ReadSymbolicPeriod(context.Context, *commonsv1.ReadSymbolicPeriodRequest, ...grpc.CallOption) (*commonsv1.SymbolicPeriodSpan, error)
}

// payPeriods are the symbolic periods that elements show.
var payPeriods = []struct{ symbolicID, key, label string }{
	{"Previous_Payperiod", "TK_PREV_PAYPERIOD", "Previous pay period"},
	{"Current_Payperiod", "TK_CURR_PAYPERIOD", "Current pay period"},
	{"Next_Payperiod", "TK_NEXT_PAYPERIOD", "Next pay period"},
}

func readPayPeriods(ctx context.Context, periods Periods) ([]civil.Range, error) {
	out := make([]civil.Range, len(payPeriods))
	for i, p := range payPeriods {
		span, err := periods.ReadSymbolicPeriod(ctx, &commonsv1.ReadSymbolicPeriodRequest{
			Where: &commonsv1.SymbolicPeriodWhere{CurrentTenant: proto.Bool(true), SymbolicPeriodId: proto.String(p.symbolicID)},
		})
		if err != nil {
			return nil, fmt.Errorf("read the symbolic period %s: %w", p.symbolicID, err)
		}
		first, err := civil.ParseDate(span.GetStartDate())
		if err != nil {
			return nil, err
		}
		last, err := civil.ParseDate(span.GetEndDate())
		if err != nil {
			return nil, err
		}
		out[i] = civil.Through(first, last)
	}
	return out, nil
}

func payPeriodElements() []dataelement.Entry[timecard] {
	var out []dataelement.Entry[timecard]
	for i, p := range payPeriods {
		end := func(of func(civil.Range) civil.Date) func(*timecard, at) value {
			return func(s *timecard, _ at) value {
				if i >= len(s.payPeriods) {
					return value{}
				}
				return dataelement.Day(of(s.payPeriods[i]))
			}
		}
		out = append(out,
			timecardEntry(p.key+"_STARTDATE", p.label+" start", "The first day of the pay period.", dataelement.Date, needPayPeriods,
				end(func(r civil.Range) civil.Date { return r.From })),
			timecardEntry(p.key+"_ENDDATE", p.label+" end", "The last day of the pay period.", dataelement.Date, needPayPeriods,
				end(func(r civil.Range) civil.Date { return r.To - 1 })))
	}
	return out
}

// payElements return the elements that show the pay of totals, and their jobs and days.
func payElements() []dataelement.Entry[timecard] {
	const worked = timekeepingv1.TotalKind_TOTAL_KIND_WORKED
	any := func(timekeepingv1.TotalKind) bool { return true }
	shifts := func(kind timekeepingv1.TotalKind) bool { return kind == worked }
	wages := func(key, label, doc string, counts func(timekeepingv1.TotalKind) bool) dataelement.Entry[timecard] {
		entry := timecardEntry(key, label, doc, dataelement.Number, needWages, func(s *timecard, at at) value {
			var texts []string
			eachTotal(s, at, func(_ civil.Date, t *timekeepingv1.WorkedTimeTotal) {
				if t.GetWages() != "" && counts(t.GetKind()) {
					texts = append(texts, t.GetWages())
				}
			})
			if len(texts) == 0 {
				return value{}
			}
			return dataelement.Decimal(amount.Sum(texts))
		})
		entry.Wage = true
		return entry
	}
	first := func(key, label, doc string, counts func(timekeepingv1.TotalKind) bool) dataelement.Entry[timecard] {
		return timecardEntry(key, label, doc, dataelement.Date, needTimecards, func(s *timecard, at at) (found value) {
			eachTotal(s, at, func(day civil.Date, t *timekeepingv1.WorkedTimeTotal) {
				if found == (value{}) && counts(t.GetKind()) {
					found = dataelement.Day(day)
				}
			})
			return found
		})
	}
	rate := func(key, label, doc string, of func(*timekeepingv1.PayCode) float64) dataelement.Entry[timecard] {
		return timecardEntry(key, label, doc, dataelement.Number, needTimecards, func(s *timecard, at at) (found value) {
			eachTotal(s, at, func(_ civil.Date, t *timekeepingv1.WorkedTimeTotal) {
				if code := s.PayCode(t.GetPayCode()); code != nil && found == (value{}) {
					found = dataelement.Decimal(of(code))
				}
			})
			return found
		})
	}
	return []dataelement.Entry[timecard]{
		wages("TIMECARD_TRANS_ACTUAL_WAGES", "Actual wages", "The wages of all totals, where wages are known.", any),
		wages("TK_DAILY_ACTUAL_TOTAL_WAGES", "Daily total wages", "The wages of all totals of the days, where wages are known.", any),
		wages("TK_SHIFT_ACTUAL_TOTAL_WAGES", "Shift total wages", "The wages of the hours between punches, where wages are known.", shifts),
		first("TK_ACTUAL_APPLY_DATE", "Apply date", "The first day with a total.", any),
		first("TK_DAILY_ACTUAL_APPLY_DATE", "Daily apply date", "The first day with a total.", any),
		first("TK_SHIFT_ACTUAL_APPLY_DATE", "Shift apply date", "The first day with time between punches.", shifts),
		timecardEntry("TK_SHIFT_ACTUAL_TOTAL_DAYS", "Shift total days", "On how many days there is time between punches.", dataelement.Long, needTimecards,
			func(s *timecard, at at) value {
				days := map[civil.Date]bool{}
				eachTotal(s, at, func(day civil.Date, t *timekeepingv1.WorkedTimeTotal) {
					if shifts(t.GetKind()) {
						days[day] = true
					}
				})
				return dataelement.Whole(int64(len(days)))
			}),
		timecardEntry("TK_ACTUAL_JOB_TRANSFER", "Job transfer", "The first job of a total that is not the primary one of its day.", dataelement.String, needTimecards,
			func(s *timecard, at at) (found value) {
				eachTotal(s, at, func(day civil.Date, t *timekeepingv1.WorkedTimeTotal) {
					if job := t.GetOrgJob().GetQualifier(); job != "" && found == (value{}) && job != s.Primary(day) {
						found = dataelement.Text(job)
					}
				})
				return found
			}),
		rate("TK_ACTUAL_WAGE_MULTIPLIER", "Wage multiplier", "The wage multiplier of the pay code of the first total; 1 unless it has one.", func(p *timekeepingv1.PayCode) float64 {
			if p.WageMultiplier == nil {
				return 1
			}
			return p.GetWageMultiplier()
		}),
		rate("TK_ACTUAL_WAGE_ADD", "Wage addition", "What the pay code of the first total adds to the wage of an hour.", (*timekeepingv1.PayCode).GetWageAddition),
		timecardEntry("TK_AVG_ACTUAL_AMOUNT", "Average hours", "The hours of all totals, by the days that have some.", dataelement.Number, needTimecards,
			func(s *timecard, at at) value {
				days, seconds := map[civil.Date]bool{}, int64(0)
				eachTotal(s, at, func(day civil.Date, t *timekeepingv1.WorkedTimeTotal) {
					days[day] = true
					seconds += t.GetSeconds()
				})
				if len(days) == 0 {
					return value{}
				}
				return dataelement.Decimal(float64(seconds) / 3600 / float64(len(days)))
			}),
		timecardEntry("TK_LAST_TOTAL_TIME", "Last totalled", "When the totals were calculated, on the employee's clock: now.", dataelement.DateTime, needTimecards,
			func(s *timecard, _ at) value {
				if s.Calculated == (civil.DateTime{}) {
					return value{}
				}
				return dataelement.Moment(int64(s.Calculated.Date)*civil.SecondsPerDay + int64(s.Calculated.Seconds))
			}),
	}
}

// eachTotal calls fn with the totals of a period, day by day.
func eachTotal(s *timecard, at at, fn func(civil.Date, *timekeepingv1.WorkedTimeTotal)) {
	for i, d := range s.Days {
		if at.Days.Contains(s.Dates[i]) {
			for _, t := range d.GetTotals() {
				fn(s.Dates[i], t)
			}
		}
	}
}
