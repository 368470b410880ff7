package truth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// unroll returns a cycle with one letter a day.
func unroll(cycle string) (string, error) {
	var out strings.Builder
	for _, part := range strings.Fields(cycle) {
		n, err := strconv.Atoi(part[1:])
		if err != nil {
			return "", fmt.Errorf("%q is not a letter and a number of days", part)
		}
		out.WriteString(strings.Repeat(part[:1], n))
	}
	return out.String(), nil
}

// runRotation reads the shifts of one cycle of each team.
func (s *suite) runRotation(ctx context.Context, r *Rotation) error {
	cycle, err := unroll(r.Cycle)
	if err != nil {
		return err
	}
	shifts, letters := map[string]scenario.Object{}, map[string]string{}
	for letter, times := range r.Shifts {
		start, end, _ := strings.Cut(times, "-")
		shifts[letter], letters[start+"-"+end] = scenario.Shift(letter, start, end, end <= start), letter
	}
	first, err := time.Parse(time.DateOnly, r.From)
	if err != nil {
		return err
	}
	last := first.AddDate(0, 0, len(cycle)-1)
	var errs []error
	if len(cycle) != r.Expect.Days {
		errs = append(errs, fmt.Errorf("the cycle has %d days instead of %d", len(cycle), r.Expect.Days))
	}
	daily := map[string]map[string]int{}
	for _, team := range r.Teams {
		crew, err := scenario.NewCrew(ctx, s.api, 1, "2016-01-01")
		if err != nil {
			return err
		}
		assigned, err := crew.Assign(ctx, s.api, scenario.Pattern(cycle, shifts), r.From, "", team)
		if err != nil {
			return err
		}
		if _, err := scenario.Finish(ctx, s.api, assigned.Propagation); err != nil {
			return err
		}
		list, err := scenario.ReadShifts(ctx, s.api, crew.Persons, r.From, last.Format(time.DateOnly))
		if err != nil {
			return err
		}
		hours, err := countShifts(list, r.From, letters, daily)
		if err != nil {
			return err
		}
		if week := round(hours*7/float64(len(cycle)), 2); hours != r.Expect.Hours || week != r.Expect.Week {
			errs = append(errs, fmt.Errorf("team %d has %v hours, %v a week, instead of %v and %v", team, hours, week, r.Expect.Hours, r.Expect.Week))
		}
	}
	for day := first; r.Expect.Daily != nil && !day.After(last); day = day.AddDate(0, 0, 1) {
		if got := daily[day.Format(time.DateOnly)]; fmt.Sprint(got) != fmt.Sprint(r.Expect.Daily) {
			errs = append(errs, fmt.Errorf("%s has the shifts %v instead of %v", day.Format(time.DateOnly), got, r.Expect.Daily))
		}
	}
	return errors.Join(errs...)
}

// countShifts adds up the hours of shifts that begin on a day or later, and counts the shifts
// by day and letter.
func countShifts(list []scenario.ShiftOf, from string, letters map[string]string, daily map[string]map[string]int) (hours float64, err error) {
	for _, shift := range list {
		start, err := time.Parse(local, shift.StartDateTime)
		if err != nil {
			return 0, err
		}
		end, err := time.Parse(local, shift.EndDateTime)
		if err != nil {
			return 0, err
		}
		day := start.Format(time.DateOnly)
		if day < from {
			continue
		}
		if daily[day] == nil {
			daily[day] = map[string]int{}
		}
		daily[day][letters[start.Format("15:04")+"-"+end.Format("15:04")]]++
		hours += end.Sub(start).Hours()
	}
	return hours, nil
}

// schedule creates shifts of an employee.
func (s *suite) schedule(ctx context.Context, number string, shifts []string) error {
	spans, err := parseSpans(shifts)
	if err != nil {
		return err
	}
	for _, w := range spans {
		_, err := s.api.Call(ctx, http.MethodPost, "/v1/scheduling/schedule/shifts", scenario.Object{
			"employee": scenario.Object{"qualifier": number}, "startDateTime": w.start.Format(local), "endDateTime": w.end.Format(local),
		}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// runRest evaluates rules on shifts.
func (s *suite) runRest(ctx context.Context, r *Rest) error {
	number, _, err := s.hire(ctx, r.Zone, nil, 0)
	if err != nil {
		return err
	}
	if err := s.schedule(ctx, number, r.Shifts); err != nil {
		return err
	}
	var rules []scenario.Object
	for _, name := range sortedKeys(r.Rules) {
		parameter := "MIN_HOURS"
		if strings.Contains(name, "_MAX_") {
			parameter = "MAX_HOURS"
		}
		rules = append(rules, scenario.Object{
			"rule": scenario.Object{"name": name}, "severity": scenario.Object{"name": "Error"},
			"ruleParameters": []scenario.Object{{"ruleParameterType": scenario.Object{"name": parameter}, "value": r.Rules[name]}},
		})
	}
	set := scenario.Object{"name": number, "ruleType": scenario.Object{"name": "Employee"}, "rules": rules}
	if _, err := s.api.Call(ctx, http.MethodPost, "/v1/scheduling/schedule_rule_sets", set, nil); err != nil {
		return err
	}
	var reply struct {
		Violations []struct {
			Rule          struct{ Qualifier string }
			StartDate     string
			MeasuredValue float64
		}
	}
	_, err = s.api.Call(ctx, http.MethodPost, "/v1/scheduling/schedule/rules/evaluate", scenario.Object{"where": scenario.Object{
		"employees": scenario.Object{"qualifiers": []string{number}}, "dateRange": scenario.Object{"startDate": r.From, "endDate": r.To},
		"ruleSets": scenario.Object{"qualifiers": []string{number}},
	}}, &reply)
	if err != nil {
		return err
	}
	got := []string{}
	for _, v := range reply.Violations {
		got = append(got, fmt.Sprintf("%s %s %v", v.Rule.Qualifier, v.StartDate, v.MeasuredValue))
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(r.Violations))
	if !slices.Equal(got, want) {
		return fmt.Errorf("violations are %q instead of %q", got, want)
	}
	return nil
}

// runHoliday imports the holidays of a region for a year.
func (s *suite) runHoliday(ctx context.Context, h *Holiday) error {
	body := scenario.Object{"region": h.Region, "years": []int{h.Year}}
	if h.Observed != nil {
		body["observed"] = *h.Observed
	}
	var list []struct {
		Name  string
		Dates []struct {
			StartDateTime string
			Enabled       bool
		}
	}
	if _, err := s.api.Call(ctx, http.MethodPost, "/v1/commons/setup/holidays/apply_import", body, &list); err != nil {
		return err
	}
	days := map[string]string{}
	for _, holiday := range list {
		for _, date := range holiday.Dates {
			if day, _, _ := strings.Cut(date.StartDateTime, "T"); date.Enabled {
				days[day] = holiday.Name
			}
		}
	}
	var errs []error
	for _, day := range h.Dates {
		if days[day] == "" {
			errs = append(errs, fmt.Errorf("%s is not a holiday", day))
		}
	}
	for _, day := range h.Without {
		if days[day] != "" {
			errs = append(errs, fmt.Errorf("%s is the holiday %s", day, days[day]))
		}
	}
	return errors.Join(errs...)
}
