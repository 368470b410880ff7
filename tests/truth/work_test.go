package truth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// suite runs cases on one server.
type suite struct{ api scenario.API }

// newSuite creates the pay codes that the cases use.
func newSuite(t *testing.T, api scenario.API) *suite {
	t.Helper()
	for _, code := range []scenario.Object{
		{"name": "Overtime", "wageMultiplier": 1.5},
		{"name": "Double", "wageMultiplier": 2},
		{"name": "Half", "wageMultiplier": 0.5},
		{"name": "Over25", "wageMultiplier": 1.25},
		{"name": "Over50", "wageMultiplier": 1.5},
		{"name": "Night", "wageAddition": 2},
		{"name": "Holiday"},
		{"name": "Holiday work", "wageMultiplier": 2},
		{"name": "Salaried"},
		{"name": "Bonus", "unit": "MONEY"},
		{"name": "Salary", "unit": "MONEY"},
		{"name": "Piece work", "unit": "MONEY"},
		{"name": "Gift", "unit": "MONEY"},
	} {
		_, err := api.Call(t.Context(), http.MethodPost, "/v1/timekeeping/setup/pay_codes", code, nil)
		require.NoError(t, err)
	}
	return &suite{api}
}

// run returns what differs from the expectation of a case.
func (s *suite) run(ctx context.Context, c *Case) error {
	switch {
	case c.Work != nil:
		return s.runWork(ctx, c.Work)
	case c.Rounding != nil:
		return s.runRounding(ctx, c.Rounding)
	case c.Rotation != nil:
		return s.runRotation(ctx, c.Rotation)
	case c.Rest != nil:
		return s.runRest(ctx, c.Rest)
	case c.Holiday != nil:
		return s.runHoliday(ctx, c.Holiday)
	default:
		return s.runAFD(ctx, c.AFD)
	}
}

const local = "2006-01-02T15:04:05"

// parseTime parses a day and a time of day, with or without seconds.
func parseTime(day, clock string) (time.Time, error) {
	if len(clock) == len("15:04") {
		clock += ":00"
	}
	return time.Parse(local, day+"T"+clock)
}

// span is a shift by the clock.
type span struct {
	start, end time.Time
	job        string
}

func parseSpans(texts []string) ([]span, error) {
	out := make([]span, len(texts))
	for i, text := range texts {
		day, rest, _ := strings.Cut(text, " ")
		times, job, _ := strings.Cut(rest, " ")
		from, to, _ := strings.Cut(times, "-")
		start, err := parseTime(day, from)
		if err != nil {
			return nil, err
		}
		end, err := parseTime(day, to)
		if err != nil {
			return nil, err
		}
		if !end.After(start) {
			end = end.AddDate(0, 0, 1)
		}
		out[i] = span{start, end, job}
	}
	return out, nil
}

// hire creates an employee who is paid by a rule, and returns the id.
func (s *suite) hire(ctx context.Context, zone string, rule map[string]any, wage float64) (number string, id int64, err error) {
	number = scenario.Unique("truth")
	details := scenario.Object{"timeZoneName": zone}
	if zone == "" {
		details["timeZoneName"] = "UTC"
	}
	if rule != nil {
		version := scenario.Object{"effectiveDate": "1900-01-01", "flagAbsence": false}
		for name, value := range rule {
			version[name] = value
		}
		body := scenario.Object{"name": number, "effectiveVersions": []any{version}}
		if _, err := s.api.Call(ctx, http.MethodPost, "/v1/timekeeping/setup/pay_rules", body, nil); err != nil {
			return "", 0, err
		}
		details["payRuleName"] = number
	}
	assignment := scenario.Object{"jobAssignmentDetails": details}
	if wage != 0 {
		assignment["baseWageRates"] = []scenario.Object{{"hourlyRate": wage, "effectiveDate": "2000-01-01"}}
	}
	var created struct {
		PersonIdentity struct{ PersonKey int64 }
	}
	_, err = s.api.Call(ctx, http.MethodPost, "/v1/commons/persons", scenario.Object{
		"personInformation": scenario.Object{"person": scenario.Object{"personNumber": number, "firstName": "Tess", "lastName": "Truth", "hireDate": "2000-01-01"}},
		"jobAssignment":     assignment,
	}, &created)
	return number, created.PersonIdentity.PersonKey, err
}

