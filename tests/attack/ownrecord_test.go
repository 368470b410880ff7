package attack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

func init() { attack("one's own record", ownRecord) }

// ownEntries holds rows of an employee that another user entered.
type ownEntries struct {
	employee                                 int64
	number                                   string
	shift, payCodeEdit, tag, lock, pattern   int64
	propagation                              int64
	leaveCase, leaveRule, leaveNote, timeOff int64
	leaveEdit                                int64
	earning                                  string
	// other is another employee, and rule is a leave rule.
	other, rule int64
}

// ownRequests returns a request about the caller's own record for each operation that refuses it:
// its path where that has a parameter, and its body.
func ownRequests(e ownEntries) map[string]struct{ path, body string } {
	id := fmt.Sprint(e.employee)
	me := `{"id": ` + id + `}`
	shift := `{"employee": ` + me + `, "startDateTime": "2031-06-03T10:00:00", "endDateTime": "2031-06-03T12:00:00"}`
	edit := `{"employee": ` + me + `, "payCodeRef": {"qualifier": "PTO"}, "startDate": "2031-06-06", "endDate": "2031-06-06", "durationInTime": 3600}`
	tag := `{"employee": ` + me + `, "startDateTime": "2031-06-01T08:00:00", "endDateTime": "2031-06-01T09:00:00", "segments": []}`
	locks := `{"employeeRefs": {"ids": [` + id + `]}, "startDate": "2031-07-10", "endDate": "2031-07-10"}`
	terms := `{"personIdentity": {"personKey": ` + id + `}, "assignments": [{"employmentTerm": {"id": 1}, "effectiveDate": "2031-01-01", "expirationDate": "3000-01-01"}]}`
	raise := `{"personIdentity": {"personKey": ` + id + `}, "jobAssignment": {"baseWageRates": [{"hourlyRate": 99, "effectiveDate": "2024-01-01"}]}}`
	rules := `{"personIdentity": {"personKey": ` + id + `}, "assignments": [{"ruleSet": {"id": 1}, "context": {"id": -1}, "effectiveDate": "2031-03-09", "expirationDate": "3000-01-01"}]}`
	leave := fmt.Sprintf(`{"leaveCase": {"id": %d}}`, e.leaveCase)
	with := func(object, more string) string { return strings.TrimSuffix(object, "}") + ", " + more + "}" }
	newCase := `{"employee": ` + me + `, "category": {"qualifier": "Medical"}, "reason": {"id": 7}, "frequency": {"qualifier": "Continuous"}, "status": {"id": 1},
		"approvalStatus": {"id": 3}, "startDate": "2031-03-01", "requestDate": "2031-02-01", "frequencyEffectiveDate": "2031-03-01"}`
	timeOff := `{"employee": ` + me + `, "requestSubType": {"id": 1}, "periods": [{"payCode": {"qualifier": "PTO"}, "symbolicAmount": {"id": -1}, "startDate": "2031-04-01", "endDate": "2031-04-02"}]}`
	period := "start_date=2024-03-02&end_date=2024-03-03"
	days := `"startDate": "2024-03-02", "endDate": "2024-03-03"`
	updated := func(id int64, object string) string { return with(object, fmt.Sprintf(`"id": %d`, id)) }
	n := func(path string, id int64) string { return strings.Replace(path, "{id}", fmt.Sprint(id), 1) }
	const schedule = "/v1/scheduling/schedule"
	return map[string]struct{ path, body string }{
		"PUT /v1/commons/persons/{person_id}":                         {"/v1/commons/persons/" + id, raise},
		"DELETE /v1/commons/persons/{person_id}":                      {"/v1/commons/persons/" + id, ""},
		"POST /v1/commons/persons/multi_delete":                       {"", `[{"personIdentity": {"personKey": ` + id + `}}]`},
		"POST /v1/commons/persons/multi_update":                       {"", "[" + raise + "]"},
		"POST /v1/commons/persons/multi_upsert":                       {"", "[" + raise + "]"},
		"POST /v1/commons/persons/wage_work_rules/multi_upsert":       {"", `[{"employee": ` + me + `, "effectiveDatedWageWorkRules": [{"effectiveDate": "2024-01-01", "expirationDate": "3000-01-01", "baseWage": "99"}]}]`},
		"POST /v1/commons/persons/current_user_delegations":           {"", fmt.Sprintf(`{"delegator": {"id": %d}, "delegate": %s, "startDate": "2999-01-01", "endDate": "2999-01-02"}`, e.other, me)},
		"POST /v1/commons/persons/schedule_rule_sets/multi_upsert":    {"", "[" + rules + "]"},
		"PUT /v1/commons/persons/schedule_rule_sets/{person_id}":      {"/v1/commons/persons/schedule_rule_sets/" + id, rules},
		"POST /v1/scheduling/employee_schedule_patterns/apply_create": {"", `{"employeeSchedulePatterns": {"do": {"employeeSchedulePatternCreates": [{"employeeSchedulePattern": ` + ownPattern(me, "2031-08-01") + `}]}}}`},
		"POST /v1/scheduling/employee_schedule_patterns/apply_update": {"", `{"removeByEmployees": {"where": {"employeeRefs": [` + me + `]}, "do": {"startDate": "2031-03-06"}}}`},
		"DELETE /v1/scheduling/employee_schedule_patterns/{id}":       {n("/v1/scheduling/employee_schedule_patterns/{id}", e.pattern), ""},
		"POST /v1/scheduling/propagations/{id}/undo":                  {n("/v1/scheduling/propagations/{id}/undo", e.propagation), `{"reason": "it is mine"}`},
		"POST /v1/scheduling/schedule":                                {"", `{"employeeRef": ` + me + `, "shifts": {"create": [` + shift + `]}}`},
		"POST /v1/scheduling/schedule/multi_update":                   {"", `[{"employeeRef": ` + me + fmt.Sprintf(`, "dayLocks": {"delete": [%d]}}]`, e.lock)},
		"POST /v1/scheduling/schedule/daylocks/apply_create":          {"", `{"forEmployees": {"where": ` + locks + `}}`},
		"POST /v1/scheduling/schedule/daylocks/multi_delete":          {"", `{"where": {"employees": ` + locks + `}}`},
		"POST " + schedule + "/pay_code_edits":                        {"", edit},
		"POST " + schedule + "/pay_code_edits/multi_create":           {"", "[" + edit + "]"},
		"POST " + schedule + "/pay_code_edits/multi_delete":           {"", fmt.Sprintf(`{"where": {"payCodeEditIds": [%d]}}`, e.payCodeEdit)},
		"POST " + schedule + "/pay_code_edits/multi_update":           {"", "[" + updated(e.payCodeEdit, edit) + "]"},
		"POST " + schedule + "/pay_code_edits/{id}":                   {n(schedule+"/pay_code_edits/{id}", e.payCodeEdit), strings.Replace(edit, me, fmt.Sprintf(`{"id": %d}`, e.other), 1)},
		"DELETE " + schedule + "/pay_code_edits/{id}":                 {n(schedule+"/pay_code_edits/{id}", e.payCodeEdit), ""},
		"POST " + schedule + "/schedule_tags":                         {"", tag},
		"POST " + schedule + "/schedule_tags/multi_create":            {"", "[" + tag + "]"},
		"POST " + schedule + "/schedule_tags/multi_delete":            {"", fmt.Sprintf(`{"where": {"scheduleTagIds": [%d]}}`, e.tag)},
		"POST " + schedule + "/schedule_tags/multi_update":            {"", "[" + updated(e.tag, tag) + "]"},
		"POST " + schedule + "/schedule_tags/{id}":                    {n(schedule+"/schedule_tags/{id}", e.tag), tag},
		"PUT " + schedule + "/schedule_tags/{id}":                     {n(schedule+"/schedule_tags/{id}", e.tag), tag},
		"DELETE " + schedule + "/schedule_tags/{id}":                  {n(schedule+"/schedule_tags/{id}", e.tag), ""},
		"POST " + schedule + "/shifts":                                {"", shift},
		"POST " + schedule + "/shifts/apply_create":                   {"", `{"forEmployees": {"do": {"shift": {"label": "X", "startDateTime": "2031-05-01T22:00:00", "endDateTime": "2031-05-02T02:00:00"}}, "where": {"days": 1, "employeeRefs": {"ids": [` + id + `]}}}}`},
		"POST " + schedule + "/shifts/multi_create":                   {"", "[" + shift + "]"},
		"POST " + schedule + "/shifts/multi_delete":                   {"", fmt.Sprintf(`{"where": {"shiftIds": [%d]}}`, e.shift)},
		"POST " + schedule + "/shifts/multi_update":                   {"", "[" + updated(e.shift, strings.Replace(shift, me, fmt.Sprintf(`{"id": %d}`, e.other), 1)) + "]"},
		"POST " + schedule + "/shifts/{id}":                           {n(schedule+"/shifts/{id}", e.shift), strings.Replace(shift, me, fmt.Sprintf(`{"id": %d}`, e.other), 1)},
		"DELETE " + schedule + "/shifts/{id}":                         {n(schedule+"/shifts/{id}", e.shift), ""},
		"POST /v1/scheduling/timeoff":                                 {"", timeOff},
		"POST /v1/scheduling/timeoff/apply_update":                    {"", fmt.Sprintf(`{"changeState": {"do": {"toStatus": {"id": 4}}, "where": {"timeOffRequestId": %d}}}`, e.timeOff)},
		"PUT /v1/scheduling/timeoff/{id}":                             {n("/v1/scheduling/timeoff/{id}", e.timeOff), timeOff},
		"POST /v1/commons/persons/employment_terms/apply_delete":      {"", terms},
		"POST /v1/commons/persons/employment_terms/multi_create":      {"", "[" + terms + "]"},
		"POST /v1/commons/persons/employment_terms/multi_delete":      {"", "[" + terms + "]"},
		"POST /v1/commons/persons/employment_terms/multi_upsert":      {"", "[" + terms + "]"},
		"PUT /v1/commons/persons/leave_profile":                       {"", `{"personIdentity": {"personKey": ` + id + `}, "assignmentProfile": "x"}`},
		"DELETE /v1/commons/persons/leave_profile":                    {"/v1/commons/persons/leave_profile?person_number=" + e.number, ""},
		"POST /v1/leave/leave_cases":                                  {"", newCase},
		"PUT /v1/leave/leave_cases":                                   {"", fmt.Sprintf(`{"id": %d, "status": {"id": 1}}`, e.leaveCase)},
		"DELETE /v1/leave/leave_cases":                                {"", fmt.Sprintf(`{"id": %d}`, e.leaveCase)},
		"POST /v1/leave/leave_cases/multi_create":                     {"", "[" + newCase + "]"},
		"POST /v1/leave/leave_cases/multi_delete":                     {"", fmt.Sprintf(`{"leaveCases": [{"id": %d}]}`, e.leaveCase)},
		"POST /v1/leave/leave_cases/case_rules":                       {"", with(leave, fmt.Sprintf(`"rule": {"id": %d}, "effectiveDate": "2031-03-05"`, e.rule))},
		"POST /v1/leave/leave_cases/case_rules/{id}":                  {n("/v1/leave/leave_cases/case_rules/{id}", e.leaveRule), `{"effectiveDate": "2031-03-05"}`},
		"DELETE /v1/leave/leave_cases/case_rules/{id}":                {n("/v1/leave/leave_cases/case_rules/{id}", e.leaveRule), ""},
		"POST /v1/leave/leave_cases/certifications":                   {"", with(leave, `"startDate": "2031-03-01", "expirationDate": "2031-08-31"`)},
		"POST /v1/leave/leave_cases/custom_fields/multi_update":       {"", with(leave, `"customFields": [{"customField": {"id": 1}, "value": "x"}]`)},
		"POST /v1/leave/leave_cases/grant":                            {"", with(leave, `"leaveType": {"id": 1}, "amount": 1`)},
		"POST /v1/leave/leave_cases/notes":                            {"", with(leave, `"noteText": "mine"`)},
		"POST /v1/leave/leave_cases/notes/{id}":                       {n("/v1/leave/leave_cases/notes/{id}", e.leaveNote), `{"noteText": "mine"}`},
		"DELETE /v1/leave/leave_cases/notes/{id}":                     {n("/v1/leave/leave_cases/notes/{id}", e.leaveNote), ""},
		"POST /v1/leave/leave_edits":                                  {"", with(leave, `"leaveEdits": [{"date": "2031-03-03", "paidSegment": {"amountInSeconds": 28800}, "trackingSegment": {"amountInSeconds": 28800}}]`)},
		"POST /v1/leave/leave_edits/multi_delete":                     {"", with(leave, fmt.Sprintf(`"leaveEditIds": [%d]`, e.leaveEdit))},
		"POST /v1/leave/leave_edits/{id}":                             {n("/v1/leave/leave_edits/{id}", e.leaveEdit), `{"date": "2031-03-04", "paidSegment": {"amountInSeconds": 3600}, "trackingSegment": {"amountInSeconds": 3600}}`},
		"DELETE /v1/leave/leave_edits/{id}":                           {n("/v1/leave/leave_edits/{id}", e.leaveEdit), ""},
		"POST /v1/payroll/earnings_import":                            {"", `{"earnings": [{"refId": "3f6a6c1e-6d0f-4a43-9a0e-55b1c0d7e9f1", "companyCode": "A", "empNo": "` + e.number + `", "code": "BONUS", "chargeDate": "2024-02-05", "amount": "1000", "source": "WFM"}]}`},
		"DELETE /v1/payroll/earnings_import/{ref_id}":                 {"/v1/payroll/earnings_import/" + e.earning, ""},
		"POST /v1/timekeeping/punches/import":                         {"", `{"punches": [{"employee": ` + me + `, "punchDtm": "2024-03-02T14:00:00"}]}`},
		"POST /v1/timekeeping/timecard":                               {"", `{"where": {"employee": ` + me + `, "dateRange": {` + days + `}}, "do": {"punches": {"added": [{"punchDtm": "2024-03-02T14:00:00"}]}}}`},
		"POST /v1/timekeeping/timecard_approvals":                     {"/v1/timekeeping/timecard_approvals?" + period, me},
		"DELETE /v1/timekeeping/timecard_approvals":                   {"/v1/timekeeping/timecard_approvals?" + period, me},
		"POST /v1/timekeeping/timecard_signoffs":                      {"/v1/timekeeping/timecard_signoffs?" + period, me},
		"DELETE /v1/timekeeping/timecard_signoffs":                    {"/v1/timekeeping/timecard_signoffs?" + period, me},
		"POST /v1/timekeeping/timecard_signoffs/import":               {"", `{"signoffs": [{"employee": ` + me + `, ` + days + `}]}`},
	}
}

