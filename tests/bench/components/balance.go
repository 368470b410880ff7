package components

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const balance = "balance"

// The last year of the balances, and the first year of the long balance.
const (
	balanceFirstYear = 2001
	balanceLastYear  = 2025
	balanceHired     = "2000-01-03"
)

// fillYears gives employees eight hours of punches on the working days of all years.
const fillYears = `INSERT INTO punch (tenant_id, employee_id, at, time_zone, direction, is_transfer, job, work_rule, no_deduction, body)
	SELECT 1, p, d + t, 'UTC', 0, false, '', '', false, ''
	FROM unnest($1::bigint[]) AS p, generate_series(timestamptz '2001-01-01 00:00+00', '2025-12-31 00:00+00', '1 day') AS d,
		(VALUES (interval '8 hours'), (interval '16 hours')) AS v (t)
	WHERE extract(isodow FROM d) < 6 AND extract(month FROM d) NOT IN (5, 10)`

// balanceFigures compares reading a balance after 25 years with reading one after a year. Both
// employees have the same shifts, punches and time off; they differ only in the accrual profile,
// which begins 24 years earlier for one of them.
func balanceFigures(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	server := launch.Standalone(h, "--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles)
	api := scenario.API{Target: server.Target(h)}
	f := harness.Figure{Name: balance, Unit: "ms", AtMost: 1.2, Note: "the balance of an employee after 25 years, against one after a year"}
	subtype, ids, err := employBalances(h.Context(), api)
	if err != nil {
		return nil, err
	}
	db, err := pgx.Connect(h.Context(), launch.PrivatePostgres(server.StateDir)(fixture.TimekeepingDatabase))
	if err != nil {
		return nil, err
	}
	h.Cleanup(func() { _ = db.Close(context.WithoutCancel(h.Context())) }) // The connection has no open transaction.
	if _, err := db.Exec(h.Context(), fillYears, ids); err != nil {
		return nil, fmt.Errorf("fill punches: %w", err)
	}
	if _, err := db.Exec(h.Context(), `ANALYZE punch`); err != nil {
		return nil, err
	}
	read := func(i int) harness.Measure {
		return harness.P50(func(ctx context.Context) error { return readBalance(ctx, api, subtype, ids[i], i) })
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds, read(0), read(1))
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return []harness.Figure{f}, err
}

// employBalances hires two employees with shifts on every day and ten days of time off in each
// year. The accrual profile of one employee begins in the first year, the other profile in the last
// one.
func employBalances(ctx context.Context, api scenario.API) (subtype int64, ids []int64, err error) {
	name := scenario.Unique("balance")
	if subtype, err = setUpBalances(ctx, api, name); err != nil {
		return 0, nil, err
	}
	if ids, err = hireBalances(ctx, api, name); err != nil {
		return 0, nil, err
	}
	if err := scheduleBalances(ctx, api, name, ids); err != nil {
		return 0, nil, err
	}
	for _, id := range ids {
		for year := balanceFirstYear; year <= balanceLastYear; year++ {
			for _, month := range []int{5, 10} {
				if err := takeDays(ctx, api, subtype, id, fmt.Sprintf("%d-%02d", year, month)); err != nil {
					return 0, nil, err
				}
			}
		}
	}
	return subtype, ids, nil
}

// setUpBalances creates a pay code, an accrual code, an accrual profile and a request subtype with
// a name, and returns the id of the request subtype.
func setUpBalances(ctx context.Context, api scenario.API, name string) (int64, error) {
	var created struct {
		TimeOffRequest struct{ ID int64 }
	}
	for _, s := range []struct {
		path string
		body scenario.Object
	}{
		{"/v1/timekeeping/setup/pay_codes", scenario.Object{"name": name}},
		{"/v1/timekeeping/setup/accrual_codes", scenario.Object{"name": name, "unit": "DAY", "payCodes": []scenario.Object{{"qualifier": name}}}},
		{"/v1/timekeeping/setup/accrual_profiles", scenario.Object{"name": name, "accrualPolicies": []scenario.Object{{
			"accrualCode": scenario.Object{"qualifier": name}, "grantAmount": 12, "carryOverLimit": 5,
		}}}},
		{"/v1/scheduling/setup/request_subtypes", scenario.Object{"timeOffRequest": scenario.Object{
			"name": name, "allowDebt": true, "defaultPayCode": scenario.Object{"qualifier": name},
		}}},
	} {
		if _, err := api.Call(ctx, http.MethodPost, s.path, s.body, &created); err != nil {
			return 0, err
		}
	}
	return created.TimeOffRequest.ID, nil
}

// hireBalances creates the two employees.
func hireBalances(ctx context.Context, api scenario.API, name string) ([]int64, error) {
	var persons []scenario.Object
	for i, year := range []int{balanceFirstYear, balanceLastYear} {
		persons = append(persons, scenario.Object{
			"personInformation": scenario.Object{"person": scenario.Object{
				"personNumber": fmt.Sprintf("%s-%d", name, i), "firstName": "Long", "lastName": "Service", "hireDate": balanceHired,
				"accrualProfileName": name, "accrualProfileEffectiveDate": fmt.Sprintf("%d-01-01", year),
			}},
			"jobAssignment": scenario.Object{"jobAssignmentDetails": scenario.Object{"timeZoneName": "Etc/UTC"}},
		})
	}
	var created []struct {
		PersonIdentity struct{ PersonKey int64 }
	}
	if _, err := api.Call(ctx, http.MethodPost, "/v1/commons/persons/multi_create", persons, &created); err != nil {
		return nil, err
	}
	var ids []int64
	for _, p := range created {
		ids = append(ids, p.PersonIdentity.PersonKey)
	}
	return ids, nil
}

// scheduleBalances assigns employees a shift on each day, and waits until it is on the schedule.
func scheduleBalances(ctx context.Context, api scenario.API, name string, ids []int64) error {
	const end = "3000-01-01"
	var term struct{ ID int64 }
	if _, err := api.Call(ctx, http.MethodPost, "/v1/timekeeping/setup/employment_terms", scenario.Object{
		"name": name, "allowsInheritance": true, "processType": "ENFORCE_END_DATE",
		"versions": scenario.Object{"employmentTermVersion": []scenario.Object{{"startDate": balanceHired, "endDate": end}}},
	}, &term); err != nil {
		return err
	}
	if err := scenario.PutOnTerm(ctx, api, term.ID, ids, balanceHired, end); err != nil {
		return err
	}
	crew := &scenario.Crew{TermID: term.ID, Persons: ids}
	shift := scenario.Shift(name, "08:00", "16:00", false)
	if _, err := crew.Assign(ctx, api, scenario.Pattern("A", map[string]scenario.Object{"A": shift}), balanceHired, "", 0); err != nil {
		return err
	}
	return fixture.AwaitShifts(ctx, api, crew, name)
}

// takeDays approves time off on the third to the seventh day of a month.
func takeDays(ctx context.Context, api scenario.API, subtype, employee int64, month string) error {
	var created struct{ ID int64 }
	_, err := api.Call(ctx, http.MethodPost, "/v1/scheduling/timeoff", scenario.Object{
		"employee": scenario.Object{"id": employee}, "requestSubType": scenario.Object{"id": subtype},
		"periods": []scenario.Object{{"symbolicAmount": scenario.Object{"id": -1}, "startDate": month + "-03", "endDate": month + "-07"}},
	}, &created)
	return err
}

// readBalance reads the balance on the last day, and checks it: the long balance has five more days
// from the years before.
func readBalance(ctx context.Context, api scenario.API, subtype, employee int64, employeeIndex int) error {
	var list []struct {
		Balances []struct {
			DayBalances []struct{ AvailableBalanceInDays float64 }
		}
	}
	path := fmt.Sprintf("/v1/scheduling/timeoff/accruals?employee_id=%d&subtype_id=%d&date=%d-12-31", employee, subtype, balanceLastYear)
	if _, err := api.Call(ctx, http.MethodGet, path, nil, &list); err != nil {
		return err
	}
	want := []float64{7, 2}[employeeIndex]
	if len(list) != 1 || len(list[0].Balances) != 1 || len(list[0].Balances[0].DayBalances) != 1 || list[0].Balances[0].DayBalances[0].AvailableBalanceInDays != want {
		return fmt.Errorf("the balance of employee %d is %v instead of %v days", employee, list, want)
	}
	return nil
}