// punch imports the punches of shifts, and single ones.
func (s *suite) punch(ctx context.Context, number string, spans []span, touches ...string) error {
	var punches []scenario.Object
	for _, touch := range touches {
		day, clock, _ := strings.Cut(touch, " ")
		at, err := parseTime(day, clock)
		if err != nil {
			return err
		}
		punches = append(punches, scenario.Object{"employee": scenario.Object{"qualifier": number}, "punchDtm": at.Format(local)})
	}
	for _, w := range spans {
		in := scenario.Object{"employee": scenario.Object{"qualifier": number}, "punchDtm": w.start.Format(local)}
		if w.job != "" {
			in["transfer"] = scenario.Object{"transferString": w.job + ";;"}
		}
		punches = append(punches, in, scenario.Object{"employee": scenario.Object{"qualifier": number}, "punchDtm": w.end.Format(local)})
	}
	if len(punches) == 0 {
		return nil
	}
	var reply struct {
		Punches []struct{ TKError any }
	}
	if _, err := s.api.Call(ctx, http.MethodPost, "/v1/timekeeping/punches/import", scenario.Object{"punches": punches}, &reply); err != nil {
		return err
	}
	for i, p := range reply.Punches {
		if p.TKError != nil {
			return fmt.Errorf("punch %d was refused: %v", i, p.TKError)
		}
	}
	return nil
}

// total is one of the totals of a timecard.
type total struct {
	ApplyDate   string
	PayCode     struct{ Qualifier string }
	HoursAmount float64
	WagesAmount float64
}

func (s *suite) totals(ctx context.Context, id int64, from, to string) ([]total, error) {
	var reply []struct{ ActualTotals []total }
	_, err := s.api.Call(ctx, http.MethodPost, "/v1/timekeeping/timecard_metrics/multi_read", scenario.Object{
		"select": []string{"ACTUAL_TOTALS"},
		"where": scenario.Object{"employeeSet": scenario.Object{
			"dateRange": scenario.Object{"startDate": from, "endDate": to}, "employees": scenario.Object{"ids": []int64{id}},
		}},
	}, &reply)
	if err != nil || len(reply) == 0 {
		return nil, err
	}
	return reply[0].ActualTotals, nil
}

func (s *suite) runWork(ctx context.Context, w *Work) error {
	number, id, err := s.hire(ctx, w.Zone, w.Rule, w.Wage)
	if err != nil {
		return err
	}
	if err := s.payJobs(ctx, number, w.Wages); err != nil {
		return err
	}
	spans, err := parseSpans(w.Shifts)
	if err != nil {
		return err
	}
	if err := s.schedule(ctx, number, w.Schedule); err != nil {
		return err
	}
	if err := s.punch(ctx, number, spans, w.Touches...); err != nil {
		return err
	}
	from, to := w.From, w.To
	if len(spans) > 0 {
		if from == "" {
			from = spans[0].start.Format(time.DateOnly)
		}
		if to == "" {
			to = spans[len(spans)-1].end.Format(time.DateOnly)
		}
	}
	if err := s.giveMoney(ctx, id, from, w.Money); err != nil {
		return err
	}
	if err := s.declareHolidays(ctx, w.Holidays); err != nil {
		return err
	}
	if err := s.awaitTotals(ctx, w, id, from, to); err != nil {
		return err
	}
	return s.compareCard(ctx, w, id, from, to)
}

// holidaysWithin is how long it may take until a holiday is known to the schedule.
const holidaysWithin = 10 * time.Second

