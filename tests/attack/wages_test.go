package attack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

func init() { attack("wages", wages) }

// secretWage is a number that appears in responses only as the wage.
const secretWage = "7913.37"

// wages shows that a user without the permission for wages finds no wage in any response of any
// operation that they may call, and cannot set one.
func wages(t *testing.T, w *fixture) {
	profile := scenario.Unique("NoWages")
	permissions := w.permissionsBut(t, "commons.wage_work_rule.read", "commons.wage_work_rule.write")
	w.create(t, "/v1/auth/access_profiles", fmt.Sprintf(`{"name": %q, "permissions": %s, "rowScope": "ALL"}`, profile, permissions), nil)
	_, user := w.person(t, profile)
	id, number := w.paidEmployee(t)

	t.Run("responses", func(t *testing.T) {
		t.Parallel()
		w.findWages(t, user, id, number)
	})
	t.Run("requests", func(t *testing.T) {
		t.Parallel()
		rates := `"jobAssignment": {"baseWageRates": [{"hourlyRate": 1, "effectiveDate": "2024-01-01"}]}`
		other := scenario.Unique("other")
		for name, r := range map[string][3]string{
			"a change":       {http.MethodPut, "/v1/commons/persons/" + fmt.Sprint(id), `{` + rates + `}`},
			"the short form": {http.MethodPut, "/v1/commons/persons/" + fmt.Sprint(id), `{"jobAssignment": {"jobAssignmentDetails": {"baseWageHourly": 1}}}`},
			"many":           {http.MethodPost, "/v1/commons/persons/multi_update", fmt.Sprintf(`[{"personIdentity": {"personKey": %d}, %s}]`, id, rates)},
			"many or new":    {http.MethodPost, "/v1/commons/persons/multi_upsert", fmt.Sprintf(`[{"personIdentity": {"personKey": %d}, %s}]`, id, rates)},
			"a new person":   {http.MethodPost, "/v1/commons/persons", `{"personInformation": {"person": {"personNumber": "` + other + `", "firstName": "A", "lastName": "B", "hireDate": "2021-05-03"}}, ` + rates + `}`},
			"new persons":    {http.MethodPost, "/v1/commons/persons/multi_create", `[{"personInformation": {"person": {"personNumber": "` + other + `", "firstName": "A", "lastName": "B", "hireDate": "2021-05-03"}}, ` + rates + `}]`},
			"a new hire":     {http.MethodPost, "/v1/commons/persons/new_hire", `{"employees": [{"FirstName": "A", "LastName": "B", "PayRate": 1}]}`},
		} {
			got, err := w.send(t.Context(), user.Token, r[0], r[1], []byte(r[2]))
			require.NoError(t, err)
			assert.Contains(t, string(got.body), "WRL-00431", "%s: %d", name, got.status)
		}
		got, err := w.send(t.Context(), w.admin.Token, http.MethodGet, "/v1/commons/persons/"+fmt.Sprint(id), nil)
		require.NoError(t, err)
		assert.Contains(t, string(got.body), secretWage, "the wage is unchanged")
		got, err = w.send(t.Context(), user.Token, http.MethodPut, "/v1/commons/persons/"+fmt.Sprint(id), []byte(`{"personInformation": {"person": {"shortName": "Al"}}}`))
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, got.status, "callers who may not see wages can change the rest: %s", got.body)
		assert.NotContains(t, string(got.body), secretWage)
	})
}