func ownPattern(employee, start string) string {
	return `{"employeeRef": ` + employee + `, "startDate": "` + start + `", "schedulePattern": {"dayCount": 1, "timePeriodType": {"name": "Daily"}, "items": [{"day": 1,
		"shiftTemplate": {"label": "G", "startDateTime": "1900-01-01T08:00:00", "endDateTime": "1900-01-01T12:00:00"}}]}}`
}

// ownRecord shows that no caller acts on their own record as a manager, with any other permissions,
// and that a profile may permit single actions.
func ownRecord(t *testing.T, w *fixture) {
	profile := scenario.Unique("Everything")
	w.create(t, "/v1/auth/access_profiles", `{"name": "`+profile+`", "permissions": ["*"], "rowScope": "ALL"}`, nil)
	e, api := w.entries(t, profile)
	requests := ownRequests(e)
	before := w.readRecord(t, e)
	operations := map[string]bool{}
	for _, c := range calls(t) {
		route := c.method + " " + c.path
		if len(c.policy.OwnActions) == 0 {
			continue
		}
		operations[route] = true
		request, known := requests[route]
		if !assert.True(t, known, "%s refuses the record of its caller: add a request about it", route) {
			continue
		}
		path := c.path
		if request.path != "" {
			path = request.path
		}
		got, err := w.send(t.Context(), api.Token, c.method, path, []byte(request.body))
		require.NoError(t, err)
		assert.Contains(t, string(got.body), "WRL-00430", "%s returned %d", route, got.status)
	}
	for route := range requests {
		assert.True(t, operations[route], "%s refuses no caller", route)
	}
	assert.Equal(t, before, w.readRecord(t, e), "nothing has changed")

	t.Run("own data that people may change", func(t *testing.T) {
		got, err := w.send(t.Context(), api.Token, http.MethodPut, fmt.Sprintf("/v1/commons/persons/%d", e.employee),
			[]byte(`{"personInformation": {"telephoneNumbers": [{"contactTypeName": "Phone 1", "phoneNumber": "555"}]}}`))
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, got.status, "%s", got.body)
	})
	t.Run("a profile that permits one action", func(t *testing.T) {
		name := scenario.Unique("Shifts")
		w.create(t, "/v1/auth/access_profiles", `{"name": "`+name+`", "permissions": ["*"], "rowScope": "ALL", "ownRecordActions": ["scheduling.shift"]}`, nil)
		id, user := w.person(t, name)
		shift := fmt.Sprintf(`{"employee": {"id": %d}, "startDateTime": "2031-06-03T10:00:00", "endDateTime": "2031-06-03T12:00:00"}`, id)
		got, err := w.send(t.Context(), user.Token, http.MethodPost, "/v1/scheduling/schedule/shifts", []byte(shift))
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, got.status, "%s", got.body)
		edit := fmt.Sprintf(`{"employee": {"id": %d}, "payCodeRef": {"qualifier": "PTO"}, "startDate": "2031-06-06", "endDate": "2031-06-06", "durationInTime": 3600}`, id)
		got, err = w.send(t.Context(), user.Token, http.MethodPost, "/v1/scheduling/schedule/pay_code_edits", []byte(edit))
		require.NoError(t, err)
		assert.Contains(t, string(got.body), "WRL-00430")
		widened := `{"permissions": ["*"], "rowScope": "ALL", "ownRecordActions": ["*"]}`
		got, err = w.send(t.Context(), user.Token, http.MethodPut, "/v1/auth/access_profiles/"+name, []byte(widened))
		require.NoError(t, err)
		assert.Contains(t, string(got.body), "WRL-00430", "callers cannot widen their own profile")
	})
	t.Run("a stock manager", func(t *testing.T) {
		id, manager := w.person(t, "Manager")
		got, err := w.send(t.Context(), manager.Token, http.MethodPost, "/v1/timekeeping/timecard_signoffs?start_date=2024-03-02&end_date=2024-03-03",
			[]byte(fmt.Sprintf(`{"id": %d}`, id)))
		require.NoError(t, err)
		assert.Equal(t, http.StatusForbidden, got.status, "%s", got.body)
		assert.Contains(t, string(got.body), "WRL-00430")
	})
	t.Run("a deputy", func(t *testing.T) {
		boss, _ := w.person(t, "Manager")
		deputy, api := w.person(t, "Manager")
		w.create(t, "/v1/commons/persons/current_user_delegations", fmt.Sprintf(
			`{"delegator": {"id": %d}, "delegate": {"id": %d}, "startDate": %q, "endDate": %q}`, boss, deputy, time.Now().UTC().Format(time.DateOnly), time.Now().UTC().AddDate(0, 0, 2).Format(time.DateOnly)), nil)
		got, err := w.send(t.Context(), api.Token, http.MethodPost, "/v1/timekeeping/timecard_signoffs?start_date=2024-03-02&end_date=2024-03-03",
			[]byte(fmt.Sprintf(`{"id": %d}`, boss)))
		require.NoError(t, err)
		assert.Contains(t, string(got.body), "WRL-00430", "a delegate cannot sign for the delegator")
	})
}