// awaitTotals returns what differs from the expectation. With holidays it reads again until
// nothing differs, because the schedule learns of them by an event.
func (s *suite) awaitTotals(ctx context.Context, w *Work, id int64, from, to string) error {
	ctx, cancel := context.WithTimeout(ctx, holidaysWithin)
	defer cancel()
	for {
		list, err := s.totals(ctx, id, from, to)
		if err != nil {
			return err
		}
		differs := w.compare(list)
		if differs == nil || len(w.Holidays) == 0 {
			return differs
		}
		select {
		case <-ctx.Done():
			return differs
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// payJobs sets the employee's wages in jobs.
func (s *suite) payJobs(ctx context.Context, number string, wages map[string]float64) error {
	if len(wages) == 0 {
		return nil
	}
	var rules []scenario.Object
	for job, wage := range wages {
		rules = append(rules, scenario.Object{"job": scenario.Object{"qualifier": job}, "wage": fmt.Sprint(wage)})
	}
	_, err := s.api.Call(ctx, http.MethodPost, "/v1/commons/persons/wage_work_rules/multi_upsert", []scenario.Object{{
		"employee":                    scenario.Object{"qualifier": number},
		"effectiveDatedWageWorkRules": []scenario.Object{{"effectiveDate": "2000-01-01", "expirationDate": "3000-01-01", "wageWorkRules": rules}},
	}}, nil)
	return err
}

// giveMoney adds amounts of money to a day.
func (s *suite) giveMoney(ctx context.Context, id int64, day string, money map[string]float64) error {
	if len(money) == 0 {
		return nil
	}
	var edits []scenario.Object
	for code, sum := range money {
		edits = append(edits, scenario.Object{"paycode": scenario.Object{"qualifier": code}, "moneyAmount": sum, "applyDate": day})
	}
	_, err := s.api.Call(ctx, http.MethodPost, "/v1/timekeeping/timecard", scenario.Object{
		"where": scenario.Object{"employee": scenario.Object{"id": id}, "dateRange": scenario.Object{"startDate": day, "endDate": day}},
		"do":    scenario.Object{"payCodeEdits": scenario.Object{"added": edits}},
	}, nil)
	return err
}

// declareHolidays creates a holiday for each day.
func (s *suite) declareHolidays(ctx context.Context, days []string) error {
	for _, day := range days {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return err
		}
		date := scenario.Object{"year": at.Year(), "startDateTime": at.Format(local), "enabled": true}
		_, err = s.api.Call(ctx, http.MethodPost, "/v1/commons/setup/holidays/multi_upsert", []scenario.Object{{"name": scenario.Unique("holiday"), "dates": []any{date}}}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// compare returns what differs between totals and the expectation.
func (w *Work) compare(list []total) error {
	hours, days, wages := map[string]float64{}, map[string]map[string]float64{}, map[string]float64{}
	var pay float64
	for _, one := range list {
		if one.HoursAmount != 0 {
			hours[one.PayCode.Qualifier] += one.HoursAmount
			wages[one.PayCode.Qualifier] += one.WagesAmount
			if days[one.ApplyDate] == nil {
				days[one.ApplyDate] = map[string]float64{}
			}
			days[one.ApplyDate][one.PayCode.Qualifier] += one.HoursAmount
		}
		pay += one.WagesAmount
	}
	var errs []error
	if want := w.Expect.Hours; want != nil && !reflect.DeepEqual(roundAll(hours), roundAll(want)) {
		errs = append(errs, fmt.Errorf("hours are %v instead of %v", roundAll(hours), want))
	}
	for _, day := range sortedKeys(w.Expect.Days) {
		if want := w.Expect.Days[day]; !reflect.DeepEqual(roundAll(days[day]), roundAll(want)) {
			errs = append(errs, fmt.Errorf("hours of %s are %v instead of %v", day, roundAll(days[day]), want))
		}
	}
	if want := w.Expect.Pay; want != nil && round(pay, 2) != *want {
		errs = append(errs, fmt.Errorf("pay is %v instead of %v", round(pay, 2), *want))
	}
	for _, code := range sortedKeys(w.Expect.HourPay) {
		if want, got := w.Expect.HourPay[code], round(wages[code]/hours[code], 2); got != want {
			errs = append(errs, fmt.Errorf("an hour of %s pays %v instead of %v", code, got, want))
		}
	}
	return errors.Join(errs...)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func round(n float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(n*scale) / scale
}

// roundAll rounds to a thousandth of an hour, which is less than four seconds.
func roundAll(in map[string]float64) map[string]float64 {
	out := make(map[string]float64, len(in))
	for key, n := range in {
		out[key] = round(n, 3)
	}
	return out
}

// runRounding works on as many days as an interval has minutes. Punches in and out fall on
// each minute of the interval once.
func (s *suite) runRounding(ctx context.Context, r *Rounding) error {
	rounding := scenario.Object{"interval": r.Interval, "grace": r.Grace}
	number, id, err := s.hire(ctx, "", map[string]any{"inRounding": rounding, "outRounding": rounding}, 0)
	if err != nil {
		return err
	}
	var spans []span
	var worked time.Duration
	first := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	for i := range r.Interval {
		start := first.AddDate(0, 0, i).Add(time.Duration(i) * time.Minute)
		end := first.AddDate(0, 0, i).Add(8*time.Hour + time.Duration(r.Interval-1-i)*time.Minute)
		spans, worked = append(spans, span{start: start, end: end}), worked+end.Sub(start)
	}
	if err := s.punch(ctx, number, spans); err != nil {
		return err
	}
	list, err := s.totals(ctx, id, "2026-03-02", "2026-04-02")
	if err != nil {
		return err
	}
	var paid float64
	for _, one := range list {
		paid += one.HoursAmount
	}
	if round(paid, 3) != round(worked.Hours(), 3) {
		return fmt.Errorf("%v hours are paid, and %v were worked", paid, worked.Hours())
	}
	return nil
}
