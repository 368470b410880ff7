package truth

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// runSetting runs the example of a setting.
func (s *suite) runSetting(ctx context.Context, c *Setting) error {
	if c.Accrual != nil {
		return s.runAccrual(ctx, c.Accrual)
	}
	return s.runWork(ctx, c.Work)
}

func (s *suite) runAccrual(ctx context.Context, a *Accrual) error {
	name := scenario.Unique("accrual")
	policy := maps.Clone(a.Policy)
	policy["accrualCode"] = scenario.Object{"qualifier": name}
	unit := a.Unit
	if unit == "" {
		unit = "HOUR"
	}
	for _, created := range []struct {
		path string
		body scenario.Object
	}{
		{"pay_codes", scenario.Object{"name": name}},
		{"accrual_codes", scenario.Object{"name": name, "unit": unit, "payCodes": []scenario.Object{{"qualifier": name}}}},
		{"accrual_profiles", scenario.Object{"name": name, "accrualPolicies": []any{policy}}},
	} {
		if _, err := s.api.Call(ctx, http.MethodPost, "/v1/timekeeping/setup/"+created.path, created.body, nil); err != nil {
			return err
		}
	}
	id, err := s.hireWithAccruals(ctx, name, a)
	if err != nil {
		return err
	}
	spans, err := parseSpans(a.Shifts)
	if err != nil {
		return err
	}
	if err := s.punch(ctx, name, spans); err != nil {
		return err
	}
	for day, hours := range a.Taken {
		_, err := s.api.Call(ctx, http.MethodPost, "/v1/timekeeping/timecard", scenario.Object{
			"where": scenario.Object{"employee": scenario.Object{"id": id}, "dateRange": scenario.Object{"startDate": day, "endDate": day}},
			"do": scenario.Object{"payCodeEdits": scenario.Object{"added": []scenario.Object{
				{"paycode": scenario.Object{"qualifier": name}, "durationInHours": hours, "applyDate": day},
			}}},
		}, nil)
		if err != nil {
			return err
		}
	}
	var errs []error
	for _, day := range sortedKeys(a.Balances) {
		got, err := s.balance(ctx, id, day, unit)
		if err != nil {
			return err
		}
		if want := a.Balances[day]; round(got, 3) != want {
			errs = append(errs, fmt.Errorf("the balance on %s is %v instead of %v", day, round(got, 3), want))
		}
	}
	return errors.Join(errs...)
}

// hireWithAccruals creates an employee whose accrual profile has the given name as its number.
func (s *suite) hireWithAccruals(ctx context.Context, name string, a *Accrual) (int64, error) {
	const end = "3000-01-01"
	statuses := []scenario.Object{}
	add := func(status, from, to string) {
		statuses = append(statuses, scenario.Object{"employmentStatusName": status, "effectiveDate": from, "expirationDate": to})
	}
	switch {
	case a.Left == "":
		add("Active", a.Since, end)
	case a.Back == "":
		add("Active", a.Since, a.Left)
		add("Terminated", a.Left, end)
	default:
		add("Active", a.Since, a.Left)
		add("Terminated", a.Left, a.Back)
		add("Active", a.Back, end)
	}
	var created struct {
		PersonIdentity struct{ PersonKey int64 }
	}
	_, err := s.api.Call(ctx, http.MethodPost, "/v1/commons/persons", scenario.Object{
		"personInformation": scenario.Object{
			"person": scenario.Object{
				"personNumber": name, "firstName": "Tess", "lastName": "Truth", "hireDate": a.Since,
				"accrualProfileName": name, "accrualProfileEffectiveDate": a.Since,
			},
			"employmentStatusList": statuses,
		},
		"jobAssignment": scenario.Object{"jobAssignmentDetails": scenario.Object{"timeZoneName": "UTC"}},
	}, &created)
	return created.PersonIdentity.PersonKey, err
}

// balance reads the balance of an employee at the end of a day, in hours or days.
func (s *suite) balance(ctx context.Context, id int64, day, unit string) (float64, error) {
	var list []struct {
		Balances []struct {
			DayBalances []struct {
				AvailableBalanceInDays    float64
				AvailableBalanceInSeconds int64
			}
		}
	}
	const anything = 1 // A request subtype without a pay code.
	path := fmt.Sprintf("/v1/scheduling/timeoff/accruals?employee_id=%d&subtype_id=%d&date=%s", id, anything, day)
	if _, err := s.api.Call(ctx, http.MethodGet, path, nil, &list); err != nil {
		return 0, err
	}
	if len(list) != 1 || len(list[0].Balances) != 1 || len(list[0].Balances[0].DayBalances) != 1 {
		return 0, fmt.Errorf("there is not one balance on %s: %v", day, list)
	}
	found := list[0].Balances[0].DayBalances[0]
	if unit == "DAY" {
		return found.AvailableBalanceInDays, nil
	}
	return float64(found.AvailableBalanceInSeconds) / time.Hour.Seconds(), nil
}