// create creates an object as the administrator, and decodes the response.
func (w *fixture) create(t *testing.T, path, body string, into any) {
	t.Helper()
	_, err := w.admin.Call(t.Context(), http.MethodPost, path, json.RawMessage(body), into)
	require.NoError(t, err, path)
}

// entries creates a person with a profile and one row of each kind, as the administrator.
func (w *fixture) entries(t *testing.T, profile string) (ownEntries, scenario.API) {
	t.Helper()
	id, api := w.person(t, profile)
	e := ownEntries{employee: id}
	e.other, _ = w.person(t, "Employee")
	var person struct {
		PersonInformation struct {
			Person struct {
				PersonNumber string `json:"personNumber"`
			} `json:"person"`
		} `json:"personInformation"`
	}
	_, err := w.admin.Call(t.Context(), http.MethodGet, fmt.Sprintf("/v1/commons/persons/%d", id), nil, &person)
	require.NoError(t, err)
	e.number = person.PersonInformation.Person.PersonNumber
	me := fmt.Sprintf(`{"id": %d}`, id)
	type made struct {
		ID int64 `json:"id"`
	}
	var list []made
	first := func(into *int64, path, body string) {
		t.Helper()
		list = nil
		w.create(t, path, body, &list)
		require.NotEmpty(t, list, path)
		*into = list[0].ID
	}
	one := func(into *int64, path, body string) {
		t.Helper()
		var m made
		w.create(t, path, body, &m)
		*into = m.ID
	}
	const schedule = "/v1/scheduling/schedule"
	first(&e.shift, schedule+"/shifts", `{"employee": `+me+`, "startDateTime": "2031-06-10T10:00:00", "endDateTime": "2031-06-10T12:00:00"}`)
	first(&e.payCodeEdit, schedule+"/pay_code_edits", `{"employee": `+me+`, "payCodeRef": {"qualifier": "Training"}, "startDate": "2031-06-11", "endDate": "2031-06-11", "durationInTime": 3600}`)
	definition := scenario.Unique("Tag")
	w.create(t, "/v1/scheduling/setup/tag_definitions", `{"name": "`+definition+`", "color": "red", "assignmentContexts": [{"qualifier": "SCHEDULE"}]}`, nil)
	first(&e.tag, schedule+"/schedule_tags", `{"employee": `+me+`, "startDateTime": "2031-06-12T08:00:00", "endDateTime": "2031-06-12T09:00:00", "segments": [{"tagDefinitionRef": {"qualifier": "`+definition+`"}}]}`)
	var locks struct{ Locks []made }
	w.create(t, schedule+"/daylocks/apply_create", `{"forEmployees": {"where": {"employeeRefs": {"ids": [`+fmt.Sprint(id)+`]}, "startDate": "2031-07-20", "endDate": "2031-07-20"}}}`, &locks)
	require.NotEmpty(t, locks.Locks)
	e.lock = locks.Locks[0].ID
	var patterns []struct {
		EmployeeSchedulePattern made `json:"employeeSchedulePattern"`
	}
	w.create(t, "/v1/scheduling/employee_schedule_patterns/apply_create", `{"employeeSchedulePatterns": {"do": {"employeeSchedulePatternCreates": [{"employeeSchedulePattern": `+ownPattern(me, "2032-01-01")+`}]}}}`, &patterns)
	require.NotEmpty(t, patterns)
	e.pattern = patterns[0].EmployeeSchedulePattern.ID
	e.propagation = w.findPropagation(t, e.pattern)
	one(&e.leaveCase, "/v1/leave/leave_cases", `{"employee": `+me+`, "category": {"qualifier": "Medical"}, "reason": {"id": 7}, "frequency": {"qualifier": "Continuous"}, "status": {"id": 1},
		"approvalStatus": {"id": 3}, "startDate": "2031-03-01", "requestDate": "2031-02-01", "frequencyEffectiveDate": "2031-03-01"}`)
	leave := fmt.Sprintf(`"leaveCase": {"id": %d}`, e.leaveCase)
	one(&e.leaveNote, "/v1/leave/leave_cases/notes", `{`+leave+`, "noteText": "theirs"}`)
	first(&e.leaveEdit, "/v1/leave/leave_edits", `{`+leave+`, "leaveEdits": [{"date": "2031-03-10", "paidSegment": {"amountInSeconds": 28800}, "trackingSegment": {"amountInSeconds": 28800}}]}`)
	e.leaveRule, e.rule = w.leaveRule(t, id, leave)
	w.submitTimeOff(t, api, &e)
	e.earning = "3f6a6c1e-6d0f-4a43-9a0e-" + fmt.Sprintf("%012d", id)
	w.create(t, "/v1/payroll/earnings_import", `{"earnings": [{"refId": "`+e.earning+`", "companyCode": "A", "empNo": "`+e.number+`", "code": "REG", "chargeDate": "2024-02-05", "hours": "7.5", "source": "WFM"}]}`, nil)
	return e, api
}