// permissionsBut returns all permissions except some, as JSON.
func (w *fixture) permissionsBut(t *testing.T, without ...string) string {
	t.Helper()
	var list []string
	seen := map[string]bool{}
	for _, name := range without {
		seen[name] = true
	}
	for _, c := range calls(t) {
		// A pattern for a resource is shorter, and a profile has a bounded number of them.
		name := c.policy.Permission
		if resource := name[:strings.LastIndex(name, ".")+1]; resource != "" && resource != "commons.wage_work_rule." {
			name = resource + "*"
		}
		if name != "" && !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	text, err := json.Marshal(list)
	require.NoError(t, err)
	return string(text)
}

// paidEmployee creates an employee with the secret wage and a punched day.
func (w *fixture) paidEmployee(t *testing.T) (id int64, number string) {
	t.Helper()
	number = scenario.Unique("paid")
	var made struct {
		PersonIdentity struct {
			PersonKey int64 `json:"personKey"`
		} `json:"personIdentity"`
	}
	w.create(t, "/v1/commons/persons", `{"personInformation": {"person": {"personNumber": "`+number+`", "firstName": "Al", "lastName": "Paid", "hireDate": "2021-05-03"}},
		"jobAssignment": {"baseWageRates": [{"hourlyRate": `+secretWage+`, "effectiveDate": "2021-05-03"}]}}`, &made)
	id = made.PersonIdentity.PersonKey
	w.create(t, "/v1/timekeeping/punches/import", fmt.Sprintf(`{"punches": [{"employee": {"id": %d}, "punchDtm": "2024-03-04T08:00:00"}, {"employee": {"id": %d}, "punchDtm": "2024-03-04T09:00:00"}]}`, id, id), nil)
	w.create(t, "/v1/payroll/earnings_import", fmt.Sprintf(`{"earnings": [{"refId": %q, "companyCode": "A", "empNo": %q, "code": "BONUS", "chargeDate": "2024-03-04", "amount": %q, "payRate": %q, "source": "WFM"}]}`,
		wageEarning(id), number, secretWage, secretWage), nil)
	return id, number
}

func wageEarning(id int64) string { return fmt.Sprintf("3f6a6c1e-6d0f-4a43-9a0f-%012d", id) }

// findWages calls every read operation with the employee, and searches the responses for the wage.
func (w *fixture) findWages(t *testing.T, user scenario.API, id int64, number string) {
	t.Helper()
	employees := fmt.Sprintf(`{"where": {"employees": {"key": "personid", "values": ["%d"]}}}`, id)
	days := `"startDate": "2024-03-04", "endDate": "2024-03-04"`
	sets := fmt.Sprintf(`{"select": ["ACTUAL_TOTALS", "DAILY_ACTUAL_TOTAL_SUMMARY"], "where": {"employeeSet": {"employees": {"ids": [%d]}, "dateRange": {%s}}}}`, id, days)
	data := func(keys ...string) string {
		var columns []string
		for _, key := range keys {
			columns = append(columns, `{"key": "`+key+`"}`)
		}
		return fmt.Sprintf(`{"select": [%s], "from": {"view": 0, "employeeSet": {"employees": {"ids": [%d]}, "dateRange": {%s}}}}`, strings.Join(columns, ", "), id, days)
	}
	bodies := map[string]string{
		"/v1/commons/persons/multi_read":                 employees,
		"/v1/commons/persons/extensions/multi_read":      employees,
		"/v1/commons/persons/wage_work_rules/multi_read": employees,
		"/v1/timekeeping/timecard/multi_read":            sets,
		"/v1/timekeeping/timecard_metrics/multi_read":    sets,
		"/v1/commons/data/multi_read":                    data("PEOPLE_BASE_WAGE", "PEOPLE_BASE_WAGE_EFFECTIVE_DATE", "TIMECARD_TRANS_ACTUAL_WAGES", "TK_DAILY_ACTUAL_TOTAL_WAGES", "TK_SHIFT_ACTUAL_TOTAL_WAGES"),
	}
	shown := map[string]bool{}
	for _, c := range calls(t) {
		if c.method != http.MethodGet && !strings.HasSuffix(c.path, "_read") || c.policy.Public {
			continue
		}
		path := strings.NewReplacer("{person_id}", fmt.Sprint(id), "{ref_id}", wageEarning(id), "{id}", fmt.Sprint(id)).Replace(c.path)
		query := url.Values{"person_number": {number}, "employee_id": {fmt.Sprint(id)}, "start_date": {"2024-03-04"}, "end_date": {"2024-03-04"}, "person_id": {fmt.Sprint(id)}}
		for name := range query {
			if c.method != http.MethodGet || c.input.Fields().ByName(protoreflect.Name(name)) == nil || strings.Contains(c.path, "{"+name+"}") || name == "person_number" && c.input.Fields().ByName("employee_id") != nil {
				query.Del(name)
			}
		}
		if len(query) > 0 {
			path += "?" + query.Encode()
		}
		got, err := w.send(t.Context(), user.Token, c.method, path, []byte(bodies[c.path]))
		require.NoError(t, err)
		assert.NotContains(t, string(got.body), secretWage, "%s %s", c.method, path)
		assert.NotContains(t, string(got.body), "hourlyRate", "%s %s", c.method, path)
		if got, err = w.send(t.Context(), w.admin.Token, c.method, path, []byte(bodies[c.path])); err == nil && strings.Contains(string(got.body), secretWage) {
			shown[c.path] = true
		}
	}
	for _, path := range []string{
		"/v1/commons/persons/{person_id}", "/v1/commons/persons/multi_read", "/v1/commons/persons/extensions/multi_read",
		"/v1/commons/persons/wage_work_rules/multi_read", "/v1/timekeeping/timecard_metrics/multi_read", "/v1/payroll/earnings_import/{ref_id}", "/v1/commons/data/multi_read",
	} {
		assert.True(t, shown[path], "%s shows the administrator the wage, so the attack asked for it", path)
	}
	assert.NoError(t, launch.TryLogin(t, w.Client, w.Ready))
}
