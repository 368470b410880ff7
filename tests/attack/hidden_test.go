package attack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

func init() { attack("hidden rows", hiddenRows) }

// hiddenRows shows that a response about a row that the caller may not see equals the response
// about a missing row, also where callers choose names.
func hiddenRows(t *testing.T, w *fixture) {
	profile := scenario.Unique("OwnRows")
	w.create(t, "/v1/auth/access_profiles", `{"name": "`+profile+`", "permissions": ["*"], "rowScope": "OWN", "ownRecordActions": ["*"]}`, nil)
	mine, user := w.entries(t, profile)
	theirs, _ := w.entries(t, "Employee")
	execution := scenario.Unique("run")
	stage := func(api scenario.API, employee int64) reply {
		t.Helper()
		got, err := w.send(t.Context(), api.Token, http.MethodPost, "/v1/commons/payroll/staging/async", fmt.Appendf(nil,
			`{"executionId": %q, "dateRange": {"startDateTime": "2024-03-01T00:00:00", "endDateTime": "2024-03-31T23:59:59"}, "employees": {"ids": [%d]}, "exportType": "Payroll"}`, execution, employee))
		require.NoError(t, err)
		return got
	}
	var run struct {
		RequestID    string `json:"requestId"`
		ExecutionKey string `json:"executionKey"`
	}
	staged := stage(w.admin, theirs.employee)
	require.Equal(t, http.StatusOK, staged.status, "%s", staged.body)
	require.NoError(t, json.Unmarshal(staged.body, &run))
	w.create(t, "/v1/commons/payroll/export/async", `{"requestId": "`+run.RequestID+`", "query": "SELECT person_num FROM $Payroll", "exportConfig": {"format": "CSV", "delimiter": ",", "fileName": "pay.csv"}}`, &run)

	// same requires the same response about a hidden row and about a missing row.
	same := func(method, path, body, hidden, unknown string) {
		t.Helper()
		ask := func(name string) reply {
			got, err := w.send(t.Context(), user.Token, method, strings.ReplaceAll(path, "{}", name), []byte(strings.ReplaceAll(body, "{}", name)))
			require.NoError(t, err)
			return got
		}
		seen, none := ask(hidden), ask(unknown)
		assert.GreaterOrEqual(t, none.status, http.StatusBadRequest, "%s", path)
		assert.Equal(t, none.status, seen.status, "%s %s: %s", method, path, seen.body)
		assert.Equal(t, strings.ReplaceAll(string(none.body), unknown, hidden), string(seen.body), "%s %s", method, path)
	}
	nobodys := uuid.NewString()
	same(http.MethodGet, "/v1/commons/payroll/staging/{}/status", "", run.RequestID, nobodys)
	same(http.MethodGet, "/v1/commons/payroll/staging/{}/details", "", run.RequestID, nobodys)
	same(http.MethodPost, "/v1/commons/payroll/export/async", `{"requestId": "{}", "query": "SELECT person_num FROM $Payroll", "exportConfig": {"format": "CSV", "fileName": "pay.csv"}}`, run.RequestID, nobodys)
	same(http.MethodGet, "/v1/commons/payroll/export/async/{}/status", "", run.ExecutionKey, nobodys)
	same(http.MethodGet, "/v1/commons/payroll/export/async/{}/response", "", run.ExecutionKey, nobodys)
	same(http.MethodGet, "/v1/payroll/earnings_import/{}", "", theirs.earning, nobodys)
	same(http.MethodDelete, "/v1/payroll/earnings_import/{}", "", theirs.earning, nobodys)
	const unknown = "4000000000"
	same(http.MethodGet, "/v1/leave/leave_cases?leave_case_id={}", "", fmt.Sprint(theirs.leaveCase), unknown)
	same(http.MethodGet, "/v1/leave/leave_cases/notes/{}", "", fmt.Sprint(theirs.leaveNote), unknown)
	same(http.MethodGet, "/v1/leave/leave_cases/case_rules/{}", "", fmt.Sprint(theirs.leaveRule), unknown)
	same(http.MethodGet, "/v1/leave/leave_edits/{}", "", fmt.Sprint(theirs.leaveEdit), unknown)
	same(http.MethodPost, "/v1/leave/leave_edits/multi_delete", fmt.Sprintf(`{"leaveCase": {"id": %d}, "leaveEditIds": [{}]}`, mine.leaveCase), fmt.Sprint(theirs.leaveEdit), unknown)
	same(http.MethodGet, "/v1/scheduling/timeoff/{}", "", fmt.Sprint(theirs.timeOff), unknown)
	same(http.MethodDelete, "/v1/scheduling/schedule/shifts/{}", "", fmt.Sprint(theirs.shift), unknown)
	same(http.MethodDelete, "/v1/scheduling/employee_schedule_patterns/{}", "", fmt.Sprint(theirs.pattern), unknown)

	list, err := w.send(t.Context(), user.Token, http.MethodGet, "/v1/commons/payroll/export/async", nil)
	require.NoError(t, err)
	assert.NotContains(t, string(list.body), run.ExecutionKey)

	t.Run("names that callers choose", func(t *testing.T) {
		again := stage(user, mine.employee)
		assert.Equal(t, http.StatusOK, again.status, "a hidden run takes no executionId away: %s", again.body)
		assert.Equal(t, http.StatusConflict, stage(user, mine.employee).status, "one's own does")
		taken := stage(w.admin, theirs.employee)
		assert.Equal(t, http.StatusConflict, taken.status, "%s", taken.body)
		earning := fmt.Sprintf(`{"earnings": [{"refId": %q, "companyCode": "A", "empNo": %q, "code": "MINE", "chargeDate": "2024-02-05", "hours": "1", "source": "WFM"}]}`, theirs.earning, mine.number)
		for _, want := range []int{http.StatusCreated, http.StatusConflict} {
			got, err := w.send(t.Context(), user.Token, http.MethodPost, "/v1/payroll/earnings_import", []byte(earning))
			require.NoError(t, err)
			assert.Equal(t, want, got.status, "%s", got.body)
		}
		got, err := w.send(t.Context(), user.Token, http.MethodGet, "/v1/payroll/earnings_import/"+theirs.earning, nil)
		require.NoError(t, err)
		assert.Contains(t, string(got.body), "MINE")
		got, err = w.send(t.Context(), w.admin.Token, http.MethodGet, "/v1/payroll/earnings_import/"+theirs.earning, nil)
		require.NoError(t, err)
		assert.Contains(t, string(got.body), "REG", "the other earning is as it was")
	})
	t.Run("files of time clocks", func(t *testing.T) {
		var device, file struct {
			ID int64 `json:"id"`
		}
		w.create(t, "/v1/timekeeping/brazil_compliance/devices", fmt.Sprintf(`{"name": %q, "type": "REP-C", "serialNumber": "71234"}`, scenario.Unique("clock")), &device)
		files := fmt.Sprintf("/v1/timekeeping/brazil_compliance/devices/%d/afd_files", device.ID)
		w.create(t, files, `{"name": "AFD.txt", "content": "`+afdFile+`"}`, &file)
		require.NotZero(t, file.ID)
		same(http.MethodGet, files+"/{}", "", fmt.Sprint(file.ID), unknown)
		got, err := w.send(t.Context(), user.Token, http.MethodPost, files, []byte(`{"name": "AFD.txt", "content": "`+afdFile+`"}`))
		require.NoError(t, err)
		assert.Equal(t, http.StatusForbidden, got.status, "%s", got.body)
		assert.NotContains(t, string(got.body), "12345678909")
	})
}

// afdFile is a base64 file of records of the device 71234, with two punches.
const afdFile = "MDAwMDAwMDAwMTExMTIyMjMzMzAwMDE4MSAgICAgICAgICAgICAgUGFkYXJpYSBT428gSm/jbyAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgMDAwMDAwMDAwMDAwNzEyMzQyMDI2LTA3LTAxMjAyNi0wNy0zMTIwMjYtMDgtMDFUMDk6MDA6MDAtMDMwMDAwMzExMkFCQzM0NTAxREUzNU1vZGVsbyAgICAgICAgICAgICAgICAgICAgICAgIDY5RUINCjAwMDAwMDA0MzMyMDI2LTA3LTAxVDA4OjAwOjAwLTAzMDAwMTIzNDU2Nzg5MDlGREI5DQowMDAwMDAwNDQzMjAyNi0wNy0wMVQxNzowMDowMC0wMzAwMDEyMzQ1Njc4OTA5Rjc0Ng0KOTk5OTk5OTk5MDAwMDAwMDAwMDAwMDAwMDAyMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwOQ0K"
