package attack

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

func init() { attack("formulas in payroll exports", formulaCells) }

// formulaCells shows that no text chosen by an employee becomes a formula in the spreadsheet of a
// user who opens a payroll export.
func formulaCells(t *testing.T, w *fixture) {
	start := map[string]string{}
	var refs []int64
	for _, first := range []string{"=", "+", "-", "@"} {
		number := scenario.Unique(first + `HYPERLINK("https://evil.example")`)
		var made struct {
			PersonIdentity struct {
				PersonKey int64 `json:"personKey"`
			} `json:"personIdentity"`
		}
		_, err := w.admin.Call(t.Context(), http.MethodPost, "/v1/commons/persons", scenario.Object{"personInformation": scenario.Object{
			"person": scenario.Object{"personNumber": number, "firstName": "Eve", "lastName": "Formula", "hireDate": "2021-05-03"},
		}}, &made)
		require.NoError(t, err)
		w.create(t, "/v1/payroll/earnings_import", fmt.Sprintf(`{"earnings": [{"refId": %q, "companyCode": "A", "empNo": %q, "code": "REG", "chargeDate": "2024-03-05", "hours": "1", "source": "WFM"}]}`,
			uuid.NewString(), number), nil)
		refs, start[number] = append(refs, made.PersonIdentity.PersonKey), first
	}
	var run struct {
		RequestID    string `json:"requestId"`
		ExecutionKey string `json:"executionKey"`
	}
	ids, err := json.Marshal(refs)
	require.NoError(t, err)
	w.create(t, "/v1/commons/payroll/staging/async", fmt.Sprintf(
		`{"executionId": %q, "dateRange": {"startDateTime": "2024-03-01T00:00:00", "endDateTime": "2024-03-31T23:59:59"}, "employees": {"ids": %s}, "exportType": "Payroll"}`,
		scenario.Unique("run"), ids), &run)
	w.create(t, "/v1/commons/payroll/export/async", `{"requestId": "`+run.RequestID+`", "query": "SELECT person_num FROM $Payroll", "exportConfig": {"format": "CSV", "delimiter": ",", "fileName": "pay.csv"}}`, &run)
	var export reply
	launch.Await(t, time.Minute, "the export is written", func() bool {
		export, err = w.send(t.Context(), w.admin.Token, http.MethodGet, "/v1/commons/payroll/export/async/"+run.ExecutionKey+"/response", nil)
		require.NoError(t, err)
		return export.status == http.StatusOK
	})
	rows, err := csv.NewReader(strings.NewReader(string(export.body))).ReadAll()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		text, marked := strings.CutPrefix(row[0], "'")
		assert.True(t, marked, "%q is a formula", row[0])
		seen[text] = true
	}
	for number := range start {
		assert.True(t, seen[number], "%q is exported: %v", number, rows)
	}
	assert.Contains(t, export.header.Get("Content-Disposition"), "attachment")
}