// leaveRule gives an employee a leave profile with a rule, and adds the rule to their case. It
// returns the ids of the rule of the case and of the rule.
func (w *fixture) leaveRule(t *testing.T, employee int64, leaveCase string) (ofCase, rule int64) {
	t.Helper()
	name := scenario.Unique("Rule")
	var made struct {
		ID int64 `json:"id"`
	}
	w.create(t, "/v1/leave/setup/leave_types", `{"name": "`+name+`"}`, nil)
	w.create(t, "/v1/leave/rules", `{"name": "`+name+`", "paidLeaveTypes": [{"qualifier": "`+name+`"}]}`, &made)
	rule = made.ID
	w.create(t, "/v1/leave/leave_profiles", `{"name": "`+name+`", "leaveProfileCategory": [{"qualifier": "Medical",
		"leaveProfileCategoryRule": [{"qualifier": "`+name+`"}], "leaveProfileCategoryType": [{"qualifier": "`+name+`"}]}]}`, nil)
	_, err := w.admin.Call(t.Context(), http.MethodPut, "/v1/commons/persons/leave_profile", json.RawMessage(
		`{"personIdentity": {"personKey": `+fmt.Sprint(employee)+`}, "assignmentProfile": "`+name+`"}`), nil)
	require.NoError(t, err)
	w.create(t, "/v1/leave/leave_cases/case_rules", `{`+leaveCase+`, "rule": {"qualifier": "`+name+`"}}`, &made)
	return made.ID, rule
}

// submitTimeOff submits a request for time off for the employee.
func (w *fixture) submitTimeOff(t *testing.T, api scenario.API, e *ownEntries) {
	t.Helper()
	var made struct {
		ID int64 `json:"id"`
	}
	_, err := api.Call(t.Context(), http.MethodPost, "/v1/scheduling/employee_timeoff", json.RawMessage(
		`{"requestSubType": {"id": 1}, "periods": [{"payCode": {"qualifier": "PTO"}, "symbolicAmount": {"id": -1}, "startDate": "2031-09-01", "endDate": "2031-09-01"}]}`), &made)
	require.NoError(t, err)
	e.timeOff = made.ID
}

// readRecord returns the parts of an employee's record that others see, as text.
func (w *fixture) readRecord(t *testing.T, e ownEntries) string {
	t.Helper()
	var out strings.Builder
	read := func(method, path, body string) {
		t.Helper()
		got, err := w.send(t.Context(), w.admin.Token, method, path, []byte(body))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, got.status, "%s: %s", path, got.body)
		fmt.Fprintf(&out, "%s %s\n", path, got.body)
	}
	id := fmt.Sprint(e.employee)
	read(http.MethodGet, "/v1/commons/persons/"+id, "")
	read(http.MethodPost, "/v1/scheduling/schedule/multi_read", `{"select": ["SHIFTS", "PAYCODEEDITS", "SCHEDULETAGS", "DAYLOCKS"], "where": {"employees": {"employeeRefs": {"ids": [`+id+`]}, "startDate": "2031-03-01", "endDate": "2031-09-30"}}}`)
	read(http.MethodGet, "/v1/timekeeping/timecard?employee_id="+id+"&start_date=2024-03-01&end_date=2024-03-31", "")
	read(http.MethodGet, "/v1/timekeeping/timecard_signoffs?employee_id="+id, "")
	read(http.MethodGet, fmt.Sprintf("/v1/leave/leave_cases?leave_case_id=%d", e.leaveCase), "")
	read(http.MethodGet, fmt.Sprintf("/v1/leave/leave_cases/notes?leave_case_id=%d", e.leaveCase), "")
	read(http.MethodGet, fmt.Sprintf("/v1/scheduling/timeoff/%d", e.timeOff), "")
	read(http.MethodGet, "/v1/payroll/earnings_import/"+e.earning, "")
	return out.String()
}

// findPropagation returns the propagation that applied an assignment of a pattern.
func (w *fixture) findPropagation(t *testing.T, assignment int64) int64 {
	t.Helper()
	var page struct {
		Propagations []struct {
			ID       int64
			Patterns []struct{ AssignmentID int64 }
		}
	}
	w.create(t, "/v1/scheduling/propagations/multi_read", `{"where": {"causes": ["PATTERN"]}}`, &page)
	for _, p := range page.Propagations {
		for _, pattern := range p.Patterns {
			if pattern.AssignmentID == assignment {
				return p.ID
			}
		}
	}
	require.Fail(t, "no propagation of the assignment", "%d", assignment)
	return 0
}
